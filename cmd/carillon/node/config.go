package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/metrics"
	"github.com/carillon-sched/carillon/scheduler/rest/identity"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/scheduler/tracing"
	"github.com/carillon-sched/carillon/scheduler/worker"
	"github.com/carillon-sched/carillon/store"
)

// Config says what a node works on. Conn is required.
type Config struct {
	// Conn is the connection to NATS. It stays the caller's, who closes it
	// when Run has returned.
	Conn *nats.Conn

	// Link knows what became of Conn, which has its options. Default: one that
	// knows nothing.
	Link *Link

	// Store says where the data is kept. Its Logger is Logger unless set.
	Store store.Config

	// Listener takes the connections of the REST API; the node closes it.
	// Default: no REST API.
	Listener net.Listener

	// MaxConnections is how many connections the Listener serves at once. The
	// next one takes the place of the one whose client has been silent longest.
	// Default: an eighth of the files that the process may have open.
	MaxConnections int

	// Handlers are served beside the REST API, by pattern of an
	// [http.ServeMux]. Default: none.
	Handlers map[string]http.Handler

	// NoConsole leaves out the web console, which is served with the REST API.
	NoConsole bool

	// Rooms are parts of the console besides its own. Default: none.
	Rooms []frame.Room

	// AllowHost decides which names the REST API answers to; see [rest.Config].
	// Default: all.
	AllowHost func(host string) bool

	// Access says whom the REST API asks who they are, and knows. Its Tokens are
	// the node's. Default: nobody is asked, and everybody may do everything.
	Access identity.Config

	// Rate bounds the requests over HTTP; see [rest.Config].
	Rate *throttle.Throttle

	// Settings says what became of the last change of the process's settings. Default: nothing has changed.
	Settings func() metrics.Settings

	// TLS has the REST API served over TLS. Default: it is not.
	TLS *tls.Config

	// Keys seal the secrets of jobs and the shared ones. Default: none; jobs
	// with secrets are refused then.
	Keys *seal.Keyring

	// Limits apply to jobs of collections that set none of their own.
	Limits scheduler.Limits

	// Worker says how much is done at once. Its Store, Actions, Secrets and
	// Logger are the node's.
	Worker worker.Config

	// Delivery says what actions may reach, and where it is. Its Version, Conn
	// and Prefix are the node's.
	Delivery builtin.Config

	// HistoryMemory is how many bytes an index of the history may take; see
	// [service.Config].
	HistoryMemory int64

	// AuditEvery is how often jobs are compared with batons, besides at the
	// start. Default one hour.
	AuditEvery time.Duration

	// SpreadAfter is how long leaders of streams may be unevenly spread over the
	// servers of a NATS cluster before they are moved. Default: they stay where
	// they are.
	SpreadAfter time.Duration

	// Mend restarts a NATS server whose streams are shut, so that it takes
	// writes again, and one that has not noticed that the clock was set forward.
	// It is called every two seconds until the streams are open. Default: nobody
	// can; the log says what to do.
	Mend func(ctx context.Context) error

	// Space is how many bytes are free on the disk of the NATS server, and of
	// how many; false when that is not known. Default: never.
	Space func() (free, total uint64, known bool)

	// Tracer tells of requests, occurrences and attempts. Default: nothing is
	// traced.
	Tracer *tracing.Tracer

	// Version is shown to targets, in the NATS service and over HTTP.
	// Default: dev.
	Version string

	// Logger takes what no caller can be told. Default: discard.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.Store.Logger = cmp.Or(c.Store.Logger, c.Logger)
	if c.Link == nil {
		c.Link = NewLink(c.Logger, func() {})
	}
	c.Store.Restarts = c.Mend != nil
	if c.AuditEvery <= 0 {
		c.AuditEvery = time.Hour
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = connlimit.Share(connlimit.Files())
	}
	if c.Settings == nil {
		started := metrics.Settings{Read: time.Now()}
		c.Settings = func() metrics.Settings { return started }
	}
	c.Version = cmp.Or(c.Version, "dev")
	c.Worker.Logger, c.Worker.Tracer = c.Logger, c.Tracer
	return c
}
