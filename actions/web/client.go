package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unique"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Config is how the HTTP and HTTPS actions of a process reach their targets.
// The zero value is usable.
type Config struct {
	// Version follows the slash in "User-Agent: Carillon/<version>". Default: dev.
	Version string

	// Region is sent as x-ms-scheduler-execution-region. Default: none, and the header is omitted.
	Region string

	// MaxBody limits the bytes of a response body. An attempt whose answer is longer fails, and its connection is
	// closed. Only an excerpt of a body is held in memory. Default: 16 MiB.
	MaxBody int64

	// Guard decides which addresses requests, redirects and token requests may reach. With Proxy it checks only
	// addresses in URIs: the proxy resolves names and decides about them, and may itself have any address. Ignored
	// with Transport. Default: all addresses are allowed.
	Guard *egress.Guard

	// Proxy is the HTTP or SOCKS5 proxy of all requests. Ignored with Transport. Default: none; the environment
	// (HTTP_PROXY, …) is not read.
	Proxy *url.URL

	// Resolver resolves host names. Ignored with Transport. Default: the system's resolver.
	Resolver *net.Resolver

	// RootCAs are the trusted authorities. Ignored with Transport. Default: the system's.
	RootCAs *x509.CertPool

	// LoginEndpoint is the token authority of ActiveDirectoryOAuth: tokens come from
	// <LoginEndpoint>/<tenant>/oauth2/token. Set it for a national cloud or an emulator. Default:
	// https://login.microsoftonline.com.
	LoginEndpoint *url.URL

	// Transport sends the requests. It must not follow redirects, and attempts with a client certificate fail with
	// it. Default: a transport with connection pools for herds of jobs on one host. Tests in a synctest bubble set
	// one that opens no sockets.
	Transport http.RoundTripper
}

// DefaultMaxBody is the default of [Config] MaxBody, in bytes.
const DefaultMaxBody = 16 << 20

// Client runs the HTTP and HTTPS actions of all jobs of a process, which share
// its connections. It is safe for concurrent use.
type Client struct {
	config    Config
	transport http.RoundTripper
	agent     []string // header values, which all actions share
	region    []string // nil: none
	login     *url.URL
	tokens    *lru.Cache[lru.Key, *tokenEntry]
	// certified caches the transports with a client certificate, by a digest of its source. Jobs with the same
	// certificate share connections; different certificates never do. Requests of an evicted transport finish
	// normally.
	certified *lru.Cache[lru.Key, transport]
}

// New returns a client. It does no I/O.
func New(config Config) *Client {
	c := &Client{
		config:    config,
		transport: config.Transport,
		agent:     []string{"Carillon/" + cmp.Or(config.Version, "dev")},
		login:     cmp.Or(config.LoginEndpoint, loginEndpoint),
		tokens:    lru.New[lru.Key, *tokenEntry](maxTokens, nil),
		certified: lru.New[lru.Key](maxCertified, transport.CloseIdleConnections),
	}
	if config.Region != "" {
		c.region = []string{config.Region}
	}
	if config.Transport != nil {
		c.config.Proxy = nil
	}
	if c.config.MaxBody <= 0 {
		c.config.MaxBody = DefaultMaxBody
	}
	if c.transport == nil {
		c.transport = newTransport(&c.config, nil)
	}
	return c
}

// The action types, in canonical spelling.
const (
	typeHTTP  = "Http"
	typeHTTPS = "Https"
)

// member is the field of an action that holds the settings of either type.
const member = "request"

// Types implements [scheduler.ActionReader].
func (c *Client) Types() []string { return []string{typeHTTP, typeHTTPS} }

// Member returns the field of an action that holds the settings of a type.
func (*Client) Member(string) string { return member }

// ReadAction implements [scheduler.ActionReader]: it reads the member request
// of o. Type Https requires an https uri; type Http takes either scheme, as
// Azure Scheduler did.
func (c *Client) ReadAction(kind string, o *document.Object) scheduler.Action {
	secure := strings.EqualFold(kind, typeHTTPS)
	if !secure && !strings.EqualFold(kind, typeHTTP) {
		return nil
	}
	a := &action{client: c}
	if !a.read(c, o, secure) {
		return nil
	}
	if a.typed = a.gives(headerContentType); !a.typed {
		a.contentType = contentTypeOf(a.body.Text())
	}
	a.target = unique.Make(hostPort(&a.uri)) // which most jobs share
	return a
}

// Close closes the connections that no request uses. A process
// calls it when its worker has stopped.
func (c *Client) Close() {
	(&http.Client{Transport: c.transport}).CloseIdleConnections()
	c.certified.Each(transport.CloseIdleConnections)
}

// certifiedSessions limits the hosts whose TLS sessions can be resumed with one client certificate.
const certifiedSessions = 16

// ownTransport is an [http.Transport] that repeats no request which may have
// reached the host: see the first guarantee of the package.
type ownTransport struct {
	transport
}

// newTransport returns the transport for a Config without one, with a client
// certificate if own is one.
func newTransport(c *Config, own *tls.Certificate) ownTransport {
	config := &tls.Config{RootCAs: c.RootCAs} // the transport sets the least version
	if own != nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(certifiedSessions)
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return own, nil // from any issuer: the host accepts it or not
		}
	}
	t := c.route().Transport(config)
	t.ForceAttemptHTTP2 = true
	return ownTransport{newDirect(t)}
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
	return t.transport.RoundTrip(req)
}

func lowerHeader(h http.Header, canonical, lower string) {
	if values, ok := h[canonical]; ok {
		delete(h, canonical)
		h[lower] = values
	}
}

// redirect returns the request that follows the redirect resp, or nil if resp is the final response. refused is the
// reason for not following a redirect.
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
	next := newRequest(ctx, last.Method, u, "")
	if hostPort(u) == hostPort(last.URL) {
		next.Host = last.Host
	}
	next.Header = maps.Clone(last.Header)
	if !sameSite(last.URL, u) {
		for _, name := range x.credentials() {
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

// sameSite reports whether to may receive credentials that were given for from: it has the same host and port, or is the same
// host after a move from http to https.
func sameSite(from, to *url.URL) bool {
	if from.Scheme == to.Scheme {
		return hostPort(from) == hostPort(to)
	}
	host, plain := strings.CutSuffix(hostPort(from), ":80")
	return plain && to.Scheme == "https" && hostPort(to) == host+":443"
}
