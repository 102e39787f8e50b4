package egress

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The settings of a [Route]'s transport. No limit on waiting for the answer is
// among them: the attempt's timeout is that.
const (
	DialTimeout = 10 * time.Second // for name lookup and connecting
	TLSTimeout  = 10 * time.Second // for the TLS handshake

	// idlePerHost and idleTotal limit the idle connections, which are kept so that a herd of jobs on one host reuses
	// what its first wave opened.
	idlePerHost = 1024
	idleTotal   = 4096

	// idleTimeout limits their idle time. It is shorter than the idle timeout of common servers (5 s of Node.js,
	// which Azurite runs on, and of Apache; 60 s of cloud load balancers): a connection which the host closes at the
	// very moment it is reused costs a POST its attempt, and a job that runs every minute would meet that regularly.
	// A herd, and every-second jobs, reuse connections well within it.
	idleTimeout = 4 * time.Second

	maxAnswerHeader = 64 << 10 // bytes of an answer's header
	tlsSessions     = 1024     // hosts whose TLS session can be resumed
)

// Route is how requests over HTTP leave this process. The zero Route goes
// straight to every address.
type Route struct {
	// Guard decides which addresses jobs may reach. With Proxy, [Route.Admit] checks only addresses in URLs: the
	// proxy resolves names and decides about them, and may itself have any address. Default: all addresses are
	// allowed.
	Guard *Guard

	// Proxy is the HTTP or SOCKS5 proxy that all requests pass through. Default: none; the environment (HTTP_PROXY,
	// …) is ignored.
	Proxy *url.URL

	// Resolver looks up the names of hosts. Default: the system's.
	Resolver *net.Resolver
}

// Transport returns a transport with connection pools sized for herds of jobs on one host. config is the TLS
// configuration, which the transport retains; nil: the default. It speaks HTTP/1.1 unless that is changed. Before
// each request ask [Route.Admit].
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
		DisableCompression:     true, // bodies are recorded unchanged, without decompression
	}
	if r.Proxy != nil { // it is the proxy that is dialled
		t.Proxy, guard = http.ProxyURL(r.Proxy), nil
	}
	dialer := guard.Dialer(DialTimeout)
	dialer.Resolver = r.Resolver
	t.DialContext = guard.DialContext(dialer)
	return t
}

// Admit returns req ready to send, or a [RefusedError].
//
// It maps the name by IDNA for both the request and the lookup, because net/http encodes names in requests without
// mapping them. Requests to a plain HTTP proxy name the host of the URL; net/http would send the Host header. Some
// proxies obey that header anyway, so Admit checks both.
func (r Route) Admit(req *http.Request) (*http.Request, error) {
	if err := r.Check(req.URL); err != nil {
		return nil, err
	}
	name, mapped := req.URL.Hostname(), !isASCII(req.URL.Host)
	if mapped {
		var err error
		if name, err = wireHost(name); err != nil {
			return nil, err
		}
	}
	differs := req.Host != "" && req.Host != req.URL.Host && r.forwards(req.URL)
	if differs {
		if err := r.Check(&url.URL{Scheme: req.URL.Scheme, Host: req.Host}); err != nil {
			return nil, err
		}
	}
	if !mapped && !differs {
		return req, nil
	}
	sent, u := *req, *req.URL
	sent.URL = &u
	if mapped {
		u.Host = withPort(name, u.Port())
	}
	if differs {
		name, _, _ = strings.Cut(name, "%")                                       // a zone has a meaning only on this machine
		u.Opaque = "//" + withPort(name, u.Port()) + cmp.Or(u.EscapedPath(), "/") // an absolute request target (RFC 9112, section 3.2.2)
	}
	return &sent, nil
}

// withPort returns host or, when there is a port, host:port.
func withPort(host, port string) string {
	if port == "" && !strings.Contains(host, ":") {
		return host
	}
	return strings.TrimSuffix(net.JoinHostPort(host, port), ":")
}

// forwards reports whether the proxy reads the request for u, instead of making
// a connection for it.
func (r Route) forwards(u *url.URL) bool {
	return r.Proxy != nil && u.Scheme == "http" && strings.HasPrefix(r.Proxy.Scheme, "http")
}

// Check returns nil if u may be requested, and a [RefusedError] otherwise. Without a proxy it accepts
// everything, because the dialer checks each address. With a proxy it refuses forbidden addresses, names that
// resolve to one everywhere, and hosts that are neither a name nor an address in its usual form. It checks the
// mapped name, because a name in Unicode may be an address (see [wireHost]).
func (r Route) Check(u *url.URL) error {
	if r.Proxy == nil || r.Guard == nil {
		return nil
	}
	host, err := wireHost(u.Hostname())
	if err != nil {
		return err
	}
	port, _ := strconv.ParseUint(port(u), 10, 16)
	if addr, err := netip.ParseAddr(host); err == nil {
		return r.Guard.CheckAddrPort(netip.AddrPortFrom(addr, uint16(port)))
	}
	return r.Guard.checkName(host, uint16(port))
}

// Address returns host:port of an HTTP URL, with the default port if the URL has none.
func Address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), port(u))
}

func port(u *url.URL) string {
	if u.Scheme == "https" {
		return cmp.Or(u.Port(), "443")
	}
	return cmp.Or(u.Port(), "80")
}

// MaxRetryAfter is the longest wait that a response can request. The retry policy has separate limits.
const MaxRetryAfter = 24 * time.Hour

// retryAfters are the headers with which a service requests a pause, and their unit. The first two are Azure's.
var retryAfters = []struct {
	name string
	unit time.Duration
}{
	{"X-Ms-Retry-After-Ms", time.Millisecond},
	{"Retry-After-Ms", time.Millisecond},
	{"Retry-After", time.Second},
}

// RetryAfter returns the pause that a response with these headers requests, at most [MaxRetryAfter]; 0: none.
// Retry-After is seconds or a date (RFC 9110, section 10.2.3).
func RetryAfter(h http.Header) time.Duration {
	for _, header := range retryAfters {
		value := h.Get(header.name)
		n, err := strconv.ParseUint(value, 10, 64)
		if err == nil && n > 0 || errors.Is(err, strconv.ErrRange) {
			return time.Duration(min(n, uint64(MaxRetryAfter/header.unit))) * header.unit
		}
		if at, err := http.ParseTime(value); err == nil && header.unit == time.Second {
			return min(max(0, time.Until(at)), MaxRetryAfter)
		}
	}
	return 0
}

// Endpoints maps names in jobs, such as Service Bus namespaces and storage accounts, to endpoints. The zero
// value maps none: every name has the endpoint that its service defines.
type Endpoints struct {
	// ByName holds the endpoints of single names, in any letter case.
	ByName map[string]string

	// Default is the endpoint of all other names; {name} in it is replaced by the name. Default: none.
	Default string
}

// Find returns the endpoint of a name, or "".
func (e Endpoints) Find(name string) string {
	found := e.Default
	for n, other := range e.ByName {
		if strings.EqualFold(n, name) {
			found = other
		}
	}
	if exact, ok := e.ByName[name]; ok {
		found = exact
	}
	return strings.ReplaceAll(found, "{name}", name)
}

// quoted matches the parts of the URL that an error of [url.Parse] quotes.
var quoted = regexp.MustCompile(` ?"(?:[^"\\]|\\.)*"`)

// ParseURL parses a URL of a job. Its error quotes no part of the URL, because a misplaced password could be in
// it: [url.Parse] reads http://admin:password/x@host/ as a host with a port.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil {
		return u, nil
	}
	if parse, ok := errors.AsType[*url.Error](err); ok {
		err = parse.Err
	}
	return nil, errors.New(quoted.ReplaceAllString(err.Error(), ""))
}
