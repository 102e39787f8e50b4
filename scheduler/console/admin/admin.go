// Package admin has the pages for administrators: the audit log, secrets, tokens, members, settings and the consistency check.
// Each is a table of an operation's result, and requires the operation's right.
//
// The pages show no secret: the service returns none.
package admin

import (
	"context"
	"embed"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

//go:embed admin.html
var files embed.FS

var templates = frame.Templates(files, "admin.html")

// Config configures the pages. Service is required.
type Config struct {
	Service *control.Service

	// Activity provides the members. Default: none; no page shows them.
	Activity interface {
		Board(ctx context.Context) (*stats.Board, error)
	}

	// Settings returns the settings of this process, without passwords. Default: none; no page shows them.
	Settings func() []Setting
}

// Setting is a setting of a process.
type Setting struct {
	Name, Value string
	Origin      string // flag, variable, file or default
	Live        bool   // a change of the file applies without a restart
}

// page is a page of the section.
type page struct {
	path  string
	Label string // key of its name
	right auth.Right
	show  func(*frame.Request, *shown) error // fills the page
}

// shown is the content of a page.
type shown struct {
	Pages   []link
	Hint    string
	Log     *log           // the audit log
	Check   bool           // the consistency check
	Secret  string         // the one whose users are shown
	Users   []string       // the objects that refer to the secret
	Problem *frame.Problem // in place of the table
	Table   *table.Table
	More    int // users or findings that are not shown

	sent bool // a file, not a page
}

// most limits the shown users of a secret, and the shown findings.
const most = 500

type link struct {
	Path, Text string
	Current    bool
}

type section struct {
	Config

	pages []page
}

// Section returns the pages.
func Section(cfg Config) frame.Section {
	r := &section{Config: cfg}
	r.pages = []page{
		{path: auditPath, Label: "common.audit", right: auth.AdministerAny, show: r.audit},
		{path: secretsPath, Label: "admin.secrets", right: auth.Administer, show: r.secrets},
		{path: frame.Root + "/tokens", Label: "admin.tokens", right: auth.Administer, show: r.tokens},
	}
	if cfg.Activity != nil {
		r.pages = append(r.pages, page{path: frame.Root + "/members", Label: "admin.members", right: auth.Read, show: r.members})
	}
	if cfg.Settings != nil {
		r.pages = append(r.pages, page{path: frame.Root + "/settings", Label: "common.settings", right: auth.Administer, show: r.settings})
	}
	r.pages = append(r.pages, page{path: checkPath, Label: "admin.check", right: auth.Administer, show: r.check})
	s := frame.Section{Name: "admin", Path: auditPath, Key: "a", Right: auth.AdministerAny}
	s.Views = []string{"who", "op", "kind", "collection", "job", "since", "until"} // of the audit log
	for _, p := range r.pages {
		s.Routes = append(s.Routes, frame.Get(p.path, p.right, r.answer(p)))
	}
	checks := page{path: checkPath, Label: "admin.check", right: auth.Administer, show: r.checkNow}
	do := frame.WithShortForm(func(c *frame.Request, _ url.Values) error { return r.answer(checks)(c) })
	s.Routes = append(s.Routes, frame.Post(checkPath, auth.Administer, do))
	return s
}

// answer answers with a page.
func (r *section) answer(p page) func(*frame.Request) error {
	return func(c *frame.Request) error {
		s := &shown{}
		for _, one := range r.pages {
			if c.May(one.right, "") {
				s.Pages = append(s.Pages, link{one.path, c.Text(one.Label), one.path == p.path})
			}
		}
		problem, status, err := c.Inside(p.show(c, s))
		if s.sent && problem != nil {
			return *problem
		}
		if s.sent || err != nil {
			return err
		}
		s.Problem = problem
		page := &frame.Page{Status: status, Title: c.Text(p.Label), Template: templates, Fragment: "found", Data: s}
		if s.Log != nil {
			page.Scripts = []string{"frame/views.js"}
		}
		return c.Show(page)
	}
}

const secretsPath = frame.Root + "/secrets"

var secretColumns = []table.Column[*v1.SharedSecret]{
	table.Text("common.name", "", func(s *v1.SharedSecret) string { return s.Name }),
	table.Text("admin.description", "", func(s *v1.SharedSecret) string { return s.Description }),
	table.Time("admin.created", "wide-only", func(s *v1.SharedSecret) time.Time { return s.Created }),
	table.Time("admin.updated", "", func(s *v1.SharedSecret) time.Time { return s.Updated }),
	{Label: "admin.key", Cell: func(s *v1.SharedSecret) table.Cell {
		if s.Problem != "" {
			return table.Cell{Mark: "damaged", Text: s.Problem}
		}
		return table.Cell{Text: s.Key}
	}},
	{Label: "admin.users", Cell: func(s *v1.SharedSecret) table.Cell {
		return table.Cell{Text: words.Text("admin.users.show"), Link: frame.Address(secretsPath, nil, "used", s.Name)}
	}},
}

// secrets shows the shared secrets, and the users of the secret in the URL. Finding them reads all jobs.
func (r *section) secrets(c *frame.Request, s *shown) error {
	s.Hint = c.Text("admin.secrets.hint")
	all, err := r.Service.Secrets(c.Context())
	if err != nil {
		return err
	}
	s.Table = table.New(secretColumns, all, c.Text("admin.secrets.none"))
	if s.Secret = c.Query("used"); s.Secret != "" {
		s.Users, err = r.Service.SecretUsers(c.Context(), s.Secret)
		s.More = max(0, len(s.Users)-most)
		s.Users = s.Users[:len(s.Users)-s.More]
	}
	return err
}

// tokens shows the access tokens.
func (r *section) tokens(c *frame.Request, s *shown) error {
	s.Hint = c.Text("admin.tokens.hint")
	all, err := r.Service.Tokens(c.Context())
	if err != nil {
		return err
	}
	now := r.Service.Now()
	s.Table = table.New([]table.Column[*v1.Token]{
		table.Text("admin.id", "", func(t *v1.Token) string { return t.ID }),
		table.Text("common.name", "", func(t *v1.Token) string { return t.Name }),
		table.Text("admin.roles", "", func(t *v1.Token) string { return strings.Trim(fmt.Sprint(t.Grants), "[]") }),
		table.Time("admin.created", "wide-only", func(t *v1.Token) time.Time { return t.Created }),
		table.Time("admin.expires", "", func(t *v1.Token) time.Time { return t.Expires }),
		{Label: "common.state", Cell: func(t *v1.Token) table.Cell { return validity(t, now) }},
	}, all, c.Text("admin.tokens.none"))
	return nil
}

// validity returns the state of a token.
func validity(t *v1.Token, now time.Time) table.Cell {
	switch {
	case t.Problem != "":
		return table.Cell{Mark: "damaged", Text: t.Problem}
	case !t.Revoked.IsZero():
		return table.Cell{Mark: "disabled", Text: words.Text("admin.token.revoked")}
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return table.Cell{Mark: "disabled", Text: words.Text("admin.token.expired")}
	}
	return table.Cell{Mark: "enabled", Text: words.Text("admin.token.valid")}
}

// Members returns the table of schedulers.
func Members(all []stats.Report) *table.Table {
	return table.New([]table.Column[stats.Report]{
		table.Text("common.name", "", func(m stats.Report) string { return m.Name + " " + m.ID }),
		table.Text("admin.version", "", func(m stats.Report) string { return m.Version }),
		table.Time("common.started", "", func(m stats.Report) time.Time { return m.Since }),
		table.Text("admin.server", "", func(m stats.Report) string { return m.Server }),
		table.Text("admin.running", "number", func(m stats.Report) string { return words.Number(m.InFlight) }),
		table.Text("common.waiting", "number", func(m stats.Report) string { return words.Number(m.Queued) }),
		table.Text("admin.held", "number", func(m stats.Report) string { return words.Number(m.Held) }),
	}, all, words.Text("admin.members.none"))
}

func (r *section) members(c *frame.Request, s *shown) error {
	b, err := r.Activity.Board(c.Context())
	if b != nil { // with an error, those that are known
		s.Table = Members(b.Replicas)
	}
	return err
}

func (r *section) settings(c *frame.Request, s *shown) error {
	s.Hint = c.Text("admin.settings.hint")
	s.Table = table.New([]table.Column[Setting]{
		table.Text("common.name", "", func(one Setting) string { return one.Name }),
		table.Text("admin.value", "", func(one Setting) string { return one.Value }),
		table.Text("admin.origin", "", func(one Setting) string { return one.Origin }),
		table.Text("admin.live", "wide-only", func(one Setting) string {
			return words.Text("admin.live." + strconv.FormatBool(one.Live))
		}),
	}, r.Settings(), "")
	return nil
}

const checkPath = frame.Root + "/check"

func (r *section) check(c *frame.Request, s *shown) error {
	s.Hint, s.Check = c.Text("admin.check.hint"), true
	return nil
}

// checkNow runs a consistency check, and repairs its findings if the form asks for it.
func (r *section) checkNow(c *frame.Request, s *shown) error {
	s.Check = true
	report, err := r.Service.Doctor(c.Context(), c.Request.PostForm.Has("fix"))
	if err != nil {
		return err
	}
	s.Hint = c.Text("admin.check.done", words.Number(report.Jobs), words.Number(report.Waiting), words.Number(report.Running),
		frame.Took(time.Duration(report.Duration)))
	all := report.Findings
	for _, name := range report.NeverRan {
		all = append(all, v1.Finding{Job: scheduler.KeyIn("", name), Name: name, Problem: c.Text("admin.check.never")})
	}
	for _, u := range report.Undecryptable {
		all = append(all, v1.Finding{Name: u.Example, Problem: c.Text("admin.check.locked", u.Key, u.Secrets, u.Jobs, u.Reason)})
	}
	s.More = max(0, len(all)-most)
	s.Table = table.New([]table.Column[v1.Finding]{
		{Label: "common.state", Cell: func(f v1.Finding) table.Cell {
			if f.Fixed {
				return table.Cell{Mark: "completed", Text: c.Text("admin.check.fixed")}
			}
			return table.Cell{Mark: "failed", Text: c.Text("admin.check.found")}
		}},
		{Label: ObjectLabel, Cell: func(f v1.Finding) table.Cell {
			cell := table.Cell{Text: f.Name}
			if f.Job.Job != "" {
				cell.Link = frame.JobPath(f.Job)
			}
			return cell
		}},
		table.Text("admin.problem", "", func(f v1.Finding) string { return f.Problem }),
	}, all[:len(all)-s.More], c.Text("admin.check.well"))
	return nil
}
