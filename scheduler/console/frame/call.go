package frame

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// A Call is a request to a page, and its answer.
type Call struct {
	Request *http.Request
	Writer  http.ResponseWriter

	// Who asks; [access.From] of the request's context tells the same. Nil on routes that are open to anybody.
	Who *access.Principal

	frame *Frame
	room  string
	token bool // who asks is known by the cookie of a sign-in
	lasts bool // the route is live
}

// How many bytes a form may have, and how many one that is no more than some documents of jobs, as a browser writes them: what
// is made of such a one costs more than to read it.
const (
	maxForm     = 4 << 20
	maxDocument = 256 << 10
)

// Context is that of the request. It is done when the browser has gone, and when who asks may not ask for it any more, or may
// do something else than when they asked.
func (c *Call) Context() context.Context { return c.Request.Context() }

// Lasting is the same for a change that must not be half done because the browser went on.
func (c *Call) Lasting() context.Context { return context.WithoutCancel(c.Context()) }

// Say returns a text of the catalogue.
func (c *Call) Say(key string, args ...any) string { return words.Say(key, args...) }

// May reports whether who asks has a right on a collection; "" is what belongs to none.
func (c *Call) May(right access.Right, collection string) bool {
	return c.Who != nil && access.May(c.Who, right, collection)
}

// Query returns a parameter of the address, without space around it.
func (c *Call) Query(name string) string { return strings.TrimSpace(c.Request.URL.Query().Get(name)) }

// Form returns what a form was filled with. A body that is too large or no form is a [Problem].
func (c *Call) Form() (url.Values, error) { return c.form(maxForm) }

// ShortForm is the same of a form that has documents of jobs, or less.
func (c *Call) ShortForm() (url.Values, error) { return c.form(maxDocument) }

func (c *Call) form(most int64) (url.Values, error) {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, most)
	if err := c.Request.ParseForm(); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, Problem{Status: http.StatusRequestEntityTooLarge, Text: c.Say("frame.large", Bytes(most))}
		}
		return nil, Problem{Status: http.StatusBadRequest, Text: c.Say("frame.form")}
	}
	return c.Request.PostForm, nil
}

// Zone is the time zone of the browser, as far as it is known: UTC on the first page.
func (c *Call) Zone() *time.Location {
	cookie, err := c.Request.Cookie(zoneCookie)
	if err != nil {
		return time.UTC
	}
	name, err := url.QueryUnescape(cookie.Value)
	if err != nil || len(name) > 64 {
		return time.UTC
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return time.UTC
	}
	return zone
}

// Redirect leads on to a path of the console, after something was done (303).
func (c *Call) Redirect(to string) error {
	c.Writer.Header().Set("Location", to)
	c.Writer.WriteHeader(http.StatusSeeOther)
	return nil
}

// The cookies. None but zoneCookie is seen by a script.
const (
	tokenCookie = "carillon-token"
	noteCookie  = "carillon-note"
	zoneCookie  = "carillon-zone"
)

// setCookie keeps something in the browser until it is closed, or for a time. 0 is until it is closed, and less forgets it.
func (c *Call) setCookie(name, value string, lasts time.Duration) {
	http.SetCookie(c.Writer, &http.Cookie{ //nolint:gosec // it is secure where the browser's connection is: dev serves plain HTTP
		Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.secure(),
		MaxAge: int(lasts / time.Second),
	})
}

// secure reports whether the browser came by HTTPS, also where a proxy takes that. A browser says so itself with each form. Who
// says what is not so gets a cookie that is kept from plain HTTP, or an address that is of no use.
func (c *Call) secure() bool {
	h := c.Request.Header
	return c.Request.TLS != nil || strings.EqualFold(h.Get("X-Forwarded-Proto"), "https") || strings.HasPrefix(h.Get("Origin"), "https://")
}

// Server is the address of this server, as the browser has it: https://scheduler.example.
func (c *Call) Server() string {
	if c.secure() {
		return "https://" + c.Request.Host
	}
	return "http://" + c.Request.Host
}

// Note has the next page say something, once: what was done. Of a long text it says the beginning and the end.
func (c *Call) Note(text string) {
	c.setCookie(noteCookie, url.QueryEscape(document.Cut(text, maxNote)), time.Minute)
}

// maxNote is how many bytes a note may have: browsers keep no cookie of more than 4 kB, and each may take three there.
const maxNote = 1200

// noted takes what the page before wanted to have said.
func (c *Call) noted() string {
	cookie, err := c.Request.Cookie(noteCookie)
	if err != nil {
		return ""
	}
	c.setCookie(noteCookie, "", -time.Second)
	text, _ := url.QueryUnescape(cookie.Value)
	return text
}

// answer is the handler of a route: it finds out who asks, and whether they may.
func (f *Frame) answer(route placed) http.Handler {
	operation := strings.TrimSuffix(route.Method+" "+route.Path, "{$}")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		out := &response{ResponseWriter: w}
		c := &Call{Request: r, Writer: out, frame: f, room: route.room}
		defer func() { //nolint:contextcheck // a call has the request's
			f.recovered(c, out, recover())
			if !out.live && route.Path != "" {
				f.cfg.Observe(operation, out.sent(), time.Since(begin))
			}
			f.log.DebugContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path,
				"status", out.sent(), "duration", time.Since(begin))
		}()
		err := f.do(c, route)                          //nolint:contextcheck // likewise
		c.Request = c.Request.WithContext(r.Context()) // that of the work is over
		switch {
		case err != nil && out.live:
			f.ended(c, err) //nolint:contextcheck // likewise
		case err != nil:
			c.fail(err) //nolint:contextcheck // likewise
		}
	})
}

func (f *Frame) do(c *Call, route placed) error {
	if cookie, err := c.Request.Cookie(tokenCookie); err == nil && c.Request.Header.Get("Authorization") == "" {
		c.Request = c.Request.Clone(c.Request.Context())
		c.Request.Header.Set("Authorization", "Bearer "+cookie.Value)
		c.token = true
	}
	if route.Right == access.Open {
		if !route.plain {
			c.Who, _ = f.cfg.Identify(c.Request) // for the menu
		}
		return route.Do(c)
	}
	who, err := f.cfg.Identify(c.Request)
	if err != nil {
		return err
	}
	c.Who = who
	if wait, ok := f.cfg.Rate.Allow(payer(who)); !ok {
		return &throttle.Exceeded{After: wait, Message: c.Say("frame.rate")}
	}
	ctx := access.With(c.Request.Context(), who)
	if who.Name != "" {
		ctx = service.WithCaller(ctx, who.String())
	} else {
		ctx = service.WithCaller(ctx, address(c.Request))
	}
	if err := access.Check(ctx, route.Right, c.Request.PathValue("c")); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := f.watchOver(c.Request, who, route.Right, cancel)
	defer stop()
	c.Request = c.Request.WithContext(ctx)
	if !route.Live {
		return route.Do(c)
	}
	c.lasts = true
	leave, err := c.Lasts()
	if err != nil {
		return c.Live().End(c.Describe(err))
	}
	defer leave()
	return route.Do(c)
}

// Background returns a context for work that goes on when the request is answered. It says who asked, and is done when they
// have a right no more, or others than they had. end is to be called when the work is over.
func (c *Call) Background(right access.Right) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context()))
	stop := c.frame.watchOver(c.Request.Clone(ctx), c.Who, right, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// askAgainEvery is how often who asks must still be allowed to, while they are answered: a live part lasts.
const askAgainEvery = 2 * time.Second

// watchOver ends a request whose caller may not ask for it any more, as when a token is revoked, or has other grants than who
// asked: which jobs are shown, and which are changed, was decided by these. The function returned stops it. A store that does
// not answer ends nothing.
func (f *Frame) watchOver(r *http.Request, asked *access.Principal, right access.Right, end func()) (stop func()) {
	ctx, cancel := context.WithCancel(r.Context())
	var again *time.Timer
	var mu sync.Mutex
	look := func() {
		who, err := f.cfg.Identify(r)
		_, unknown := errors.AsType[*access.Unknown](err)
		if unknown || err == nil && (!access.May(who, right, r.PathValue("c")) || !access.SameGrants(who, asked)) {
			end()
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			again.Reset(askAgainEvery)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	again = time.AfterFunc(askAgainEvery, look)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		cancel()
		again.Stop()
	}
}

// payer is whose requests count together, as in the APIs.
func payer(who *access.Principal) string {
	if who.ID == "" && who.Name == "" {
		return throttle.Network(who.Address)
	}
	return who.Via + " " + who.ID + " " + who.Name
}

// anybody is who asks where nobody is asked for anything.
func anybody(r *http.Request) (*access.Principal, error) {
	return access.Anybody(access.ViaOpen, address(r)), nil
}

func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
