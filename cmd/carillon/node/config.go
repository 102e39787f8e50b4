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
	"github.com/carillon-sched/carillon/scheduler/console/admin"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/metrics"
	"github.com/carillon-sched/carillon/scheduler/rest/identity"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/scheduler/tracing"
	"github.com/carillon-sched/carillon/store"
)

// Config configures a node. Conn is required.
type Config struct {
	// Conn is the connection to NATS. The caller closes it after Run has returned.
	Conn *nats.Conn

	// Link observes Conn, which was opened with its options. Default: no observation.
	Link *Link

	// Store configures the store. Default of its Logger: Logger.
	Store store.Config

	// Listener accepts the connections of the REST API; the node closes it. Default: no REST API.
	Listener net.Listener

	// MaxConnections limits the connections of the Listener. A new one replaces the one whose client has been silent
	// longest. Default: an eighth of the process's limit of open files.
	MaxConnections int

	// Handlers are served in addition to the REST API, by pattern of an [http.ServeMux]. Default: none.
	Handlers map[string]http.Handler

	// NoConsole disables the web console.
	NoConsole bool

	// TraceURL is where the console shows traces. Default: nowhere.
	TraceURL frame.TraceURL

	// Sections are additional pages of the console. Default: none.
	Sections []frame.Section

	// AllowHost decides which host names the REST API accepts; see [rest.Config]. Default: all.
	AllowHost func(host string) bool

	// Access configures authentication for the REST API. The node sets its Tokens. Default: no authentication, full
	// access for everyone.
	Access identity.Config

	// Rate bounds the requests over HTTP; see [rest.Config].
	Rate *throttle.Throttle

	// Settings returns the result of the last settings change. Default: no change.
	Settings func() metrics.Settings

	// ShownSettings returns the settings for the console, without passwords. Default: none.
	ShownSettings func() []admin.Setting

	// TLS configures TLS for the REST API. Default: no TLS.
	TLS *tls.Config

	// Keys seal the secrets of jobs and shared secrets. Default: none; jobs with secrets are rejected.
	Keys *seal.Keyring

	// Limits apply to jobs whose collection sets no limits.
	Limits scheduler.Limits

	// Worker configures the worker. The node sets its Store, Actions, Secrets and Logger.
	Worker engine.Config

	// Delivery configures the targets of actions. The node sets its Version, Conn and Prefix.
	Delivery builtin.Config

	// HistoryMemory limits the history index, in bytes; see [control.Config].
	HistoryMemory int64

	// AuditEvery is the interval of consistency checks after the one at the start. Default: 1h.
	AuditEvery time.Duration

	// SpreadAfter is how long stream leaders can be unevenly distributed in a NATS cluster before the node moves one.
	// Default: never.
	SpreadAfter time.Duration

	// RestartServer restarts the NATS server. The node calls it every two seconds while streams are read-only, or after
	// the server missed a forward step of the clock. Default: none; the log advises the operator.
	RestartServer func(ctx context.Context) error

	// Space returns the free and total bytes on the disk of the NATS server, or false if unknown. Default: unknown.
	Space func() (free, total uint64, known bool)

	// Tracer traces requests, occurrences and attempts. Default: no tracing.
	Tracer *tracing.Tracer

	// Version is shown to targets, in the NATS service and over HTTP.
	// Default: dev.
	Version string

	// Logger receives errors that no caller can handle. Default: discard.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.Store.Logger = cmp.Or(c.Store.Logger, c.Logger)
	if c.Link == nil {
		c.Link = NewLink(c.Logger, func() {})
	}
	c.Store.Restarts = c.RestartServer != nil
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
