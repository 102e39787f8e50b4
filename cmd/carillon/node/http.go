package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/metrics"
	"github.com/carillon-sched/carillon/scheduler/rest"
)

// Limits of the HTTP server. Responses have no time limit, because a live tail lasts as long as its reader.
const (
	readHeaderTimeout = 10 * time.Second
	readBodyTimeout   = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeader         = 64 << 10
	shutdownGrace     = 5 * time.Second // for requests under way at a stop
)

// webServer is the node's HTTP server. The zero value, of a node without
// listener, does nothing.
type webServer struct {
	server *http.Server
	tails  context.CancelFunc // ends the live tails
	failed chan error
}

// serveHTTP serves the REST API and the other handlers, if there is a listener.
func (n *Node) serveHTTP(ctx context.Context, g *errgroup.Group) *webServer {
	w := &webServer{tails: func() {}}
	if n.cfg.Listener == nil {
		return w
	}
	tails, end := context.WithCancel(ctx)
	w.tails, w.failed = end, make(chan error, 1)
	server, l := n.cfg.server(endTails(tails, n.handler()), n.cfg.Listener)
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	w.server = server
	g.Go(func() error {
		err := server.Serve(l)
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		w.failed <- err
		return err
	})
	return w
}

// server returns a server of a handler, and l as it is to serve it: over TLS or not, with limited connections.
func (c Config) server(h http.Handler, l net.Listener) (*http.Server, net.Listener) {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(&complaints{log: c.Logger}, "", 0),
	}
	clients := connlimit.New(c.MaxConnections)
	clients.Watch(s, readBodyTimeout)
	l = clients.Listen(l)
	if c.TLS != nil {
		l = tls.NewListener(l, c.TLS)
	}
	return s, l
}

// handler returns the REST API and the other handlers.
func (n *Node) handler() http.Handler {
	api := rest.New(rest.Config{
		Service: n.service, Ready: n.Ready, Degraded: n.disk.scarce, Logger: n.log, Version: n.cfg.Version, AllowHost: n.cfg.AllowHost,
		Metrics: n.metrics, Observe: n.metrics.Requests("rest"), Identify: n.authenticator.Find, Rate: n.cfg.Rate,
		Tracer: n.cfg.Tracer,
		Webhook: func(k scheduler.Key, status int, duplicate bool, problem string) {
			n.metrics.Webhook(status)
			n.sources.Webhook(k, status, duplicate, problem)
		},
		MaxTails: min(rest.DefaultMaxTails, max(1, n.cfg.MaxConnections/2)), // the others' requests have their part
	})
	mux := http.NewServeMux()
	mux.Handle("/", api)
	if !n.cfg.NoConsole {
		pages := n.console()
		mux.Handle("/{$}", pages)
		mux.Handle(frame.Root+"/", pages)
	}
	for pattern, h := range n.cfg.Handlers {
		mux.Handle(pattern, n.named(h))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.byJob(r) && !n.openToJobs(mux, r) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write(refusedJob)
			return
		}
		if rest.Unclean(r.URL.Path) { // the mux would send it on to another path
			api.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// refusedJob is the response to requests of jobs.
var refusedJob = v1.JSON(v1.Error{
	Code:    "Forbidden",
	Message: "jobs reach /echo only; to let one use the API, give its request an Authorization header with an access token",
}.Document())

// byJob reports whether a job has sent a request, and marks the request as such: its connection says so, or its header where
// the connection is another process's.
func (n *Node) byJob(r *http.Request) bool {
	server, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	client, err := netip.ParseAddrPort(r.RemoteAddr)
	if err == nil && n.cfg.Delivery.Guard.Dialed(net.TCPAddrFromAddrPort(client), server) {
		r.Header.Set(scheduler.JobHeader, "")
	}
	return r.Header[scheduler.JobHeader] != nil
}

// openToJobs reports whether a job may send a request: to the other handlers, and with credentials to the API, which checks
// them.
func (n *Node) openToJobs(mux *http.ServeMux, r *http.Request) bool {
	_, pattern := mux.Handler(r)
	return n.cfg.Handlers[pattern] != nil && !rest.Unclean(r.URL.Path) ||
		r.Header["Authorization"] != nil || r.TLS != nil && len(r.TLS.PeerCertificates) > 0
}

// named serves requests only under the names of the server, as the API does: another name may be DNS rebinding.
func (n *Node) named(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.cfg.AllowHost != nil && !n.cfg.AllowHost(r.Host) {
			http.Error(w, "not a name of this server; start it with --allowed-host if it is", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// console returns the pages for people.
func (n *Node) console() http.Handler {
	return console.New(console.Config{
		Service: n.service, Activity: n.activity, Prefix: n.cfg.Store.Prefix, Settings: n.cfg.ShownSettings,
		TraceURL: n.cfg.TraceURL, Config: frame.Config{
			Sections: n.cfg.Sections, Ready: n.Ready, Logger: n.log, Version: n.cfg.Version, AllowHost: n.cfg.AllowHost,
			MaxLive: min(rest.DefaultMaxTails, max(1, n.cfg.MaxConnections/4)),
			Observe: n.metrics.Requests("console"), Identify: n.authenticator.Find, Rate: n.cfg.Rate,
		},
	})
}

// endTails makes live tails end with stopped: nothing else would end them, and
// a shutdown would wait for them in vain.
func endTails(stopped context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !rest.Streams(r) {
			h.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(stopped, cancel)()
		h.ServeHTTP(w, r.WithContext(ctx)) //nolint:contextcheck // it is made of the request's, above
	})
}

// failure waits for the server to break down; nil when ctx is done first.
func (w *webServer) failure(ctx context.Context) error {
	select {
	case err := <-w.failed: // nil, and so never ready, without listener
		return err
	case <-ctx.Done():
		return nil
	}
}

// shutdown ends the server. Requests under way have their grace.
func (w *webServer) shutdown(ctx context.Context) {
	w.tails()
	if w.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, shutdownGrace)
	defer cancel()
	if w.server.Shutdown(ctx) != nil {
		_ = w.server.Close() // the remaining requests have had their time
	}
}

// complaints writes what net/http complains of into a log, a line each.
type complaints struct {
	log        *slog.Logger
	handshakes flow.RateLimitedLog // TLS failures, which any client can cause at any rate
}

// failedHandshake is the prefix of net/http's message.
var failedHandshake = []byte("http: TLS handshake error")

// Write logs a line.
func (c *complaints) Write(line []byte) (int, error) {
	level, omitted := slog.LevelWarn, 0
	if bytes.HasPrefix(line, failedHandshake) {
		level, omitted = c.handshakes.Level()
	}
	var others []any
	if omitted > 0 {
		others = append(others, "others", omitted)
	}
	c.log.Log(context.Background(), level, string(bytes.TrimSpace(line)), others...) //nolint:sloglint // what net/http says
	return len(line), nil
}

// newMetrics returns the metrics of n. They query n at each scrape, and only once it is open.
func (n *Node) newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Config{
		Version: n.cfg.Version, ActionTypes: n.actions.Types(), Load: n.store.Load,
		Worker: func() engine.Stats { return n.worker.Stats() }, Shut: n.health.count,
		ClockAhead: n.store.ClockAhead, Settings: n.cfg.Settings,
		Connection: func() metrics.Connection {
			return metrics.Connection{Connected: n.cfg.Conn.IsConnected(), Reconnects: n.cfg.Conn.Stats().Reconnects}
		},
	})
}

// both calls two functions; also may be nil.
func both(first, also func(*scheduler.Record)) func(*scheduler.Record) {
	if also == nil {
		return first
	}
	return func(r *scheduler.Record) {
		first(r)
		also(r)
	}
}

// kept is an answer that counts for a while for all who ask. It is safe for concurrent use.
type kept[T any] struct {
	mu    sync.Mutex
	at    time.Time
	value T
	err   error
	under chan struct{} // closed when the request in progress ends; nil: none is in progress
}

const (
	// keptWait is how long to wait for a new answer if the last one is not older than keptLate.
	keptWait = 20 * time.Millisecond
	keptLate = time.Minute
)

// get returns the answer, and requests a new one if the last one is older than lasts. Callers share the request,
// which does not end with a caller's context. They wait briefly; if it takes longer, the last answer is good
// enough.
func (k *kept[T]) get(ctx context.Context, lasts time.Duration, ask func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.at.IsZero() && time.Since(k.at) < lasts {
		return k.value, k.err
	}
	if k.under == nil {
		k.under = make(chan struct{})
		go k.ask(context.WithoutCancel(ctx), ask)
	}
	var late <-chan time.Time
	if !k.at.IsZero() && k.err == nil && time.Since(k.at) < keptLate {
		timer := time.NewTimer(keptWait)
		defer timer.Stop()
		late = timer.C
	}
	under := k.under
	k.mu.Unlock()
	select {
	case <-under:
	case <-late:
	}
	k.mu.Lock()
	return k.value, k.err
}

// ask has another answer.
func (k *kept[T]) ask(ctx context.Context, ask func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	value, err := ask(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.under)
	k.value, k.err, k.at, k.under = value, err, time.Now(), nil
}
