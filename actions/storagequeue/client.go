package storagequeue

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Config is how the storage queue actions of a process reach their accounts. The zero value is usable.
type Config struct {
	// Endpoints says where accounts are, by name: http(s)://host[:port][/account]. A job that gives an endpoint itself is
	// not looked up, unless that is Azure's own. Default: every account is at https://<account>.queue.core.windows.net.
	Endpoints egress.Endpoints

	// Region is what the envelope azureScheduler tells as the region. Default: none.
	Region string

	// Guard decides which addresses may be reached. With Proxy it is asked about the addresses that stand in endpoints only:
	// what a name leads to is the proxy's to decide, and the proxy itself may be anywhere. It has no effect beside Transport.
	// Default: all.
	Guard *egress.Guard

	// Proxy is the HTTP or SOCKS5 proxy that all requests pass through. It has no effect beside Transport. Default: none;
	// the environment (HTTP_PROXY, …) is never asked.
	Proxy *url.URL

	// Transport sends the requests. It must not follow redirects. Default: one with connection pools sized for herds of
	// jobs on one account. Tests inside a synctest bubble inject one that opens no sockets.
	Transport http.RoundTripper
}

// Client runs the storage queue actions of all jobs of a process, which share its connections. It is safe for concurrent
// use.
type Client struct {
	endpoints egress.Endpoints
	region    string
	transport transport
	queues    *lru.Cache[access, *queue]
}

// New returns a client. It does no I/O.
func New(config Config) *Client {
	c := &Client{
		endpoints: config.Endpoints, region: config.Region, transport: transport{RoundTripper: config.Transport},
		queues: lru.New[access, *queue](maxQueues, nil),
	}
	if config.Transport == nil {
		c.transport = newTransport(egress.Route{Guard: config.Guard, Proxy: config.Proxy})
	}
	return c
}

// typeQueue is the action type, in canonical spelling, and member the member
// that holds what belongs to it.
const (
	typeQueue = "StorageQueue"
	member    = "queueMessage"
)

// Types implements [scheduler.ActionReader].
func (c *Client) Types() []string { return []string{typeQueue} }

// Member returns the member of an action that holds what belongs to a type.
func (*Client) Member(string) string { return member }

// ReadAction implements [scheduler.ActionReader]: it reads the member queueMessage of o.
func (c *Client) ReadAction(kind string, o *document.Object) scheduler.Action {
	if !strings.EqualFold(kind, typeQueue) {
		return nil
	}
	p, ok := c.readPost(o)
	if !ok {
		return nil
	}
	return &action{post: p, client: c}
}

// Close closes the connections that no request uses. A process calls it when its worker has stopped.
func (c *Client) Close() { (&http.Client{Transport: c.transport.RoundTripper}).CloseIdleConnections() }
