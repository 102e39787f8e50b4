package storagequeue

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Config is how the storage queue actions of a process reach their accounts. The zero value is usable.
type Config struct {
	// Endpoints maps accounts to their addresses, by name: http(s)://host[:port][/account]. A job that gives an
	// endpoint itself is not looked up, unless that is Azure's own. Default: every account is at
	// https://<account>.queue.core.windows.net.
	Endpoints egress.Endpoints

	// Region is the region in the envelope azureScheduler. Default: none.
	Region string

	// Guard decides which addresses jobs may reach. With Proxy it checks only addresses in endpoints: the proxy
	// resolves names and decides about them, and may itself have any address. Ignored with Transport. Default: all
	// addresses are allowed.
	Guard *egress.Guard

	// Proxy is the HTTP or SOCKS5 proxy of all requests. Ignored with Transport. Default: none; the environment
	// (HTTP_PROXY, …) is not read.
	Proxy *url.URL

	// Transport sends the requests. It must not follow redirects. Default: a transport with connection pools for
	// herds of jobs on one account. Tests in a synctest bubble set one that opens no sockets.
	Transport http.RoundTripper
}

// Client runs the storage queue actions of all jobs of a process, which share its connections. It is safe for concurrent
// use.
type Client struct {
	endpoints egress.Endpoints
	region    string
	transport egress.Transporter
	queues    *lru.Cache[access, *queue]
}

// New returns a client. It does no I/O.
func New(config Config) *Client {
	c := &Client{
		endpoints: config.Endpoints, region: config.Region, transport: egress.Transporter{RoundTripper: config.Transport},
		queues: lru.New[access, *queue](maxQueues, nil),
	}
	if config.Transport == nil {
		c.transport = egress.Route{Guard: config.Guard, Proxy: config.Proxy}.Transporter(nil)
	}
	return c
}

// typeQueue is the action type, in canonical spelling, and member the field with its settings.
const (
	typeQueue = "StorageQueue"
	member    = "queueMessage"
)

// Types implements [scheduler.ActionReader].
func (c *Client) Types() []string { return []string{typeQueue} }

// Member returns the field of an action that holds the settings of a type.
func (*Client) Member(string) string { return member }

// ReadAction implements [scheduler.ActionReader]: it reads the member queueMessage of o.
func (c *Client) ReadAction(kind string, o *document.Object) scheduler.Action {
	if !strings.EqualFold(kind, typeQueue) {
		return nil
	}
	a := &action{client: c}
	ok := payload.ReadMember(o, member, func(inner *document.Object) {
		a.readTarget(inner)
		a.readToken(inner)
		a.readContent(o, inner)
		a.readTimes(inner)
	})
	if !ok {
		return nil
	}
	return a
}

// Close closes the connections that no request uses. A process calls it when its worker has stopped.
func (c *Client) Close() { (&http.Client{Transport: c.transport.RoundTripper}).CloseIdleConnections() }

// maxQueues limits the cached SDK clients: one per queue in use. A miss costs microseconds.
const maxQueues = 512

// access is where a queue is, and what gives access to it.
type access struct {
	endpoint, queue string
	secret          string // the token as it was revealed
}

// queue is an SDK client of one queue.
type queue struct {
	token  token
	client *azqueue.QueueClient
}

// open returns the client of a queue. Its error describes a problem of the secret.
func (c *Client) open(a access) (*queue, error) {
	return c.queues.Get(a, func() (*queue, error) {
		token, err := parseToken(a.secret, mayAdd)
		if err != nil {
			return nil, fmt.Errorf("sasToken %w", err)
		}
		client, err := azqueue.NewQueueClientWithNoCredential(a.endpoint+"/"+a.queue+"?"+token.query, options(c.transport))
		if err != nil {
			return nil, err
		}
		return &queue{token, client}, nil
	})
}

// options are new for every client: the SDK writes into them.
func options(t egress.Transporter) *azqueue.ClientOptions {
	return &azqueue.ClientOptions{ClientOptions: policy.ClientOptions{
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Telemetry: policy.TelemetryOptions{ApplicationID: "Carillon"},
		Transport: t,
	}}
}
