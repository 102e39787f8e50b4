package frame

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"
	"sync"

	"github.com/carillon-sched/carillon/scheduler/access"
)

// A Page is an answer for people.
type Page struct {
	Status   int    // default 200
	Title    string // of the document, and its first heading unless NoHeading
	Template Set
	Data     any

	// Part is the template that is sent alone: a part of a page. Default: the template "main", in the layout, and above the
	// heading the template "above", if there is one.
	Part string

	// NoHeading is for templates with a first heading of their own.
	NoHeading bool

	// Scripts and Styles are assets of the page, besides those of all pages: "jobs/jobs.js".
	Scripts, Styles []string
}

//go:embed templates
var templates embed.FS

// own are the templates of the frame itself: "main" tells a [Problem].
var own = Templates(templates, "templates/problem.html")

// signInPage has the form of a sign-in.
var signInPage = Templates(templates, "templates/signin.html")

// layout returns what all templates begin with.
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

// shown is what the layout gets.
type shown struct {
	*Page

	Menu    []entry
	Who     string // "": nobody is asked
	SignOut bool
	Open    bool
	Locks   bool // it is open, and a token would close it
	Note    string
	Version string
	Zone    string // in which the page has its times; "" when it is not to be asked for again
}

// entry is a line of the menu.
type entry struct {
	Path, Text, Key string
	Current         bool
}

// Part reports whether only a part of a page is asked for, by a script.
func (c *Call) Part() bool { return c.Request.Header.Get("X-Carillon-Part") != "" }

// Show sends a page, or a part of one.
func (c *Call) Show(p *Page) error {
	name, data := p.Part, p.Data
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

// dress puts a page into the layout.
func (c *Call) dress(p *Page) *shown {
	s := &shown{Page: p, Version: c.frame.cfg.Version, SignOut: c.token, Note: c.noted()}
	if c.Request.Method == http.MethodGet {
		s.Zone = c.Zone().String()
	}
	if c.Who == nil {
		return s
	}
	if c.Who.Name != "" {
		s.Who = c.Who.String()
	}
	s.Open, s.Locks = c.open(), !c.frame.cfg.Unlocked
	for _, room := range c.frame.cfg.Rooms {
		if room.Path != "" && access.May(c.Who, room.Right, "") {
			s.Menu = append(s.Menu, entry{room.Path, c.Say(room.Name + ".menu"), room.Key, room.Name == c.room})
		}
	}
	return s
}

// open reports whether nobody is asked who they are.
func (c *Call) open() bool {
	return c.Who != nil && c.Who.Name == "" && (c.Who.Via == access.ViaOpen || c.Who.Via == access.ViaLoopback)
}

// Above is what stands above the heading: the template "above" of the page, if it has one.
func (s *shown) Above() (template.HTML, error) {
	if s.Template().Lookup("above") == nil {
		return "", nil
	}
	return s.written("above")
}

// Content is the main part of the page, written.
func (s *shown) Content() (template.HTML, error) { return s.written("main") }

func (s *shown) written(name string) (template.HTML, error) {
	var body bytes.Buffer
	err := s.Template().ExecuteTemplate(&body, name, s.Data)
	return template.HTML(body.String()), err //nolint:gosec // a template wrote it, which escapes
}
