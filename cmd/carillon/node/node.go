package node

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
	"github.com/carillon-sched/carillon/scheduler/metrics"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/scheduler/rest/identity"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/store"
)

// Node is one Carillon process.
type Node struct {
	cfg           Config
	log           *slog.Logger
	store         *store.Store
	service       *control.Service
	worker        *engine.Worker
	actions       *actions.Registry
	sources       *receive.Manager
	health        *health
	disk          *disk
	tokens        *tokens.Keeper
	authenticator *identity.Authenticator
	metrics       *metrics.Metrics
	activity      *activity

	takeover chan struct{} // signals the end of another worker
	working  atomic.Bool   // the worker and the APIs run
	stopping atomic.Bool   // a shutdown was requested
}

// Open opens the store, and creates missing streams and the default collection. An invalid setting is a
// [store.SettingError].
func Open(ctx context.Context, cfg Config) (*Node, error) {
	cfg = cfg.withDefaults()
	st, err := store.Open(ctx, cfg.Conn, cfg.Store)
	if err != nil {
		return nil, err
	}
	n := &Node{cfg: cfg, log: cfg.Logger, store: st, takeover: make(chan struct{}, 1)}
	n.health = &health{check: st.Check, restart: cfg.RestartServer, log: n.log}
	n.disk = &disk{space: cfg.Space, log: n.log}
	cfg.Delivery.Version, cfg.Delivery.Conn, cfg.Delivery.Prefix = cfg.Version, cfg.Conn, cfg.Store.Prefix
	n.actions = builtin.New(cfg.Delivery)
	n.tokens = tokens.NewKeeper(st.Tokens(), st.TokenLedger(), st.Now)
	cfg.Access.Tokens = n.tokens
	n.authenticator = identity.New(cfg.Access)
	n.metrics = n.newMetrics()
	n.activity = newActivity(n)
	record := both(n.metrics.Record, n.activity.Record)
	vault := secrets.NewVault(secrets.Config{Store: st.Secrets(), Keys: cfg.Keys})
	n.sources = receive.New(receive.Config{
		Receivers: actions.Readers[receive.Receiver](n.actions), Watch: st.Sources().Watch, Publish: st.PublishEvent,
		Secrets: vault, Logger: n.log,
	})
	collections := jobcache.NewCollections(st.Collections(), n.actions)
	cfg.Worker.Secrets, cfg.Worker.Collections = vault, collections
	cfg.Worker.Store, cfg.Worker.Actions, cfg.Worker.OnTakeover = st, n.actions, n.tookOver
	cfg.Worker.OnRecord = both(record, cfg.Worker.OnRecord)
	n.worker = engine.New(cfg.Worker)
	n.service = control.New(control.Config{
		Store: st, Actions: n.actions, Limits: cfg.Limits, Secrets: vault, Collections: collections, Logger: n.log,
		Tokens: n.tokens, HistoryMemory: cfg.HistoryMemory, OnRecord: record, Try: n.worker.Try,
		Sources: sharedSources{n.sources, n.activity}, Failures: n.activity.Failures, Activity: n.activity.summary,
	})
	if err := n.service.EnsureDefault(ctx); err != nil {
		n.actions.Close()
		return nil, err
	}
	return n, nil
}

// Service returns the API of the node's jobs. It works before, during and after Run.
func (n *Node) Service() *control.Service { return n.service }

// Metrics returns the handler of /metrics.
func (n *Node) Metrics() http.Handler { return n.metrics }

// Open reports whether the REST API currently requires no authentication.
func (n *Node) Open(ctx context.Context) (bool, error) { return n.authenticator.Open(ctx) }

// ChangeAccess replaces Access of [Config] for new requests.
func (n *Node) ChangeAccess(access identity.Config) {
	access.Tokens = n.tokens
	n.authenticator.Change(access)
}

// HasTokens reports whether any access token is known to exist.
func (n *Node) HasTokens(ctx context.Context) bool {
	some, err := n.tokens.Any(ctx)
	return some || err != nil
}

// Reconnected notifies the node that its connection was lost and is back. The server may have forgotten its
// deliveries. A nil node, which is not open yet, has none.
func (n *Node) Reconnected() {
	if n != nil {
		n.worker.Suspect()
	}
}

// Reasons why a node is not ready during startup and shutdown.
var (
	errStarting = errors.New("starting: the workers are starting")
	errStopping = errors.New("stopping: running attempts finish, and other schedulers take over the rest")
)

// Limits of a readiness check: one ping, and in total. Probes usually wait five seconds, some
// only one.
const (
	pingTimeout  = 2 * time.Second
	readyTimeout = 4 * time.Second
)

// Ready returns nil if the node is running, and NATS responds and accepts writes.
func (n *Node) Ready(ctx context.Context) error {
	switch {
	case n.stopping.Load():
		return errStopping
	case !n.working.Load():
		return errStarting
	}
	if !n.cfg.Conn.IsConnected() {
		return n.cfg.Link.Err(n.cfg.Conn)
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := n.cfg.Link.ping(ctx, n.cfg.Conn); err != nil {
		return err
	}
	return n.health.err(ctx)
}

// Run runs jobs and serves the APIs until ctx is done, then shuts down gracefully. It calls ready after startup. An error of
// ready or of a component stops the node.
func (n *Node) Run(ctx context.Context, ready func() error) error {
	defer n.actions.Close()
	side, stopSide := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSide()
	outer, _ := errgroup.WithContext(side)
	outer.Go(func() error { return n.service.Run(side) })
	outer.Go(func() error { n.activity.run(side); return nil })
	web := n.serveHTTP(side, outer)

	engine, engineCtx := errgroup.WithContext(ctx)
	engine.Go(func() error { return n.worker.Run(engineCtx) })
	engine.Go(func() error { return n.sources.Run(engineCtx) })
	open := n.openNATS(engineCtx, engine)
	engine.Go(func() error { n.audit(engineCtx); return nil })
	engine.Go(func() error { n.watchClock(engineCtx); return nil })
	engine.Go(func() error { n.health.run(engineCtx, n.store.Suspicions()); return nil })
	engine.Go(func() error { n.disk.run(engineCtx); return nil })
	engine.Go(func() error { n.store.Spread(engineCtx, n.cfg.SpreadAfter); return nil })
	engine.Go(func() error { return web.failure(engineCtx) })
	engine.Go(func() error {
		select {
		case <-open:
			n.working.Store(true)
			return ready()
		case <-engineCtx.Done():
			return nil
		}
	})

	<-engineCtx.Done()
	n.stopping.Store(true)
	err := engine.Wait()
	web.shutdown(side)
	stopSide()
	return errors.Join(err, outer.Wait())
}

// Connected returns the URL of a connection's server without credentials; "" if disconnected.
func Connected(nc *nats.Conn) string { return Anonymous(nc.ConnectedUrl()) }

// Anonymous returns the URL of a NATS server without its userinfo, which can be a password or, alone, a token.
func Anonymous(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return "an invalid URL"
	}
	u.User = nil
	return u.String()
}

// openNATS opens the APIs over NATS: published specs, and request and reply. The channel is closed once requests are
// answered.
func (n *Node) openNATS(ctx context.Context, g *errgroup.Group) <-chan struct{} {
	ingest := natsapi.NewIngest(natsapi.IngestConfig{
		Service: n.service, Source: n.store, Observe: n.metrics.Spec, Tracer: n.cfg.Tracer, Logger: n.log,
	})
	api := natsapi.NewAPI(natsapi.APIConfig{
		Conn: n.cfg.Conn, Service: n.service, Prefix: n.cfg.Store.Prefix, Version: n.cfg.Version, Logger: n.log,
		Observe: n.metrics.Requests("nats"), Tracer: n.cfg.Tracer,
	})
	g.Go(func() error { return ingest.Run(ctx) })
	g.Go(func() error { return api.Run(ctx) })
	return api.Open()
}

// closePatience limits how long a connection can take to flush.
const closePatience = 5 * time.Second

// CloseConn flushes and closes a connection.
func CloseConn(nc *nats.Conn) {
	closed := nc.StatusChanged(nats.CLOSED)
	defer nc.Close()
	if nc.Drain() != nil {
		return
	}
	select {
	case <-closed:
	case <-time.After(closePatience):
	}
}
