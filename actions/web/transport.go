package web

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// The settings of the transport that is used when Config gives none. No limit
// on waiting for the answer is among them: the attempt's timeout is that.
const (
	dialTimeout = 10 * time.Second // for name lookup and connecting
	tlsTimeout  = 10 * time.Second // for the TLS handshake

	// idlePerHost and idleTotal are how many idle connections are kept, so
	// that a herd of jobs on one host reuses what its first wave opened.
	idlePerHost = 1024
	idleTotal   = 4096

	// idleTimeout is how long they are kept. It is shorter than the idle
	// timeout of common servers (5 s of Node.js and Apache, 60 s of cloud
	// load balancers): a connection which the host closes at the very moment
	// it is reused costs a POST its attempt, and a job that runs every minute
	// would meet that regularly. A herd, and every-second jobs, reuse
	// connections well within it.
	idleTimeout = 4 * time.Second

	maxAnswerHeader = 64 << 10 // bytes of an answer's header
	tlsSessions     = 1024     // hosts whose TLS session can be resumed
)

// ownTransport is an [http.Transport] that repeats no request which may have
// reached the host: see the first guarantee of the package.
type ownTransport struct {
	*http.Transport
}

// newTransport returns the transport for a Config without one. proxy may be
// nil; the environment is never asked.
func newTransport(proxy *url.URL) ownTransport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions)},
		TLSHandshakeTimeout:    tlsTimeout,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxAnswerHeader,
		DisableCompression:     true, // bodies are recorded as they are, and cost no CPU to unpack
		ForceAttemptHTTP2:      true,
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	return ownTransport{t}
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
