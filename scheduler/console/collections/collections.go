package collections

import (
	"embed"
	"errors"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/admin"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/control"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var page = frame.Templates(files, "*.html")

// root is the path of the list.
const root = frame.Root + "/collections"

type section struct {
	service *control.Service
}

// path returns the path of a collection's page.
func path(name string) string { return root + "/" + url.PathEscape(name) }

// Section returns the pages.
func Section(s *control.Service) frame.Section {
	r := section{s}
	const one = root + "/{c}"
	return frame.Section{Name: "collections", Path: root, Key: "k", Right: auth.ReadAny, Assets: assets, Routes: []frame.Route{
		frame.Get(root, auth.ReadAny, r.list),
		frame.Post(root, auth.Known, frame.WithShortForm(r.create)), // it checks the right on the collection in the form
		frame.Get(one, auth.Read, r.show),
		frame.Post(one, auth.Administer, frame.WithShortForm(r.save)),
		frame.Post(one+"/enable", auth.Administer, r.turn(scheduler.Enabled, "enable")),
		frame.Get(one+"/disable", auth.Administer, r.confirm("collections-disable", "collections.disable.title")),
		frame.Post(one+"/disable", auth.Administer, r.turn(scheduler.Disabled, "disable")),
		frame.Get(one+"/delete", auth.Administer, r.confirm("collections-delete", "collections.delete.title")),
		frame.Post(one+"/delete", auth.Administer, frame.WithShortForm(r.remove)),
	}}
}

// name returns the collection in the path of a request.
func name(c *frame.Request) string { return c.Request.PathValue("c") }

func shown(title, main string, data any) *frame.Page {
	return &frame.Page{
		Title: title, Template: page, NoHeading: true, Main: main, Data: data, Styles: []string{"collections/collections.css"},
	}
}

// view is a collection as the pages show it.
type view struct{ *scheduler.Collection }

// Path returns the path of its page.
func (v view) Path() string { return path(v.Name) }

// State returns the word of its state.
func (v view) State() string { return v.ShownState() }

// line is a collection in the list.
type line struct {
	view

	Jobs *counts // nil: not known yet
}

// counts are the numbers of jobs by state.
type counts struct {
	All    int
	Unread int // jobs whose state is uncertain because they have just changed
	By     []stateCount
}

type stateCount struct {
	State scheduler.State
	Count int
}

// shownStates are the counted states.
var shownStates = []scheduler.State{scheduler.Enabled, scheduler.Disabled, scheduler.Completed, scheduler.Faulted}

// count counts the jobs of a collection, in total or by state; nil while the index is incomplete.
func (r section) count(c *frame.Request, name string, byState bool) (*counts, error) {
	number := func(state scheduler.State) (*control.Browsed, error) {
		return r.service.Browse(c.Context(), scheduler.JobQuery{Collections: []string{name}, State: state}, "", false, 1)
	}
	all, err := number("")
	if errors.Is(err, scheduler.ErrUnavailable) {
		return nil, nil //nolint:nilnil // it is not known
	}
	if err != nil {
		return nil, err
	}
	n := &counts{All: all.Count}
	for _, state := range shownStates {
		if !byState {
			break
		}
		found, err := number(state)
		if err != nil {
			return nil, err
		}
		n.By = append(n.By, stateCount{state, max(found.Count-found.Unread, len(found.Jobs))})
		n.Unread = max(n.Unread, found.Unread)
	}
	return n, nil
}

// mostCounted limits the collections in the list whose jobs are counted.
const mostCounted = 200

// list answers with the collections that the caller may see.
func (r section) list(c *frame.Request) error { return r.listWith(c, http.StatusOK, "", nil) }

func (r section) listWith(c *frame.Request, status int, typed string, wrong *frame.Problem) error {
	all, err := r.service.Collections(c.Context())
	if err != nil {
		return err
	}
	sees := auth.Sees(c.Context())
	var lines []*line
	for _, one := range all {
		if !sees(one.Name) {
			continue
		}
		l := &line{view: view{one}}
		if len(lines) < mostCounted && one.State != scheduler.Damaged {
			if l.Jobs, err = r.count(c, one.Name, false); err != nil {
				return err
			}
		}
		lines = append(lines, l)
	}
	p := shown(c.Text("collections.menu"), "collections-list", struct {
		Lines  []*line
		Create bool
		Typed  string
		Wrong  *frame.Problem
	}{lines, c.May(auth.AdministerAny, ""), typed, wrong})
	p.Status = status
	return c.Show(p)
}

// collectionPage is the page of one collection.
type collectionPage struct {
	view

	Default bool // it cannot be deleted
	Jobs    *counts
	Often   string // the maximum frequency of its jobs as a text; "" for no limit
	Admin   bool
	Operate bool
	Form    form
	Wrong   *frame.Problem
	Faults  faults // problems by field
	Audit   *table.Table
}

// auditFew limits the shown changes.
const auditFew = 5

func (r section) show(c *frame.Request) error { return r.showWith(c, http.StatusOK, nil, nil) }

// showWith answers with the page. After a problem, it has the submitted form.
func (r section) showWith(c *frame.Request, status int, typed form, wrong *frame.Problem) error {
	s, err := r.sheetOf(c)
	if err != nil {
		return err
	}
	if typed != nil {
		s.Form = typed
		s.Faults, s.Wrong = byField(c, wrong)
	}
	p := shown(c.Text("collections.one", s.Name), "collections-one", s)
	p.Status = status
	return c.Show(p)
}

func (r section) sheetOf(c *frame.Request) (*collectionPage, error) {
	one, err := r.service.Collection(c.Context(), name(c))
	if err != nil {
		return nil, err
	}
	s := &collectionPage{
		view: view{one}, Default: one.Name == scheduler.DefaultCollection, Form: formOf(one),
		Admin: c.May(auth.Administer, one.Name), Operate: c.May(auth.Operate, one.Name),
	}
	if q := one.Quota().MaxRecurrence; q.Frequency != 0 {
		s.Often = often(q)
	}
	if s.Jobs, err = r.count(c, one.Name, true); err != nil {
		return nil, err
	}
	if s.Admin {
		q := control.TrailQuery{Scope: audit.Scope{Kind: audit.Collection, Collection: one.Name}}
		entries, _, err := r.service.Trail(c.Context(), q, v1.Page{Top: auditFew})
		if err != nil {
			return nil, err
		}
		s.Audit = table.New(table.Without(admin.Changes, admin.ObjectLabel), entries, c.Text("common.no-changes"))
	}
	return s, nil
}
