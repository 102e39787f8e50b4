package web

import (
	"net/http"
	"net/url"
	"strings"

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

	// MaxBody is how many bytes of an answer's body are read at most. A body
	// that ends within it leaves its connection reusable; a longer one is cut
	// and its connection closed, and request.success.bodyContains is looked
	// for in these bytes only. Raise it for targets that report at length
	// while they still work, as they may stop when the connection closes.
	// Default: 65536.
	MaxBody int64

	// Proxy is the HTTP or SOCKS5 proxy that all requests pass through.
	// Default: none; the environment (HTTP_PROXY, …) is never asked. It has
	// no effect beside Transport.
	Proxy *url.URL

	// Transport sends the requests. It must not follow redirects. Default:
	// one with connection pools sized for herds of jobs on one host. Tests
	// inside a synctest bubble inject one that opens no sockets.
	Transport http.RoundTripper
}

// DefaultMaxBody is the default of [Config] MaxBody, in bytes.
const DefaultMaxBody = 64 << 10

// Client runs the HTTP and HTTPS actions of all jobs of a process, which share
// its connections. It is safe for concurrent use.
type Client struct {
	transport http.RoundTripper
	agent     string
	region    string
	maxBody   int64
}

var _ scheduler.ActionReader = (*Client)(nil)

// New returns a client. It does no I/O.
func New(config Config) *Client {
	c := &Client{
		transport: config.Transport,
		agent:     "Carillon/" + config.Version,
		region:    config.Region,
		maxBody:   config.MaxBody,
	}
	if config.Version == "" {
		c.agent += "dev"
	}
	if c.maxBody <= 0 {
		c.maxBody = DefaultMaxBody
	}
	if c.transport == nil {
		c.transport = newTransport(config.Proxy)
	}
	return c
}

// The action types, in canonical spelling.
const (
	typeHTTP  = "Http"
	typeHTTPS = "Https"
)

// Types implements [scheduler.ActionReader].
func (c *Client) Types() []string { return []string{typeHTTP, typeHTTPS} }

// ReadAction implements [scheduler.ActionReader]: it reads the member request
// of o. Type Https requires an https uri; type Http takes either scheme, as
// Azure Scheduler did.
func (c *Client) ReadAction(kind string, o *document.Object) scheduler.Action {
	secure := strings.EqualFold(kind, typeHTTPS)
	if !secure && !strings.EqualFold(kind, typeHTTP) {
		return nil
	}
	r, ok := readRequest(o, secure)
	if !ok {
		return nil
	}
	return compile(c, r)
}

// CloseIdleConnections closes the connections that no request uses. A process
// calls it when its worker has stopped.
func (c *Client) CloseIdleConnections() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
