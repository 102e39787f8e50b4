package rest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// Config configures the API. Service is required.
type Config struct {
	Service *control.Service

	// Ready returns nil if the process can serve requests, or the reason why not. /readyz calls it. Default: always
	// ready.
	Ready func(ctx context.Context) error

	// Degraded returns a risk that threatens to make a ready process unavailable, and its fix; "" for none. Default:
	// none.
	Degraded func() string

	// AllowHost decides which values of the header Host are accepted. It protects against web pages whose names resolve
	// to this server (DNS rebinding). Default: all.
	AllowHost func(host string) bool

	// Identify authenticates the caller. The error is a [*auth.Unknown] for an unknown caller, or one of the store.
	// Default: no authentication, full access.
	Identify func(r *http.Request) (*auth.Principal, error)

	// Rate limits the requests of each caller: a token, a user of an issuer, a certificate or, without authentication,
	// an address. Open endpoints are exempt. Default: no limit.
	Rate *throttle.Throttle

	// MaxTails limits the concurrent live tails; one caller, identified by its address, may have a quarter of them.
	// Default: [DefaultMaxTails].
	MaxTails int

	// Metrics serves /metrics to callers who may see everything. Default: not found.
	Metrics http.Handler

	// Observe is called after each request except live tails, with the operation as in the documentation ("other" for
	// an unknown one), the status, and the duration. It must not block. Default: no-op.
	Observe func(operation string, status int, took time.Duration)

	// Webhook is called after each request for an enabled webhook of a source, with the status of the answer. problem is ""
	// if the event is stored, or is a duplicate. It must not block. Default: no-op.
	Webhook func(k scheduler.Key, status int, duplicate bool, problem string)

	// Tracer creates spans for requests except live tails and probes. Default: no tracing.
	Tracer *tracing.Tracer

	// Logger receives requests (at level debug) and defects. Default: discard.
	Logger *slog.Logger

	// Version is part of the header Server and of /healthz. Default: dev.
	Version string
}

func (c Config) withDefaults() Config {
	if c.MaxTails <= 0 {
		c.MaxTails = DefaultMaxTails
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) error { return nil }
	}
	if c.Degraded == nil {
		c.Degraded = func() string { return "" }
	}
	if c.Observe == nil {
		c.Observe = func(string, int, time.Duration) {}
	}
	if c.Webhook == nil {
		c.Webhook = func(scheduler.Key, int, bool, string) {}
	}
	if c.Identify == nil {
		c.Identify = guard.Anonymous
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.Version = cmp.Or(c.Version, "dev")
	return c
}

// server serves the requests.
type server struct {
	Config

	guard    guard.Guard
	tails    *tailCount
	hooks    *throttle.Throttle
	hookLog  flow.RateLimitedLog
	document func() constant
}

// New returns the API's handler, which is safe for concurrent use.
func New(cfg Config) http.Handler {
	cfg = cfg.withDefaults()
	a := &server{
		Config: cfg, tails: newTailCount(cfg.MaxTails), hooks: throttle.New(0, 1),
		guard: guard.Guard{
			Identify: cfg.Identify, Rate: cfg.Rate,
			Limited: "too many concurrent requests; wait a moment, or have --http-rate raised",
		},
	}
	a.document = sync.OnceValue(func() constant { return newConstant("application/json", OpenAPI(a.Version)) })
	mux := http.NewServeMux()
	a.register(mux)
	mux.Handle("/api/v2/", a.handler(noAWX, (*server).refuseAWX))
	mux.Handle("/", a.handler(func(_ *server, _ http.ResponseWriter, r *http.Request) error {
		return fault{http.StatusNotFound, "UnknownRoute", "nothing exists at " + r.URL.Path}
	}, (*server).refuse))
	origins := http.NewCrossOriginProtection()
	origins.AddInsecureBypassPattern(hookPattern)
	origins.SetDenyHandler(a.handler(func(*server, http.ResponseWriter, *http.Request) error {
		return errCrossOrigin
	}, (*server).refuse))
	return a.observe(a.hosts(cfg.AllowHost, origins.Handler(a.plain(armSpelled(mux)))))
}

var errCrossOrigin = fault{http.StatusForbidden, "CrossOrigin", "a page of another origin may not do this"}

// hosts refuses requests for host names that are not allowed, except webhooks; nil allows all.
func (a *server) hosts(allowed func(host string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := guard.UnknownHost(allowed, r); text != "" && !isHook(r) {
			a.refuse(w, r, fault{http.StatusMisdirectedRequest, "UnknownHost", text})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Unclean reports whether a path has a part that is empty, "." or "..". A mux would redirect it to the path of another
// job or collection. [New]'s handler refuses it.
func Unclean(p string) bool {
	p = strings.TrimSuffix(p, "/")
	return p != "" && p != path.Clean(p)
}

// plain refuses unclean paths.
func (a *server) plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Unclean(r.URL.Path) {
			a.refuse(w, r, fault{http.StatusNotFound, "UnknownRoute", fmt.Sprintf(
				"nothing exists at %s: no part of a path may be empty, . or ..", r.URL.EscapedPath(),
			)})
			return
		}
		next.ServeHTTP(w, r)
	})
}
