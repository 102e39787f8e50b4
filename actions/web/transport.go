package web

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/carillon-sched/carillon/actions/egress"
)

// certifiedSessions is how many hosts' TLS sessions can be resumed with one
// client certificate.
const certifiedSessions = 16

// ownTransport is an [http.Transport] that repeats no request which may have
// reached the host: see the first guarantee of the package.
type ownTransport struct {
	*http.Transport
}

// newTransport returns the transport for a Config without one, with a client
// certificate if own is one.
func newTransport(c *Config, own *tls.Certificate) ownTransport {
	config := &tls.Config{RootCAs: c.RootCAs} // the transport sets the least version
	if own != nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(certifiedSessions)
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return own, nil // from any issuer: the host decides what it accepts
		}
	}
	t := c.route().Transport(config)
	t.ForceAttemptHTTP2 = true
	return ownTransport{t}
}

// route is how requests leave.
func (c *Config) route() egress.Route {
	return egress.Route{Guard: c.Guard, Proxy: c.Proxy, Resolver: c.Resolver}
}

// roundTrip sends req by t.
func (c *Client) roundTrip(t http.RoundTripper, req *http.Request) (*http.Response, error) {
	admitted, err := c.config.route().Admit(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return t.RoundTrip(admitted)
}

// RoundTrip implements [http.RoundTripper]. net/http takes a request with an
// Idempotency-Key for repeatable and sends it again, unrecorded, when a reused
// connection breaks before the answer. It knows the header by its canonical
// spelling only; so it goes out in lower case, which is the same to the host.
func (t ownTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	lowerHeader(req.Header, headerKey, "idempotency-key")
	lowerHeader(req.Header, "X-Idempotency-Key", "x-idempotency-key")
	return t.Transport.RoundTrip(req)
}

func lowerHeader(h http.Header, canonical, lower string) {
	if values, ok := h[canonical]; ok {
		delete(h, canonical)
		h[lower] = values
	}
}

// redirect returns the request that follows the answer resp to the last one,
// or nil when resp is the final answer. refused says why a redirect that
// should have been followed was not.
func (x *exchange) redirect(ctx context.Context, resp *http.Response) (next *http.Request, refused string) {
	toGet, ok := redirecting(x.sent.Method, resp.StatusCode)
	location := resp.Header.Get("Location")
	if !ok || location == "" || x.redirects == 0 {
		return nil, ""
	}
	if x.followed == x.redirects {
		return nil, fmt.Sprintf("more than %d redirects were asked for", x.redirects)
	}
	u, err := x.sent.URL.Parse(location)
	if err != nil {
		return nil, "its Location is not a URI"
	}
	if err := checkURI(u); err != nil {
		return nil, "its Location " + err.Error()
	}
	u.RawQuery = strings.ReplaceAll(u.RawQuery, " ", "%20") // as browsers do
	x.followed++
	x.asGet = x.asGet || toGet
	return x.follow(ctx, u, toGet), ""
}

// redirecting reports whether status redirects a request of that method, and
// whether that makes it a GET (RFC 9110, section 15.4).
func redirecting(method string, status int) (toGet, ok bool) {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound:
		return method == http.MethodPost, true
	case http.StatusSeeOther:
		return method != http.MethodGet && method != http.MethodHead, true
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return false, true
	}
	return false, false
}

// follow returns the last request, turned to u.
func (x *exchange) follow(ctx context.Context, u *url.URL, toGet bool) *http.Request {
	last := x.sent
	next := x.template.WithContext(ctx)
	next.Method = last.Method
	next.URL = u
	next.Host = ""
	if hostPort(u) == hostPort(last.URL) {
		next.Host = last.Host
	}
	next.Header = maps.Clone(last.Header)
	if !sameSite(last.URL, u) {
		for _, name := range x.credentials {
			delete(next.Header, name)
		}
		x.transport, x.keys, x.token = x.client.transport, nil, ""
	}
	if toGet {
		if x.keys != nil {
			sign(next.Header, x.attempt, x.start, "", x.keys)
		}
		next.Method = http.MethodGet
		for _, name := range []string{headerContentType, "Content-Encoding", "Content-Language", "Content-Location"} {
			delete(next.Header, name)
		}
	} else if last.Body != nil {
		x.setBody(next)
	}
	return next
}

// sameSite reports whether to may receive what was given for from: it has the same host and port, or is the same
// host after a move from http to https.
func sameSite(from, to *url.URL) bool {
	if from.Scheme == to.Scheme {
		return hostPort(from) == hostPort(to)
	}
	host, plain := strings.CutSuffix(hostPort(from), ":80")
	return plain && to.Scheme == "https" && hostPort(to) == host+":443"
}
