package web

import (
	"crypto/tls"
	"net/http"

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
			return own, nil // whoever issued it: the host knows best what it takes
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
