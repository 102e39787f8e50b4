package egress

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The settings of a [Route]'s transport. No limit on waiting for the answer is
// among them: the attempt's timeout is that.
const (
	DialTimeout = 10 * time.Second // for name lookup and connecting
	TLSTimeout  = 10 * time.Second // for the TLS handshake

	// idlePerHost and idleTotal are how many idle connections are kept, so
	// that a herd of jobs on one host reuses what its first wave opened.
	idlePerHost = 1024
	idleTotal   = 4096

	// idleTimeout is how long they are kept. It is shorter than the idle
	// timeout of common servers (5 s of Node.js, which Azurite runs on, and of
	// Apache; 60 s of cloud load balancers): a connection which the host
	// closes at the very moment it is reused costs a POST its attempt, and a
	// job that runs every minute would meet that regularly. A herd, and
	// every-second jobs, reuse connections well within it.
	idleTimeout = 4 * time.Second

	maxAnswerHeader = 64 << 10 // bytes of an answer's header
	tlsSessions     = 1024     // hosts whose TLS session can be resumed
)

// Route is how requests over HTTP leave this process. The zero Route goes
// straight to every address.
type Route struct {
	// Guard decides which addresses may be reached. With Proxy it is asked, by
	// [Route.Check], about what stands in URLs only: what other names lead to
	// is the proxy's to decide, and the proxy itself may be anywhere. Default:
	// all.
	Guard *Guard

	// Proxy is the HTTP or SOCKS5 proxy that all requests pass through.
	// Default: none; the environment (HTTP_PROXY, …) is never asked.
	Proxy *url.URL

	// Resolver looks up the names of hosts. Default: the system's.
	Resolver *net.Resolver
}

// Transport returns a transport with connection pools sized for herds of jobs
// on one host. config is how TLS is spoken, which the transport keeps; nil is
// the default. It speaks HTTP/1.1 unless that is changed. Before each request
// ask [Route.Check].
func (r Route) Transport(config *tls.Config) *http.Transport {
	config = cmp.Or(config, &tls.Config{})
	config.MinVersion = cmp.Or(config.MinVersion, tls.VersionTLS12)
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(tlsSessions)
	}
	guard := r.Guard
	t := &http.Transport{
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    TLSTimeout,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxAnswerHeader,
		DisableCompression:     true, // bodies are recorded as they are, and cost no CPU to unpack
	}
	if r.Proxy != nil { // it is the proxy that is dialled
		t.Proxy, guard = http.ProxyURL(r.Proxy), nil
	}
	dialer := guard.Dialer(DialTimeout)
	dialer.Resolver = r.Resolver
	t.DialContext = guard.DialContext(dialer)
	return t
}

// Check returns nil when u may be asked for, else a [RefusedError]. Without a
// proxy every address is checked when it is dialled, and everything passes
// here. A proxy is not asked for addresses that jobs must not reach, for names
// that mean one everywhere, and for what only some resolvers take for an
// address (see [OddHost]).
func (r Route) Check(u *url.URL) error {
	if r.Proxy == nil || r.Guard == nil {
		return nil
	}
	host := u.Hostname()
	port, _ := strconv.ParseUint(Port(u), 10, 16)
	addr, err := netip.ParseAddr(host)
	if err == nil {
		return r.Guard.CheckAddrPort(netip.AddrPortFrom(addr, uint16(port)))
	}
	if OddHost(host) {
		return &RefusedError{name: strings.ToLower(host)}
	}
	return r.Guard.checkName(host, uint16(port))
}

// Port is the port of a URL of HTTP, also where it goes without saying.
func Port(u *url.URL) string {
	if u.Scheme == "https" {
		return cmp.Or(u.Port(), "443")
	}
	return cmp.Or(u.Port(), "80")
}

// OddHost reports whether a host is neither an address nor a name, but what
// some resolvers take for an IPv4 address, such as 127.1 or 0x7f000001: its
// last part is a number (WHATWG URL, "ends in a number").
func OddHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := strings.TrimSuffix(strings.ToLower(host), ".")
	last = last[strings.LastIndexByte(last, '.')+1:]
	digits, hexadecimal := strings.CutPrefix(last, "0x")
	return strings.Trim(last, "0123456789") == "" || hexadecimal && strings.Trim(digits, "0123456789abcdef") == ""
}
