package frame

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// Root is the path below which everything is but the overview, which is at /.
const Root = "/console"

// JobPath is where the page of a job is.
func JobPath(k scheduler.Key) string {
	return Root + "/jobs/" + url.PathEscape(k.Collection) + "/" + url.PathEscape(k.Job)
}

// Config says what a console has. Rooms are required.
type Config struct {
	// Rooms are its parts, in the order of the menu.
	Rooms []Room

	// Identify finds out who asks. The error is a [*access.Unknown] when that is not known, or the store's. Default: nobody
	// is asked for anything, and everybody may do everything.
	Identify func(r *http.Request) (*access.Principal, error)

	// AllowHost decides which names it answers to, as they stand in the header Host. Default: all.
	AllowHost func(host string) bool

	// Rate bounds the requests of each of those who ask. Default: as many as they like.
	Rate *throttle.Throttle

	// Ready returns nil when the process can serve, or why it cannot: errors tell it. Default: always ready.
	Ready func(ctx context.Context) error

	// MaxLive is how many live answers there may be at once, so that the connections of the others have their part; one
	// caller may have a quarter of them. Default 256.
	MaxLive int

	// Observe is called after each request but live ones, with its operation, such as "GET /console/jobs", the status, and
	// how long it took. It must not block. Default: none.
	Observe func(operation string, status int, took time.Duration)

	// Logger takes requests (at level debug) and defects. Default: discard.
	Logger *slog.Logger

	// Unlocked says that there is no way to have people sign in, so that no page tells of one. Default: there is.
	Unlocked bool

	// Version is shown at the foot of each page. Default dev.
	Version string
}

// A Room is a part of the console.
type Room struct {
	// Name is the folder of its assets, and what the menu marks as current.
	Name string

	// Path is where the menu leads, and Key the letter that leads there after "g". Without a path it is not in the menu. The
	// menu shows the text NAME.menu.
	Path, Key string

	// Right is what somebody needs to have it in the menu.
	Right access.Right

	Routes []Route

	// Assets are its scripts and styles, if it has any: [Page] names them.
	Assets fs.FS
}

// A Route is an operation of a room.
type Route struct {
	Method string
	Path   string // a pattern of [http.ServeMux]; {c} is a collection
	Right  access.Right
	Do     func(*Call) error

	// Live says that it answers with [Call.Live], for as long as its reader wants: there are only so many at once.
	Live bool
}

// Frame serves a console. It may be used by any number of requests at once.
type Frame struct {
	cfg    Config
	log    *slog.Logger
	assets assets
	mux    *http.ServeMux
	live   *throttle.Places
}

// New returns a console. It does no I/O. It panics when rooms contradict each other, which is a mistake of the program.
func New(cfg Config) *Frame {
	cfg.Version = cmp.Or(cfg.Version, "dev")
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Identify == nil {
		cfg.Identify = anybody
	}
	if cfg.Ready == nil {
		cfg.Ready = func(context.Context) error { return nil }
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string, int, time.Duration) {}
	}
	f := &Frame{cfg: cfg, log: cfg.Logger, mux: http.NewServeMux(), live: throttle.NewPlaces(cmp.Or(cfg.MaxLive, maxLive))}
	f.assets = f.gather()
	routes := f.own()
	for _, room := range cfg.Rooms {
		for _, route := range room.Routes {
			if !route.Right.Valid() {
				panic(fmt.Sprintf("console: %s %s asks for no right", route.Method, route.Path))
			}
			routes = append(routes, placed{Route: route, room: room.Name})
		}
	}
	paths := map[string]map[string]placed{}
	for _, route := range routes {
		if paths[route.Path] == nil {
			paths[route.Path] = map[string]placed{}
		}
		paths[route.Path][route.Method] = route
		if route.Method == http.MethodGet && !route.Live { // of which a head would have no end
			paths[route.Path][http.MethodHead] = route
		}
	}
	for path, methods := range paths {
		f.mux.Handle(path, f.byMethod(methods))
	}
	f.mux.Handle("/", f.answer(placed{Route: Route{Right: access.Open, Do: func(c *Call) error {
		if to := f.nearby(c.Request); to != "" {
			return c.Redirect(to)
		}
		return Problem{Status: http.StatusNotFound, Text: c.Say("frame.nothing", c.Request.URL.Path), Hint: c.Say("frame.nothing.hint")}
	}}}))
	return f
}

// nearby is the page that somebody means who writes a slash at the end of its address, or asks for the root of all: "" for none.
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

// maxLive is how many live answers there may be if nothing is said.
const maxLive = 256

// placed is a route with its room.
type placed struct {
	Route

	room  string
	plain bool // it has no menu, and nobody is asked who they are: a token that is not taken would count for each asset
}

// byMethod answers with the route of a request's method.
func (f *Frame) byMethod(methods map[string]placed) http.Handler {
	allow := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	refuse := f.answer(placed{Route: Route{Right: access.Open, Do: func(c *Call) error {
		c.Writer.Header().Set("Allow", allow)
		return Problem{Status: http.StatusMethodNotAllowed, Text: c.Say("frame.method", c.Request.Method, allow)}
	}}})
	handlers := map[string]http.Handler{}
	for method, route := range methods {
		handlers[method] = f.answer(route)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := handlers[r.Method]; h != nil {
			h.ServeHTTP(w, r)
			return
		}
		refuse.ServeHTTP(w, r)
	})
}

// ServeHTTP answers a request for / or what is below [Root].
func (f *Frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if f.cfg.AllowHost != nil && !f.cfg.AllowHost(r.Host) {
		text := fmt.Sprintf("%q is not a name of this server; start it with --allowed-host if it is", r.Host)
		http.Error(w, text, http.StatusMisdirectedRequest)
		return
	}
	if fromElsewhere(r) {
		http.Error(w, "this is not for pages of other origins; they may only lead here", http.StatusForbidden)
		return
	}
	guard.Handler(f.mux).ServeHTTP(w, r)
}

// fromElsewhere reports whether a page of another origin wants to have something, instead of leading there: an image, a frame, a
// live part. It could not see it, but the time that it takes; and what it asks for would take places from others.
func fromElsewhere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		(r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document")
}

// guard refuses what pages of other origins ask to be changed.
var guard = http.NewCrossOriginProtection()

// protect sets what tells a browser to take nothing from elsewhere, and to show this in nobody else's page.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
