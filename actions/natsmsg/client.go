package natsmsg

import (
	"crypto/x509"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/actions/pool"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Config configures the NATS actions of a process. With the zero value, jobs must name their own servers.
type Config struct {
	// Conn is the scheduler's own connection, for jobs that name no servers.
	// [New] puts itself before its error and disconnect handlers, which are
	// called as before; set them before, not afterwards. The connection stays
	// the caller's to close. Default: none, and such a job's attempts fail.
	Conn *nats.Conn

	// Prefix is the subject prefix that the scheduler keeps to itself on
	// Conn. The default prefix is kept from jobs in any case. Default: carillon.
	Prefix string

	// Allow lists the subjects that jobs can use on Conn, as patterns with * and >. The forbidden subjects (see the
	// package comment) stay forbidden. Default: >, every subject.
	Allow []string

	// Guard decides which addresses jobs' own servers may have. Default: nil,
	// which refuses none.
	Guard *egress.Guard

	// RootCAs are the authorities that may sign the certificates of jobs' own
	// servers. Default: the system's.
	RootCAs *x509.CertPool

	// MaxConns limits the open connections to jobs' own servers. A new connection replaces the longest idle one;
	// while all are in use, attempts wait. Default: 64.
	MaxConns int

	// IdleTimeout is how long such a connection is kept when no attempt uses
	// it. Default: 5 minutes.
	IdleTimeout time.Duration
}

// The defaults of [Config].
const (
	DefaultPrefix      = "carillon"
	DefaultMaxConns    = 64
	DefaultIdleTimeout = 5 * time.Minute
)

// Client runs the NATS actions of all jobs of a process, which share its
// connections. It is safe for concurrent use.
type Client struct {
	rules subjectRules
	own   *connection // on the scheduler's connection; nil without one
	pool  *pool.Pool[lru.Key, *connection]
	guard *egress.Guard
	roots *x509.CertPool
}

// New returns a client. It does no I/O. Call [Client.Close] in the end.
func New(config Config) *Client {
	if config.MaxConns <= 0 {
		config.MaxConns = DefaultMaxConns
	}
	if config.IdleTimeout <= 0 {
		config.IdleTimeout = DefaultIdleTimeout
	}
	c := &Client{
		rules: newSubjectRules(&config),
		guard: config.Guard,
		roots: config.RootCAs,
		pool:  pool.New[lru.Key, *connection](pool.Config{Max: config.MaxConns, IdleTimeout: config.IdleTimeout}),
	}
	if config.Conn != nil {
		c.own = ownConnection(config.Conn)
	}
	return c
}

// Close closes the connections to jobs' own servers immediately; attempts that use them fail. The scheduler's
// connection stays open. Call Close after the worker has stopped.
func (c *Client) Close() { c.pool.Close() }

// typeName is the action type, in canonical spelling, and member the member
// that holds what belongs to it.
const (
	typeName = "NatsMessage"
	member   = "natsMessage"
)

// Types implements [scheduler.ActionReader].
func (c *Client) Types() []string { return []string{typeName} }

// Member returns the member of an action that holds what belongs to a type.
func (*Client) Member(string) string { return member }

// ReadAction implements [scheduler.ActionReader]: it reads the member
// natsMessage of o.
func (c *Client) ReadAction(kind string, o *document.Object) scheduler.Action {
	if !strings.EqualFold(kind, typeName) {
		return nil
	}
	a := &action{client: c}
	ok := payload.ReadMember(o, member, func(mo *document.Object) {
		a.read(o, mo)
		a.access = readAccess(mo)
		if a.access.own() && !o.Reader().Stored {
			c.rules.check(mo, a.subject, a.replyTo)
		}
	})
	if !ok {
		return nil
	}
	return a
}
