package natsmsg

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

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
	// Conn is the scheduler's own connection, for jobs that name no servers. [New] puts itself before its error and
	// disconnect handlers, which are called as before; set them before, not afterwards. The caller closes the
	// connection. Default: none, and such a job's attempts fail.
	Conn *nats.Conn

	// Prefix is the subject prefix that is reserved for the scheduler on Conn. The default prefix is always reserved.
	// Default: carillon.
	Prefix string

	// Allow lists the subjects that jobs can use on Conn, as patterns with * and >. The forbidden subjects (see the
	// package comment) stay forbidden. Default: >, every subject.
	Allow []string

	// Sources lists the subjects that sources can receive on Conn, as Allow does. Default: none.
	Sources []string

	// Guard decides which addresses jobs' own servers may have. Default: nil,
	// which refuses none.
	Guard *egress.Guard

	// RootCAs are the authorities that may sign the certificates of jobs' own
	// servers. Default: the system's.
	RootCAs *x509.CertPool

	// MaxConns limits the open connections to jobs' own servers. A new connection replaces the longest idle one;
	// while all are in use, attempts wait. Default: 64.
	MaxConns int

	// IdleTimeout limits the idle time of such a connection. Default: 5 minutes.
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

// typeName is the action type, in canonical spelling, and member the field with its settings.
const (
	typeName = "NatsMessage"
	member   = "natsMessage"
)

// Types implements [scheduler.ActionReader].
func (c *Client) Types() []string { return []string{typeName} }

// Member returns the field of an action that holds the settings of a type.
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

// maxSubject is the length in bytes of the longest subject. Servers take
// longer ones, up to their control line of 4,096 bytes in all.
const maxSubject = 255

// readSubject reads a subject to publish to. It returns "" if the subject is missing or invalid.
func readSubject(o *document.Object, name string) string {
	subject, ok := o.String(name)
	if !ok {
		return ""
	}
	if err := checkSubject(subject); err != nil {
		o.Problem(name, "%v", err)
		return ""
	}
	return subject
}

// checkSubject says why a subject cannot be published to.
func checkSubject(subject string) error {
	switch {
	case subject == "":
		return errors.New("must not be empty")
	case len(subject) > maxSubject:
		return fmt.Errorf("is %d bytes long, at most %d are allowed", len(subject), maxSubject)
	case strings.ContainsFunc(subject, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return fmt.Errorf("%q contains a space or a control character", subject)
	case strings.ContainsAny(subject, "*>"):
		return fmt.Errorf("%q contains a wildcard, and a message has one subject", subject)
	case slices.Contains(strings.Split(subject, "."), ""):
		return fmt.Errorf("%q has an empty token: a dot separates two tokens", subject)
	}
	return nil
}

// subjectRules say which subjects jobs and sources may use on the scheduler's connection.
type subjectRules struct {
	prefix  string
	inbox   string   // prefix of the connection's inboxes; "" is _INBOX
	allow   []string // of jobs
	sources []string // of sources
}

func newSubjectRules(c *Config) subjectRules {
	s := subjectRules{prefix: cmp.Or(c.Prefix, DefaultPrefix), allow: slices.Clone(c.Allow), sources: slices.Clone(c.Sources)}
	if len(s.allow) == 0 {
		s.allow = []string{">"}
	}
	if c.Conn != nil {
		s.inbox = c.Conn.Opts.InboxPrefix
	}
	return s
}

// check reports forbidden subjects. It checks the reply subject too, because the responder, which can be
// JetStream, publishes to it.
func (s subjectRules) check(o *document.Object, subject, replyTo string) {
	for _, given := range [...]struct{ name, subject string }{{"subject", subject}, {"replyTo", replyTo}} {
		if err := s.refuses(given.subject); err != nil {
			o.Problem(given.name, "%v", err)
		}
	}
}

// refuses says why jobs may not use a subject on the scheduler's connection;
// nil means that they may.
func (s subjectRules) refuses(subject string) error {
	if err := s.foreign(subject); err != nil {
		return fmt.Errorf("%w; on a connection of the job's own, with servers, it would be the job's matter", err)
	}
	return nil
}

// foreign returns why a subject is not for jobs, nil if it is.
func (s subjectRules) foreign(subject string) error {
	if subject == "" { // missing, or reported before
		return nil
	}
	if err := s.reserved(subject); err != nil {
		return err
	}
	if slices.ContainsFunc(s.allow, func(pattern string) bool { return matches(pattern, subject) }) {
		return nil
	}
	return fmt.Errorf("%q is none of the subjects that this scheduler lets jobs use: %s", subject, strings.Join(s.allow, ", "))
}

// reserved returns an error if a subject, or all of a pattern, belongs to the scheduler or to NATS.
func (s subjectRules) reserved(subject string) error {
	switch {
	case matches(s.prefix+".>", subject) || subject == s.prefix:
		return fmt.Errorf("%q belongs to the scheduler, whose subjects begin with %s", subject, s.prefix)
	case matches(DefaultPrefix+".>", subject) || subject == DefaultPrefix:
		return fmt.Errorf("%q belongs to a scheduler, whose subjects begin with %s", subject, DefaultPrefix)
	case subject[0] == '$' || subject[0] == '_':
		return fmt.Errorf("%q belongs to NATS itself, as all subjects do that begin with $ or _", subject)
	case s.inbox != "" && matches(s.inbox+".>", subject):
		return fmt.Errorf("%q is among the scheduler's inboxes", subject)
	}
	return nil
}

// matches reports whether a subject, or every subject of a second pattern, matches a pattern with the wildcards * and >.
func matches(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range p {
		if token == ">" {
			return len(s) > i
		}
		if i >= len(s) || token != s[i] && (token != "*" || s[i] == ">") {
			return false
		}
	}
	return len(p) == len(s)
}
