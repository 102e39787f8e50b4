package servicebus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/actions/pool"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Config is how the Service Bus actions of a process reach their namespaces.
// The zero value is usable.
type Config struct {
	// Version is sent to the service as Carillon/<version> in the user agent. Default: dev.
	Version string

	// Endpoints maps namespaces outside Azure to their addresses, by name without .servicebus.windows.net: host:port,
	// or a URL with the scheme sb, amqp (plain) or amqps (TLS). Default: <name>.servicebus.windows.net.
	Endpoints egress.Endpoints

	// KeyOptional accepts jobs without sasKey, as Azure Scheduler returns
	// them, and signs with the key of Microsoft's emulator. It is for
	// emulators, which take any key. Default: sasKey and sasKeyName are
	// required.
	KeyOptional bool

	// Guard decides which addresses may be dialled. Default: all.
	Guard *egress.Guard

	// TLS is the TLS configuration, such as the roots. Default: the system's roots.
	TLS *tls.Config

	// IdleAfter limits the idle time of a link. A connection is closed with its last link. Default: 5 minutes.
	IdleAfter time.Duration

	// MaxLinks limits the links, one for each queue or topic and key. For more, those idle for the longest are
	// closed; when all are in use, attempts wait. Default: 1024.
	MaxLinks int
}

// The defaults of a Config.
const (
	DefaultIdleAfter = 5 * time.Minute
	DefaultMaxLinks  = 1024
)

// Client runs the Service Bus actions of all jobs of a process, which share
// its connections. It is safe for concurrent use.
type Client struct {
	config     Config
	times      times
	dial       func(ctx context.Context, network, address string) (net.Conn, error)
	management egress.Transporter // of the management APIs of namespaces
	pool       *pool.Pool[destination, *link]

	// ctx limits connections: not an attempt, as they outlive it.
	ctx    context.Context //nolint:containedctx // see above
	cancel context.CancelCauseFunc

	mu          sync.Mutex
	connections map[account]*connection // what links may be opened on
}

// New returns a client. It does no I/O.
func New(config Config) *Client { return newClient(config, defaultTimes) }

func newClient(config Config, times times) *Client {
	config.Version = cmp.Or(config.Version, "dev")
	if config.IdleAfter <= 0 {
		config.IdleAfter = DefaultIdleAfter
	}
	if config.MaxLinks <= 0 {
		config.MaxLinks = DefaultMaxLinks
	}
	c := &Client{
		config: config, times: times,
		dial:       config.Guard.DialContext(config.Guard.Dialer(egress.DialTimeout)),
		management: egress.Route{Guard: config.Guard}.Transporter(config.TLS.Clone()),
		pool: pool.New[destination, *link](pool.Config{
			Max:         config.MaxLinks,
			IdleTimeout: config.IdleAfter,
			RenewAfter:  times.renew,
			MaxAge:      times.most,
			Final:       func(err error) bool { return classify(err).Final },
		}),
		connections: make(map[account]*connection),
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// Close closes all connections. Attempts under way fail, and so do later ones.
// No goroutine of the client is left when Close returns, which takes two
// seconds at most when namespaces do not answer.
func (c *Client) Close() {
	c.cancel(pool.ErrClosed)
	c.pool.Close()
	(&http.Client{Transport: c.management.RoundTripper}).CloseIdleConnections()
}

// kind is one of the two action types.
type kind struct {
	name   string // in canonical spelling
	member string // of the action, which holds everything
	entity string // of that member, which names the queue or topic
	noun   string
}

var kinds = []kind{
	{"ServiceBusQueue", "serviceBusQueueMessage", "queueName", "queue"},
	{"ServiceBusTopic", "serviceBusTopicMessage", "topicPath", "topic"},
}

func findKind(name string) (kind, bool) {
	for _, k := range kinds {
		if strings.EqualFold(name, k.name) {
			return k, true
		}
	}
	return kind{}, false
}

// Types implements [scheduler.ActionReader].
func (c *Client) Types() []string { return []string{kinds[0].name, kinds[1].name} }

// Member returns the field of an action that holds the settings of a type.
func (*Client) Member(name string) string {
	k, _ := findKind(name)
	return k.member
}

// ReadAction implements [scheduler.ActionReader]: it reads the member
// serviceBusQueueMessage or serviceBusTopicMessage of o.
func (c *Client) ReadAction(name string, o *document.Object) scheduler.Action {
	k, ok := findKind(name)
	if !ok {
		return nil
	}
	return c.readAction(k, o)
}

// maxEntity limits the characters of the path of a queue or topic (limit of Service Bus).
const maxEntity = 260

// entityPattern matches the paths of queues and topics. Other entities, such as $management and subscriptions'
// dead-letter queues, do not accept messages.
var entityPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._~/-]*[A-Za-z0-9_])?$`)

// readAction reads an action of kind k and reports every problem; it returns
// nil when there was one.
func (c *Client) readAction(k kind, o *document.Object) scheduler.Action {
	a := &action{kind: k, client: c}
	ok := payload.ReadMember(o, k.member, func(mo *document.Object) {
		a.namespace = c.readNamespace(mo)
		a.entity = readEntity(mo, k)
		mo.Enum("transportType", "notSpecified", "netMessaging", "AMQP")
		a.authentication = readAuthentication(mo, c.config.KeyOptional)
		a.content = payload.Read(o, mo, payload.Rules{
			Member:    "message",
			Envelopes: []payload.Envelope{payload.CloudEvents, payload.CloudEventsBinary},
		})
		a.properties = readProperties(mo)
		a.custom, a.secrets = readCustom(mo)
	})
	if !ok {
		return nil
	}
	return a
}

func (c *Client) readNamespace(o *document.Object) namespace {
	o.Require("namespace")
	text, ok := o.String("namespace")
	if !ok {
		return namespace{}
	}
	n, err := readNamespace(text, c.config.Endpoints)
	if err != nil {
		o.Problem("namespace", "%v", err)
	}
	return n
}

// readEntity reads the path of the queue or topic.
func readEntity(o *document.Object, k kind) string {
	o.Require(k.entity)
	path, ok := o.String(k.entity)
	n := utf8.RuneCountInString(path)
	switch {
	case !ok:
	case n > maxEntity:
		o.Problem(k.entity, "is %d characters long, at most %d are allowed", n, maxEntity)
	case !entityPattern.MatchString(path):
		o.Problem(k.entity, "is not the path of a %s: letters, digits and . - _ ~ / are allowed, with a letter or digit at either end",
			k.noun)
	}
	return path
}

// authentication is the member of that name: the shared access key.
type authentication struct {
	name string
	key  document.Secret // none, or an empty one: emulatorKey
}

// The key of Microsoft's emulator, for where any key will do.
const (
	emulatorName = "RootManageSharedAccessKey"
	emulatorKey  = "SAS_KEY_VALUE"
)

// keyNames are the names that a shared access policy may have. The SDK copies them into the token without escaping,
// where others would not be found.
var keyNames = regexp.MustCompile(`^[A-Za-z0-9._-]{1,256}$`)

// readAuthentication reads authentication. Without optional, the key is
// required.
func readAuthentication(o *document.Object, optional bool) authentication {
	a := authentication{name: emulatorName}
	ao, ok := o.Object("authentication")
	if !ok {
		if !optional && !o.Has("authentication") {
			o.Problem("authentication", "is required: give the sasKeyName and sasKey of a shared access policy that may send")
		}
		return a
	}
	defer ao.Done()
	ao.Enum("type", "notSpecified", "sharedAccessKey")
	name, ok := ao.String("sasKeyName")
	switch {
	case ok && keyNames.MatchString(name):
		a.name = name
	case ok && name != "":
		ao.Problem("sasKeyName", "is not the name of a shared access policy: 1 to 256 letters, digits, dots, hyphens and underscores")
	case !optional && (ok || !ao.Has("sasKeyName")):
		ao.Problem("sasKeyName", "is required: the name of the shared access policy that sasKey belongs to")
	}
	a.key, ok = ao.Secret("sasKey")
	missing := !ao.Has("sasKey")
	if text, literal := a.key.Literal(); ok && literal {
		missing = text == ""
		if err := checkKey(text); err != nil {
			ao.Problem("sasKey", "%v", err)
		}
	}
	if missing && !optional {
		ao.Problem("sasKey", "is required. It is never returned, so a job that was read and is put back lacks it: "+
			`give the key again, or {"secretRef": "name"}`)
	}
	return a
}

// checkKey refuses invalid keys, and keys that the SDK would misread. Its errors do not show the key.
func checkKey(key string) error {
	switch {
	case strings.Contains(strings.ToLower(key), "sharedaccesskey="):
		return errors.New("is a connection string; give what follows SharedAccessKey= alone")
	case strings.HasPrefix(key, "SharedAccessSignature "):
		return errors.New("is a shared access signature; give the key of the policy, with which the scheduler signs itself")
	case strings.ContainsFunc(key, func(r rune) bool { return r == ';' || unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("must not contain semicolons, spaces or line breaks")
	}
	return nil
}

// given reports whether the job gives a key.
func (a authentication) given() bool { return !a.key.IsZero() }

// reveal returns the key for an attempt.
func (a authentication) reveal(at scheduler.Attempt) (key string, failure *actions.Failure) {
	if !a.given() {
		return emulatorKey, nil
	}
	key, err := at.Reveal(a.key)
	if err != nil {
		return "", actions.Unready(err)
	}
	if key == "" {
		return "", actions.Invalid(errors.New("the shared access key is empty"))
	}
	if err := checkKey(key); err != nil {
		return "", actions.Invalid(fmt.Errorf("the shared access key %w", err))
	}
	return key, nil
}
