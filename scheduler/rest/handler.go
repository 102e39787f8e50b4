package rest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// Config says what the API serves. Service is required.
type Config struct {
	Service *service.Service

	// Ready returns nil when the process can serve, or why it cannot; /readyz
	// asks it. Default: always ready.
	Ready func(ctx context.Context) error

	// Degraded is why a process that can serve may soon not be able to, and what
	// to do about it; "" for no reason. Default: none.
	Degraded func() string

	// AllowHost decides which names the API answers to, as they stand in the
	// header Host. It keeps out pages of the web whose names lead here. Default:
	// all.
	AllowHost func(host string) bool

	// Identify finds out who asks. The error is a [*access.Unknown] when that is not known, or the store's. Default:
	// nobody is asked for anything, and everybody may do everything.
	Identify func(r *http.Request) (*access.Principal, error)

	// Rate bounds the requests of each of those who ask: each token, user of an issuer and certificate or, where nobody is
	// asked, each address. What is answered to anybody does not count. Default: as many as they like.
	Rate *throttle.Throttle

	// MaxTails is how many live tails there may be at once; one caller, told by
	// its address, may have a quarter of them. Default [DefaultMaxTails].
	MaxTails int

	// Metrics answers at /metrics those who may see everything. Default: there is nothing.
	Metrics http.Handler

	// Observe is called after each request but live tails, with the operation as it stands in the documentation ("other"
	// of what is none), the status, and how long it took. It must not block. Default: none.
	Observe func(operation string, status int, took time.Duration)

	// Tracer tells of requests but live tails and probes. Default: nothing is traced.
	Tracer *tracing.Tracer

	// Logger takes requests (at level debug) and defects. Default: discard.
	Logger *slog.Logger

	// Version is part of the header Server and of /healthz. Default dev.
	Version string
}

// server serves the requests.
type server struct {
	service  *service.Service
	ready    func(ctx context.Context) error
	degraded func() string
	identify func(r *http.Request) (*access.Principal, error)
	rate     *throttle.Throttle
	tails    *tailCount
	metrics  http.Handler
	observed func(operation string, status int, took time.Duration)
	tracer   *tracing.Tracer
	document func() constant
	log      *slog.Logger
	version  string
}

// New returns the API's handler. It serves any number of requests at once.
func New(cfg Config) http.Handler {
	a := &server{
		service: cfg.Service, ready: cfg.Ready, degraded: cfg.Degraded, identify: cfg.Identify, rate: cfg.Rate,
		metrics: cfg.Metrics, observed: cfg.Observe, tracer: cfg.Tracer, log: cfg.Logger, version: cfg.Version,
	}
	if cfg.MaxTails <= 0 {
		cfg.MaxTails = DefaultMaxTails
	}
	a.tails = newTailCount(cfg.MaxTails)
	if a.ready == nil {
		a.ready = func(context.Context) error { return nil }
	}
	if a.degraded == nil {
		a.degraded = func() string { return "" }
	}
	if a.observed == nil {
		a.observed = func(string, int, time.Duration) {}
	}
	if a.identify == nil {
		a.identify = anybody
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.version == "" {
		a.version = "dev"
	}
	a.document = sync.OnceValue(func() constant { return newConstant("application/json", OpenAPI(a.version)) })
	mux := http.NewServeMux()
	a.register(mux)
	mux.Handle("/api/v2/", a.handler(noAWX, (*server).refuseAWX))
	mux.Handle("/", a.handler(func(_ *server, _ http.ResponseWriter, r *http.Request) error {
		return fault{http.StatusNotFound, "UnknownRoute", "there is nothing at " + r.URL.Path}
	}, (*server).refuse))
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(a.handler(func(*server, http.ResponseWriter, *http.Request) error {
		return fault{http.StatusForbidden, "CrossOrigin", "a page of another origin may not do this"}
	}, (*server).refuse))
	return a.observe(a.hosts(cfg.AllowHost, guard.Handler(a.plain(armSpelled(mux)))))
}

// hosts refuses requests to other names than those that are allowed; nil allows all.
func (a *server) hosts(allowed func(host string) bool, next http.Handler) http.Handler {
	if allowed == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowed(r.Host) {
			a.refuse(w, r, fault{http.StatusMisdirectedRequest, "UnknownHost", fmt.Sprintf(
				"%q is not a name of this server; start it with --allowed-host if it is", r.Host,
			)})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Unclean reports whether a path has parts that are empty, "." or "..". A mux would send it on to another path: that of another job or
// collection than the one that was named. [New]'s handler refuses it.
func Unclean(p string) bool {
	p = strings.TrimSuffix(p, "/")
	return p != "" && p != path.Clean(p)
}

// plain refuses unclean paths.
func (a *server) plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Unclean(r.URL.Path) {
			a.refuse(w, r, fault{http.StatusNotFound, "UnknownRoute", fmt.Sprintf(
				"there is nothing at %s: no part of a path is empty, . or ..", r.URL.EscapedPath(),
			)})
			return
		}
		next.ServeHTTP(w, r)
	})
}
