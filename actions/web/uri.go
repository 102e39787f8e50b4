package web

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/egress"
)

// parseURI reads request.uri: absolute, http or https, with a host and without
// a user. secure asks for https.
func parseURI(text string, secure bool) (*url.URL, error) {
	if n := utf8.RuneCountInString(text); n > maxURI {
		return nil, fmt.Errorf("is %d characters long, at most %d are allowed", n, maxURI)
	}
	if strings.ContainsFunc(text, isBlank) {
		return nil, errors.New("must not contain spaces or control characters; a space is written %20")
	}
	u, err := egress.ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("is not a URI: %w", err)
	}
	if err := checkURI(u); err != nil {
		return nil, err
	}
	if secure && u.Scheme != "https" {
		return nil, fmt.Errorf("must begin with https:// for the action type %s", typeHTTPS)
	}
	return u, nil
}

// isBlank reports whether c would break a request line.
func isBlank(c rune) bool { return c <= ' ' || c == 0x7f }

// checkURI checks that u can be asked; redirects are held to it too. The error
// shows nothing of it.
func checkURI(u *url.URL) error {
	switch {
	case !u.IsAbs():
		return errors.New("must be absolute, such as https://example.com/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must begin with http:// or https://")
	case u.Hostname() == "":
		return errors.New("has no host")
	case u.User != nil:
		return errors.New("must not hold a user name or password; use an Authorization header")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return errors.New("has a port that is not in 1-65535")
		}
	}
	return nil
}

// site returns scheme://host in lower case, with the port unless it goes without
// saying.
func site(u *url.URL) string {
	host := hostPort(u)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(host, port) {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
}

// hostPort returns host:port in lower case, with the port made explicit.
func hostPort(u *url.URL) string {
	return net.JoinHostPort(strings.ToLower(u.Hostname()), egress.Port(u))
}
