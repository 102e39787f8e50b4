package frame

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// Root is the prefix of all paths except /, the overview.
const Root = "/console"

// JobPath returns the path of a job's page.
func JobPath(k scheduler.Key) string {
	return Root + "/jobs/" + url.PathEscape(k.Collection) + "/" + url.PathEscape(k.Job)
}

// RunPath returns the path of a run's page, by its occurrence: collection/job@instant.
func RunPath(occurrence string) string {
	job, at, _ := strings.Cut(occurrence, "@")
	return JobPath(scheduler.KeyIn("", job)) + "/runs/" + url.PathEscape(at)
}

// TargetPath returns the path of a target's page.
func TargetPath(name string) string { return Root + "/targets/" + url.PathEscape(name) }

// TraceURL is the URL of a trace in another program, with [TraceID] in place of the trace's ID; "": none.
type TraceURL string

// TraceID is the placeholder in a [TraceURL].
const TraceID = "{traceId}"

// Of returns the URL of the trace with an ID. An empty ID or an unset TraceURL has none: "".
func (u TraceURL) Of(id string) string {
	if id == "" {
		return ""
	}
	return strings.ReplaceAll(string(u), TraceID, id)
}

// Config configures a console. Sections are required.
type Config struct {
	// Sections are its parts, in the order of the menu.
	Sections []Section

	// Identify authenticates the caller. The error is a [*auth.Unknown] for an unknown caller, or one of the store.
	// Default: no authentication, full access.
	Identify func(r *http.Request) (*auth.Principal, error)

	// AllowHost decides which values of the header Host are accepted. Default: all.
	AllowHost func(host string) bool

	// Rate limits the requests of each caller. Default: no limit.
	Rate *throttle.Throttle

	// Ready returns nil if the process can serve requests, or the reason why not, which errors show. Default: always
	// ready.
	Ready func(ctx context.Context) error

	// Held returns the content of the banner of each page. It must be cheap. Default: no banner.
	Held func(ctx context.Context) control.Held

	// MaxLive limits the concurrent live answers, so that other requests keep their share of the connections; one
	// caller may have a quarter of them. Default: 256.
	MaxLive int

	// Observe is called after each request except live ones, with its operation, such as "GET /console/jobs", the
	// status, and the duration. It must not block. Default: no-op.
	Observe func(operation string, status int, took time.Duration)

	// Logger receives requests (at level debug) and defects. Default: discard.
	Logger *slog.Logger

	// Unlocked: sign-in is impossible, and no page mentions it. Default: false.
	Unlocked bool

	// Version is shown at the foot of each page. Default: dev.
	Version string
}

// A Section is a part of the console.
type Section struct {
	// Name is the folder of its assets and identifies its menu entry.
	Name string

	// Path is the target of the menu entry, and Key the letter that opens it after "g". Without a path, the section has no
	// menu entry. The label is the text NAME.menu.
	Path, Key string

	// Right is required to see the menu entry.
	Right auth.Right

	Routes []Route

	// Views are the parameters that a shared view of its page can have. Default: none; its page has no shared views.
	Views []string

	// Ranged: its page takes the time range of another page.
	Ranged bool

	// Assets are its scripts and styles, if any; see [Page].
	Assets fs.FS
}

// A Route is an operation of a section.
type Route struct {
	Method string
	Path   string // a pattern of [http.ServeMux]; {c} is a collection
	Right  auth.Right
	Do     func(*Request) error

	// Live: it answers with [Call.Live] for an unlimited time. MaxLive limits such requests.
	Live bool
}

// Get returns the route of a page.
func Get(path string, right auth.Right, do func(*Request) error) Route {
	return Route{Method: http.MethodGet, Path: path, Right: right, Do: do}
}

// Post returns the route of a change.
func Post(path string, right auth.Right, do func(*Request) error) Route {
	return Route{Method: http.MethodPost, Path: path, Right: right, Do: do}
}

// Stream returns the route of a live answer.
func Stream(path string, right auth.Right, do func(*Request) error) Route {
	return Route{Method: http.MethodGet, Path: path, Right: right, Do: do, Live: true}
}

// Frame serves a console. It is safe for concurrent use.
type Frame struct {
	cfg    Config
	log    *slog.Logger
	assets assets
	guard  guard.Guard
	mux    *http.ServeMux
	live   *throttle.Places
}

// New returns a console. It does no I/O. It panics if sections conflict, which is a defect of the program.
func New(cfg Config) *Frame {
	cfg.Version = cmp.Or(cfg.Version, "dev")
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Identify == nil {
		cfg.Identify = guard.Anonymous
	}
	if cfg.Ready == nil {
		cfg.Ready = func(context.Context) error { return nil }
	}
	if cfg.Held == nil {
		cfg.Held = func(context.Context) (none control.Held) { return none }
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string, int, time.Duration) {}
	}
	f := &Frame{
		cfg: cfg, log: cfg.Logger, mux: http.NewServeMux(), live: throttle.NewPlaces(cmp.Or(cfg.MaxLive, maxLive)),
		guard: guard.Guard{Identify: cfg.Identify, Rate: cfg.Rate, Limited: words.Text("frame.rate"), Grants: true},
	}
	f.assets = f.gather()
	routes := f.own()
	for _, section := range cfg.Sections {
		for _, route := range section.Routes {
			if !route.Right.Valid() {
				panic(fmt.Sprintf("console: %s %s asks for no right", route.Method, route.Path))
			}
			routes = append(routes, placed{Route: route, section: section.Name})
		}
	}
	all := guard.Routes{}
	for _, route := range routes {
		methods := []string{route.Method}
		if route.Method == http.MethodGet && !route.Live { // HEAD of a live answer would not end
			methods = append(methods, http.MethodHead)
		}
		all.Add(route.Path, f.answer(route), methods...)
	}
	all.Register(f.mux, func(_, allow string) http.Handler {
		return f.answer(placed{Route: Route{Right: auth.Open, Do: func(c *Request) error {
			return Problem{Status: http.StatusMethodNotAllowed, Text: c.Text("frame.method", c.Request.Method, allow)}
		}}})
	})
	f.mux.Handle("/", f.answer(placed{Route: Route{Right: auth.Open, Do: func(c *Request) error {
		if to := f.nearby(c.Request); to != "" {
			return c.Redirect(to)
		}
		return Problem{Status: http.StatusNotFound, Text: c.Text("frame.nothing", c.Request.URL.Path), Hint: c.Text("frame.nothing.hint")}
	}}}))
	return f
}

// nearby returns the likely intended page of a path with a trailing slash, or of the root; "" for none.
func (f *Frame) nearby(r *http.Request) string {
	to := url.URL{Path: strings.TrimSuffix(r.URL.Path, "/"), RawQuery: r.URL.RawQuery}
	if r.Method != http.MethodGet || to.Path == r.URL.Path || !strings.HasPrefix(r.URL.Path, Root+"/") {
		return ""
	}
	if to.Path == Root {
		to.Path = "/"
		return to.String()
	}
	if _, pattern := f.mux.Handler(&http.Request{Method: http.MethodGet, URL: &to}); pattern == "/" {
		return ""
	}
	return to.String()
}

// maxLive is the default of Config.MaxLive.
const maxLive = 256

// placed is a route with its section.
type placed struct {
	Route

	section string
	plain   bool // no menu and no authentication: an invalid token would otherwise count once per asset
}

// ServeHTTP answers a request for / or a path below [Root].
func (f *Frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if text := guard.UnknownHost(f.cfg.AllowHost, r); text != "" {
		http.Error(w, text, http.StatusMisdirectedRequest)
		return
	}
	if fromElsewhere(r) {
		http.Error(w, "this is not for pages of other origins; they may only lead here", http.StatusForbidden)
		return
	}
	origins.Handler(f.mux).ServeHTTP(w, r)
}

// fromElsewhere reports whether a page of another origin embeds the answer, as an image, a frame or a live part,
// instead of linking to it. It could measure the duration of the request and exhaust its limits.
func fromElsewhere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		(r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document")
}

// origins refuses changes requested by pages of other origins.
var origins = http.NewCrossOriginProtection()

// protect sets headers that keep a browser from loading content of other servers and from embedding the page elsewhere.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// Guarded runs work in addition to the request of a call. It converts a panic to a logged error, because a panic would
// end the process.
func Guarded[T any](c *Request, work func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.frame.log.Error("work in the background panicked", "section", c.section, "err", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return work()
}
