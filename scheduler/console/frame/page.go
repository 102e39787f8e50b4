package frame

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// A Page is an HTML answer.
type Page struct {
	Status   int    // default: 200
	Title    string // of the document, and its first heading unless NoHeading is set
	Template Set
	Data     any

	// Main is the template in the layout, below the heading. The template "above", if any, is above the heading. Default:
	// main.
	Main string

	// Part is a template that is sent instead, without the layout. Default: none.
	Part string

	// Fragment is the default of Part for a script that requests a part.
	Fragment string

	// Range is the time range that the menu passes on; nil: none.
	Range *TimeRange

	// NoHeading is for templates that contain the first heading.
	NoHeading bool

	// Scripts and Styles are assets of the page in addition to the common ones: "jobs/jobs.js".
	Scripts, Styles []string
}

//go:embed templates
var templates embed.FS

// own are the templates of the frame; "main" shows a [Problem].
var own = Templates(templates, "templates/problem.html")

// signInPage has the sign-in form.
var signInPage = Templates(templates, "templates/signin.html")

// layout returns the base of all templates.
func layout() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(templates, "templates/layout.html", "templates/common.html"))
}

// A Set parses the templates of a page at its first use, so that commands without a console start faster. It panics on an error:
// templates are part of the program.
type Set func() *template.Template

// Templates returns the set of the files that match: they define "main" and the parts, and have the layout and [functions].
func Templates(files fs.FS, patterns ...string) Set { return Set(layout).With(files, patterns...) }

// With returns a set that adds templates to s. Use only the result: both share the parsed templates.
func (s Set) With(files fs.FS, patterns ...string) Set {
	return sync.OnceValue(func() *template.Template { return template.Must(s().ParseFS(files, patterns...)) })
}

// shown is the input of the layout.
type shown struct {
	*Page

	Menu    []entry
	Who     string // "": no authentication
	SignOut bool
	Open    bool
	Locks   bool // the console is open, and a token would require authentication
	Note    string
	Wrong   []string // problems of the parameters of the URL
	Held    control.Held
	Version string
	Zone    string // of the page's times; "" if it need not be requested again
}

// entry is a menu entry.
type entry struct {
	Path, Text, Key string
	Current         bool
}

// Part reports whether a script requests only a part of a page.
func (c *Request) Part() bool { return c.Request.Header.Get("X-Carillon-Part") != "" }

// Show sends a page, or a part of it.
func (c *Request) Show(p *Page) error {
	name, data := p.Part, p.Data
	if c.Part() {
		name = cmp.Or(name, p.Fragment)
	}
	if name == "" {
		name, data = "layout", c.dress(p)
	}
	var body bytes.Buffer
	if err := p.Template().ExecuteTemplate(&body, name, data); err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Vary", "Accept-Encoding, X-Carillon-Part")
	out := compressed(h, c.Request, body.Bytes())
	h.Set("Content-Length", strconv.Itoa(len(out)))
	c.Writer.WriteHeader(cmp.Or(p.Status, http.StatusOK))
	_, _ = c.Writer.Write(out)
	return nil
}

// dress returns a page with its layout.
func (c *Request) dress(p *Page) *shown {
	s := &shown{Page: p, Version: c.frame.cfg.Version, SignOut: c.token, Note: c.noted()}
	if c.Request.Method == http.MethodGet {
		s.Zone = c.Zone().String()
		if p.Status < http.StatusBadRequest { // else the error is the reason why the page did not read all
			s.Wrong = c.misread()
		}
	}
	if c.Who == nil {
		return s
	}
	if c.Who.Name != "" {
		s.Who = c.Who.String()
	}
	s.Held = c.frame.cfg.Held(c.Context())
	s.Open, s.Locks = c.Open(), !c.frame.cfg.Unlocked
	for _, section := range c.frame.cfg.Sections {
		if section.Path != "" && auth.May(c.Who, section.Right, "") {
			text := c.Text(section.Name + ".menu")
			s.Menu = append(s.Menu, entry{p.Range.address(&section), text, section.Key, section.Name == c.section})
		}
	}
	return s
}

// Open reports whether authentication is disabled.
func (c *Request) Open() bool {
	return c.Who != nil && c.Who.Name == "" && (c.Who.Via == auth.ViaOpen || c.Who.Via == auth.ViaLoopback)
}

// Above returns the template "above" of the page, if any, which precedes the heading.
func (s *shown) Above() (template.HTML, error) {
	if s.Template().Lookup("above") == nil {
		return "", nil
	}
	return s.written("above")
}

// Content returns the main part of the page.
func (s *shown) Content() (template.HTML, error) { return s.written(cmp.Or(s.Main, "main")) }

func (s *shown) written(name string) (template.HTML, error) {
	text, err := Written(s.Template, name, s.Data)
	return template.HTML(text), err //nolint:gosec // a template wrote it, which escapes
}

// A Problem is an error for users, with its fix.
type Problem struct {
	Status  int
	Text    string
	Hint    string            // the fix; "": none
	Details document.Problems // problems of the input, by path
}

// Error returns the text.
func (p Problem) Error() string { return p.Text }

// Describe converts an error to a Problem. It omits the text of a defect.
func (c *Request) Describe(err error) Problem {
	if p, ok := errors.AsType[Problem](err); ok {
		return p
	}
	if t, ok := errors.AsType[*throttle.Exceeded](err); ok {
		return Problem{Status: http.StatusTooManyRequests, Text: t.Error()}
	}
	e := v1.DescribeError(err)
	_, unknown := errors.AsType[*auth.Unknown](err)
	p := Problem{Status: e.Status, Text: e.Message, Details: e.Details}
	switch {
	case errors.Is(err, scheduler.ErrUnavailable):
		p.Hint = c.Text("frame.unavailable.hint")
		if why := c.frame.cfg.Ready(c.Context()); why != nil {
			p.Hint = why.Error()
		}
	case unknown:
		p.Hint = c.Text("frame.unknown.hint")
	case e.Status == http.StatusForbidden:
		p.Hint = c.Text("frame.denied.hint")
	case e.Status == http.StatusInternalServerError:
		p.Hint = c.Text("frame.defect.hint")
	}
	return p
}

// Inside describes an error, nil for none, to show it inside a page: its input is wrong, or the store is unavailable.
// Inside returns other errors.
func (c *Request) Inside(err error) (*Problem, int, error) {
	if err == nil {
		return nil, http.StatusOK, nil
	}
	p := c.Describe(err)
	if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable {
		return nil, p.Status, err
	}
	return &p, p.Status, nil
}

// fail answers with an error: a page, or its text if a script requests a part of a page.
func (c *Request) fail(err error) {
	p := c.Describe(err)
	if p.Status == http.StatusInternalServerError {
		c.frame.log.ErrorContext(c.Context(), "request failed because of a defect",
			"method", c.Request.Method, "path", c.Request.URL.Path, "err", err)
	}
	if t, ok := errors.AsType[*throttle.Exceeded](err); ok {
		c.Writer.Header().Set("Retry-After", guard.RetryAfter(t.After))
	}
	if _, unknown := errors.AsType[*auth.Unknown](err); unknown && !c.Part() {
		_ = c.signIn(p.Text)
		return
	}
	_ = c.Show(&Page{Status: p.Status, Title: heading(p.Status), Template: own, Fragment: "problem", Data: p})
}

// heading returns the heading of an error page by status.
func heading(status int) string {
	if key := "frame.status." + strconv.Itoa(status); words.Has(key) {
		return words.Text(key)
	}
	return http.StatusText(status)
}
