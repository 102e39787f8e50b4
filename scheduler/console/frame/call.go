package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/guard"
)

// A Request is a request for a page, and its answer.
type Request struct {
	Request *http.Request
	Writer  http.ResponseWriter

	// Who is the caller, as in [auth.From] of the request's context; nil on open routes.
	Who *auth.Principal

	frame   *Frame
	section string
	token   bool // the caller signed in with a cookie
	lasts   bool // the route is live

	streams bool // the live answer has begun

	takes []string // the parameters of the URL that the page has read
	wrong []string // problems of the parameters
}

// Limits of form bodies, in bytes: for any form, and for one with at most a few job documents in a browser's encoding.
// Processing the latter costs more than reading it.
const (
	maxForm     = 4 << 20
	maxDocument = 256 << 10
)

// Context returns the context of the request. It ends when the browser disconnects, and when the caller's rights
// change.
func (c *Request) Context() context.Context { return c.Request.Context() }

// Lasting returns a context for a change that must be completed even if the browser disconnects.
func (c *Request) Lasting() context.Context { return context.WithoutCancel(c.Context()) }

// Text returns a text of the catalogue.
func (c *Request) Text(key string, args ...any) string { return words.Text(key, args...) }

// May reports whether the caller has a right on a collection; "" stands for objects without a collection.
func (c *Request) May(right auth.Right, collection string) bool {
	return c.Who != nil && auth.May(c.Who, right, collection)
}

// Params returns the parameters of the URL. The page takes those with these names, and reports parameters that nothing
// reads.
func (c *Request) Params(names ...string) url.Values {
	c.takes = append(c.takes, names...)
	return c.Request.URL.Query()
}

// Query returns a trimmed parameter of the URL.
func (c *Request) Query(name string) string { return strings.TrimSpace(c.Params(name).Get(name)) }

// Choice returns a parameter of the URL that is empty or one of some words. The page reports and ignores another value.
func (c *Request) Choice(name string, of ...string) string {
	value := c.Query(name)
	if value != "" && !slices.Contains(of, value) {
		c.wrong = append(c.wrong, NotOneOf(name, value, of))
		return ""
	}
	return value
}

// NotOneOf says that a parameter has another value than the words that it takes.
func NotOneOf[T ~string](name, value string, of []T) string {
	return words.Text("frame.parameter.value", name, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(of)), ", "), "[]"), Visible(value))
}

// misread returns the problems of the parameters of the URL.
func (c *Request) misread() []string {
	for _, name := range slices.Sorted(maps.Keys(c.Request.URL.Query())) {
		if !slices.Contains(c.takes, name) {
			slices.Sort(c.takes)
			takes := cmp.Or(strings.Join(slices.Compact(c.takes), ", "), c.Text("common.none"))
			c.wrong = append(c.wrong, c.Text("frame.parameter.unknown", Visible(name), takes))
		}
	}
	return c.wrong
}

// WithForm returns a handler that passes the submitted form to do. The error of an invalid or too large body is a [Problem].
func WithForm(do func(*Request, url.Values) error) func(*Request) error { return withForm(maxForm, do) }

// WithShortForm is [WithForm] for a form with job documents or less.
func WithShortForm(do func(*Request, url.Values) error) func(*Request) error {
	return withForm(maxDocument, do)
}

func withForm(most int64, do func(*Request, url.Values) error) func(*Request) error {
	return func(c *Request) error {
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, most)
		err := c.Request.ParseForm()
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return Problem{Status: http.StatusRequestEntityTooLarge, Text: c.Text("frame.large", Bytes(most))}
		}
		if err != nil {
			return Problem{Status: http.StatusBadRequest, Text: c.Text("frame.form")}
		}
		return do(c, c.Request.PostForm)
	}
}

// Zone returns the time zone of the browser, UTC if it is unknown, as on the first page.
func (c *Request) Zone() *time.Location {
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

// Address returns the URL of a path with parameters: v, and pairs of a name and a value. It omits empty values.
func Address(path string, v url.Values, pairs ...string) string {
	all := url.Values{}
	for name, values := range v {
		for _, value := range values {
			if value != "" {
				all.Add(name, value)
			}
		}
	}
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			all.Set(pair[0], pair[1])
		}
	}
	if len(all) == 0 {
		return path
	}
	return path + "?" + all.Encode()
}

// Collections returns the names of the collections on which the caller has a right.
func (c *Request) Collections(s *control.Service, right auth.Right) (names []string, err error) {
	all, err := s.Collections(c.Context())
	for _, one := range all {
		if c.May(right, one.Name) {
			names = append(names, one.Name)
		}
	}
	return names, err
}

// Seen returns which collections the caller may see, and a key that differs for callers with other rights.
func (c *Request) Seen(s *control.Service) (sees func(collection string) bool, whose string, err error) {
	names, err := c.Collections(s, auth.Read)
	if err != nil {
		return nil, "", err
	}
	return func(collection string) bool { return slices.Contains(names, collection) }, strings.Join(names, ","), nil
}

// Redirect redirects to a path of the console after a change (303).
func (c *Request) Redirect(to string) error {
	c.Writer.Header().Set("Location", to)
	c.Writer.WriteHeader(http.StatusSeeOther)
	return nil
}

// Done redirects to a page that shows a note.
func (c *Request) Done(note, to string) error {
	c.Note(note)
	return c.Redirect(to)
}

// Lead redirects like [Call.Redirect]. A script that requests a part navigates itself, so that a note appears once.
func (c *Request) Lead(to string) error {
	if !c.Part() {
		return c.Redirect(to)
	}
	c.Writer.Header().Set("X-Carillon-Go", to)
	c.Writer.WriteHeader(http.StatusNoContent)
	return nil
}

// The cookies. Scripts can read zoneCookie only.
const (
	tokenCookie = "carillon-token"
	noteCookie  = "carillon-note"
	zoneCookie  = "carillon-zone"
)

// setCookie sets a cookie for a duration. 0 keeps it until the browser is closed; a negative duration removes it.
func (c *Request) setCookie(name, value string, lasts time.Duration) {
	http.SetCookie(c.Writer, &http.Cookie{ //nolint:gosec // it is secure where the browser's connection is: dev serves plain HTTP
		Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.secure(),
		MaxAge: int(lasts / time.Second),
	})
}

// secure reports whether the browser's connection uses HTTPS, possibly to a proxy. Each form of a browser states its
// origin. A client that forges it gets a cookie that is not sent over plain HTTP, or a useless URL.
func (c *Request) secure() bool {
	h := c.Request.Header
	return c.Request.TLS != nil || strings.EqualFold(h.Get("X-Forwarded-Proto"), "https") || strings.HasPrefix(h.Get("Origin"), "https://")
}

// Server returns the address of this server as seen by the browser: https://scheduler.example.
func (c *Request) Server() string {
	if c.secure() {
		return "https://" + c.Request.Host
	}
	return "http://" + c.Request.Host
}

// Note makes the next page show a message once. It shortens a long text in the middle.
func (c *Request) Note(text string) {
	c.setCookie(noteCookie, url.QueryEscape(document.Cut(text, maxNote)), time.Minute)
}

// maxNote limits a note, in bytes: browsers limit a cookie to 4 kB, and encoding may triple the length.
const maxNote = 1200

// noted returns and removes the note of the previous page.
func (c *Request) noted() string {
	cookie, err := c.Request.Cookie(noteCookie)
	if err != nil {
		return ""
	}
	c.setCookie(noteCookie, "", -time.Second)
	text, _ := url.QueryUnescape(cookie.Value)
	return text
}

// answer returns the handler of a route, which authenticates and authorizes the caller.
func (f *Frame) answer(route placed) http.Handler {
	operation := strings.TrimSuffix(route.Method+" "+route.Path, "{$}")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		out := &guard.Recorder{ResponseWriter: w}
		c := &Request{Request: r, Writer: out, frame: f, section: route.section}
		defer func() { //nolint:contextcheck // a call has the request's
			out.Recovered(c.Context(), recover(), f.log, c.Request, c.fail)
			if !c.streams && route.Path != "" {
				f.cfg.Observe(operation, out.Status(), time.Since(begin))
			}
			f.log.DebugContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path,
				"status", out.Status(), "duration", time.Since(begin))
		}()
		err := f.do(c, route)                          //nolint:contextcheck // likewise
		c.Request = c.Request.WithContext(r.Context()) // the context of the work has ended
		switch {
		case err != nil && c.streams:
			f.ended(c, err) //nolint:contextcheck // likewise
		case err != nil:
			c.fail(err) //nolint:contextcheck // likewise
		}
	})
}

func (f *Frame) do(c *Request, route placed) error {
	if cookie, err := c.Request.Cookie(tokenCookie); err == nil && c.Request.Header.Get("Authorization") == "" {
		c.Request = c.Request.Clone(c.Request.Context())
		c.Request.Header.Set("Authorization", "Bearer "+cookie.Value)
		c.token = true
	}
	if route.Right == auth.Open {
		if !route.plain {
			c.Who, _ = f.cfg.Identify(c.Request) // for the menu
		}
		return route.Do(c)
	}
	who, err := f.guard.Identify(c.Request)
	if err != nil {
		return err
	}
	c.Who = who
	in, leave, err := f.guard.Admit(c.Request, who, route.Right, c.Request.PathValue("c"))
	if err != nil {
		return err
	}
	defer leave()
	c.Request = in
	if !route.Live {
		return route.Do(c)
	}
	c.lasts = true
	free, err := c.Lasts()
	if err != nil {
		return c.Live().End(c.Describe(err))
	}
	defer free()
	return route.Do(c)
}

// Background returns a context for work that continues after the request. It has the caller and ends when the caller's
// rights change. Call end when the work is completed.
func (c *Request) Background(right auth.Right) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context()))
	stop := c.frame.guard.Watch(c.Request.Clone(ctx), c.Who, right, c.Request.PathValue("c"), cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

const signInPath, signOutPath = Root + "/sign-in", Root + "/sign-out"

// own returns the routes of the frame.
func (f *Frame) own() []placed {
	open := func(method, path string, do func(*Request) error) placed {
		return placed{Route: Route{Method: method, Path: path, Right: auth.Open, Do: do}}
	}
	assets := open(http.MethodGet, Root+"/assets/{version}/{path...}", f.assets.serve)
	assets.plain = true
	if f.cfg.Unlocked { // a typed token would have no effect and remain stored
		return []placed{assets}
	}
	return []placed{
		assets,
		open(http.MethodGet, signInPath, func(c *Request) error { return c.signIn("") }),
		open(http.MethodPost, signInPath, WithShortForm(f.takeToken)),
		open(http.MethodPost, signOutPath, func(c *Request) error {
			c.setCookie(tokenCookie, "", -time.Second)
			return c.Redirect(signInPath)
		}),
	}
}

// asking is the input of the sign-in form.
type asking struct {
	Why  string // problem of the previous attempt
	Next string // target after the sign-in
	Open bool   // authentication is currently disabled
}

// maxToken limits a token, in bytes: browsers store no much longer cookie.
const maxToken = 4000

// signIn shows the sign-in form; why is the problem of the previous attempt.
func (c *Request) signIn(why string) error {
	next := c.Request.URL.RequestURI()
	if c.Request.URL.Path == signInPath || c.Request.Method != http.MethodGet {
		next = c.Query("next")
	}
	status := http.StatusUnauthorized
	if why == "" {
		status = http.StatusOK
	}
	if _, err := c.Request.Cookie(tokenCookie); err != nil && c.Request.Method == http.MethodGet {
		why = "" // no attempt yet
	}
	return c.showSignIn(status, why, safe(next))
}

// takeToken stores a valid token in the browser.
func (f *Frame) takeToken(c *Request, form url.Values) error {
	token := strings.TrimSpace(form.Get("token"))
	asked := c.Request.Clone(c.Context())
	asked.Header.Set("Authorization", "Bearer "+token)
	next := safe(form.Get("next"))
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`";,\`, r) }) || token == "" {
		return c.showSignIn(http.StatusUnauthorized, c.Text("frame.signin.form"), next)
	}
	if len(token) > maxToken {
		return c.showSignIn(http.StatusUnauthorized, c.Text("frame.signin.long", Bytes(maxToken)), next)
	}
	_, err := f.cfg.Identify(asked)
	if unknown, ok := errors.AsType[*auth.Unknown](err); ok {
		return c.showSignIn(http.StatusUnauthorized, unknown.Error(), next)
	}
	if err != nil {
		return err
	}
	c.setCookie(tokenCookie, token, 0)
	return c.Redirect(next)
}

// showSignIn shows the form, with the problem of an attempt.
func (c *Request) showSignIn(status int, why, next string) error {
	return c.Show(&Page{Status: status, Title: c.Text("frame.signin"), Template: signInPage, Data: asking{why, next, c.Open()}})
}

// safe returns next if it is a path of the console, else /, so that a form cannot redirect to another site.
func safe(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.Path != "/" && !strings.HasPrefix(u.Path, Root+"/") || strings.HasPrefix(next, "//") ||
		strings.ContainsAny(next, "\\\r\n") || u.Path == signInPath || u.Path == signOutPath {
		return "/"
	}
	return next
}
