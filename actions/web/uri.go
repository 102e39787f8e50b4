package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
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

// The life of a token in the cache.
const (
	defaultTokenLife = 5 * time.Minute  // of one that does not say
	maxTokenLife     = 24 * time.Hour   // of any
	maxTokenMargin   = 60 * time.Second // before its end, at most, a token is asked for again; a tenth of its life for short ones
	maxTokens        = 4096
)

// token is what a token server has issued.
type token struct {
	text string
	life time.Duration
}

// tokenEntry is a token in the cache. At most one request for an entry is active; attempts that need the token wait for it.
type tokenEntry struct {
	mu     sync.Mutex
	text   string
	renew  time.Time // when it is requested again
	flight *flight   // the active request; nil: none
}

// flight is a request of a token. Its other fields are set when done is closed.
type flight struct {
	done      chan struct{}
	text      string
	err       error
	abandoned bool // it says nothing about the token server: the attempt that asked has ended
}

// get returns a token other than stale: the cached one, or what fetch returns.
// An error of the token server is everybody's who waited for it. The error is
// a [failure], or ctx's.
func (e *tokenEntry) get(ctx context.Context, stale string, fetch func() (token, error)) (string, error) {
	for {
		text, f, mine := e.look(stale)
		if f == nil {
			return text, nil
		}
		if mine {
			e.fly(ctx, f, fetch)
			return f.text, f.err
		}
		select {
		case <-f.done:
			if !f.abandoned {
				return f.text, f.err
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// look returns the cached token, or the flight that will bring one; mine when
// the caller has to fly it.
func (e *tokenEntry) look(stale string) (text string, f *flight, mine bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text != "" && e.text != stale && time.Now().Before(e.renew) {
		return e.text, nil, false
	}
	if e.flight == nil {
		e.flight = &flight{done: make(chan struct{}), abandoned: true}
		return "", e.flight, true
	}
	return "", e.flight, false
}

// fly asks for a token and keeps it.
func (e *tokenEntry) fly(ctx context.Context, f *flight, fetch func() (token, error)) {
	var life time.Duration
	defer func() { // also when fetch panics
		e.mu.Lock()
		defer e.mu.Unlock()
		if f.text != "" {
			e.text, e.renew = f.text, time.Now().Add(life-min(life/10, maxTokenMargin))
		}
		e.flight = nil
		close(f.done)
	}()
	t, err := fetch()
	f.text, f.err = t.text, err
	f.abandoned = err != nil && ctx.Err() != nil
	life = min(t.life, maxTokenLife)
}
