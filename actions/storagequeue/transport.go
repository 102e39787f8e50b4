package storagequeue

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
)

// The settings of the transport that is used when Config gives none. No limit on waiting for the answer is among them: the
// attempt's timeout is that.
const (
	dialTimeout = 10 * time.Second // for name lookup and connecting
	tlsTimeout  = 10 * time.Second // for the TLS handshake

	// idlePerHost and idleTotal are how many idle connections are kept, so that a herd of jobs on one account reuses what
	// its first wave opened.
	idlePerHost = 1024
	idleTotal   = 4096

	// idleTimeout is how long they are kept. It is shorter than the shortest idle timeout of a known server, the 5 s of
	// Azurite: a connection which the server closes at the very moment it is reused costs its attempt.
	idleTimeout = 4 * time.Second

	maxAnswerHeader = 64 << 10 // bytes of an answer's header
	maxAnswer       = 64 << 10 // bytes of an answer's body that are read; the service's have less than 1 KiB
	tlsSessions     = 1024     // accounts whose TLS session can be resumed
)

// transport is what the SDK sends requests by. It follows no redirect and bounds the answer.
type transport struct {
	http.RoundTripper

	check *egress.Guard // of the addresses in URLs; nil: dialling checks
}

// newTransport returns the transport for a Config without one. The environment is never asked for a proxy. It speaks
// HTTP/1.1 alone, as the service does.
func newTransport(guard *egress.Guard, proxy *url.URL) transport {
	var check *egress.Guard
	if proxy != nil {
		guard, check = nil, guard
	}
	t := &http.Transport{
		DialContext: guard.DialContext(guard.Dialer(dialTimeout)),
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions),
		},
		TLSHandshakeTimeout:    tlsTimeout,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxAnswerHeader,
		DisableCompression:     true,
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	return transport{t, check}
}

// Do implements the SDK's Transporter. The SDK reads the body of every answer to its end, before the request's context is
// looked at again.
func (t transport) Do(req *http.Request) (*http.Response, error) {
	if err := t.checkURL(req.URL); err != nil {
		return nil, err
	}
	resp, err := t.RoundTrip(req)
	switch {
	case err != nil || resp.Body == nil:
	case resp.StatusCode == http.StatusSwitchingProtocols: // not asked for, not a body, and not under the context's control
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	default:
		resp.Body = bounded{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// checkURL refuses what a proxy must not be asked for.
func (t transport) checkURL(u *url.URL) error {
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil || t.check == nil {
		return nil //nolint:nilerr // a name, which is the proxy's to look up
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	return t.check.CheckAddrPort(netip.AddrPortFrom(addr, uint16(n)))
}

// bounded is the beginning of a body.
type bounded struct {
	io.Reader
	io.Closer
}

func (t transport) closeIdle() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
