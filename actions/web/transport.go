package web

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
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

	certifiedSessions = 16 // the same, for each client certificate
)

// ownTransport is an [http.Transport] that repeats no request which may have
// reached the host: see the first guarantee of the package.
type ownTransport struct {
	*http.Transport
}

// newTransport returns the transport for a Config without one, with a client
// certificate if own is one. For a proxy the environment is never asked.
func newTransport(c *Config, own *tls.Certificate) ownTransport {
	t := &http.Transport{
		DialContext:            dial(c),
		TLSClientConfig:        &tls.Config{RootCAs: c.RootCAs, ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions)},
		TLSHandshakeTimeout:    tlsTimeout,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxAnswerHeader,
		DisableCompression:     true, // bodies are recorded as they are, and cost no CPU to unpack
		ForceAttemptHTTP2:      true,
	}
	if c.Proxy != nil {
		t.Proxy = http.ProxyURL(c.Proxy)
	}
	if own != nil {
		t.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(certifiedSessions)
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return own, nil // whoever issued it: the host knows best what it takes
		}
	}
	return ownTransport{t}
}

// dial returns how connections are made. With a proxy it is the one that is
// dialled; see [Client.check].
func dial(c *Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	guard := c.Guard
	if c.Proxy != nil {
		guard = nil
	}
	dialer := guard.Dialer(dialTimeout)
	dialer.Resolver = c.Resolver
	return guard.DialContext(dialer)
}

// roundTrip sends req by t.
func (c *Client) roundTrip(t http.RoundTripper, req *http.Request) (*http.Response, error) {
	if err := c.check(req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return t.RoundTrip(req)
}

// check refuses what a proxy must not be asked for: addresses that jobs must
// not reach. Without a proxy each address is checked when it is dialled.
func (c *Client) check(u *url.URL) error {
	if c.config.Proxy == nil || c.config.Guard == nil {
		return nil
	}
	host, port, _ := net.SplitHostPort(hostPort(u))
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return checkName(host)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	return c.config.Guard.CheckAddrPort(netip.AddrPortFrom(addr, uint16(n)))
}

// checkName refuses a name that some resolvers take for an IPv4 address, such
// as 127.1 or 0x7f000001: its last part is a number (WHATWG URL, "ends in a
// number").
func checkName(host string) error {
	last := strings.TrimSuffix(host, ".")
	last = last[strings.LastIndexByte(last, '.')+1:]
	digits, hexadecimal := strings.CutPrefix(last, "0x")
	if last != "" && strings.Trim(last, "0123456789") == "" || hexadecimal && strings.Trim(digits, "0123456789abcdef") == "" {
		return &failure{why: fmt.Sprintf("%q is neither a name nor an address in its usual form", host), final: true}
	}
	return nil
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
