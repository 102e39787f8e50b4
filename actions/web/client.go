package web

import (
	"cmp"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Config is how the HTTP and HTTPS actions of a process reach their targets.
// The zero value is usable.
type Config struct {
	// Version is what follows the slash in "User-Agent: Carillon/<version>".
	// Default: dev.
	Version string

	// Region is sent as x-ms-scheduler-execution-region. Default: none, and
	// the header is left out.
	Region string

	// MaxBody is how many bytes the body of an answer may have. An attempt
	// whose answer is longer fails, and its connection is closed. Bodies are
	// not kept in memory, but for an excerpt. Default: 16 MiB.
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
	region    []string
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
		region:    []string{config.Region},
		login:     cmp.Or(config.LoginEndpoint, loginEndpoint),
		tokens:    lru.New[lru.Key, *tokenEntry](maxTokens, nil),
		certified: lru.New[lru.Key](maxCertified, transport.CloseIdleConnections),
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

// member is the member of an action that holds what belongs to either type.
const member = "request"

// Types implements [scheduler.ActionReader].
func (c *Client) Types() []string { return []string{typeHTTP, typeHTTPS} }

// Member returns the member of an action that holds what belongs to a type.
func (*Client) Member(string) string { return member }

// ReadAction implements [scheduler.ActionReader]: it reads the member request
// of o. Type Https requires an https uri; type Http takes either scheme, as
// Azure Scheduler did.
func (c *Client) ReadAction(kind string, o *document.Object) scheduler.Action {
	secure := strings.EqualFold(kind, typeHTTPS)
	if !secure && !strings.EqualFold(kind, typeHTTP) {
		return nil
	}
	a := &action{}
	if !a.read(c, o, secure) {
		return nil
	}
	a.compile(c)
	return a
}

// Close closes the connections that no request uses. A process
// calls it when its worker has stopped.
func (c *Client) Close() {
	(&http.Client{Transport: c.transport}).CloseIdleConnections()
	c.certified.Each(transport.CloseIdleConnections)
}
