// Package collections is the console's page of all collections, and of each: its jobs by state, its quotas, what it imposes on
// their targets; and for admins, the settings as a form.
package collections

import (
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var page = frame.Templates(files, "*.html")

// root is where collections are.
const root = frame.Root + "/collections"

type room struct {
	service *service.Service
}

// path is where the page of a collection is.
func path(name string) string { return root + "/" + url.PathEscape(name) }

// Room returns the pages.
func Room(s *service.Service) frame.Room {
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err)
	}
	r := room{s}
	const one = root + "/{c}"
	route := func(method, path string, right access.Right, do func(*frame.Call) error) frame.Route {
		return frame.Route{Method: method, Path: path, Right: right, Do: do}
	}
	return frame.Room{Name: "collections", Path: root, Key: "k", Right: access.ReadAny, Assets: own, Routes: []frame.Route{
		route(http.MethodGet, root, access.ReadAny, r.list),
		route(http.MethodPost, root, access.Known, r.create), // which asks for the collection that the form names
		route(http.MethodGet, one, access.Read, r.show),
		route(http.MethodPost, one, access.Administer, r.save),
		route(http.MethodPost, one+"/enable", access.Administer, r.enable),
		route(http.MethodPost, one+"/disable", access.Administer, r.disable),
		route(http.MethodGet, one+"/delete", access.Administer, r.confirmDelete),
		route(http.MethodPost, one+"/delete", access.Administer, r.remove),
	}}
}

// name is the collection that the path of a request names.
func name(c *frame.Call) string { return c.Request.PathValue("c") }

func shown(title, main string, data any) *frame.Page {
	return &frame.Page{
		Title: title, Template: page, NoHeading: true, Data: within{main, data}, Styles: []string{"collections/collections.css"},
	}
}

// within is what the template "main" gets: which one it is to show, and what of.
type within struct {
	Main string
	Data any
}

// line is a collection in the list.
type line struct {
	Name, Path string
	State      string
	Damaged    string
	Plan       scheduler.Plan
	Quota      scheduler.Quota
	Targets    int
	Jobs       *counts // nil: that is not known yet
}

// counts are how many jobs there are, by state.
type counts struct {
	All    int
	Unread int // of which no state is known for certain, as they have just changed
	By     []stateCount
}

type stateCount struct {
	State scheduler.State
	Count int
}

// shownStates are the states that jobs are counted by.
var shownStates = []scheduler.State{scheduler.Enabled, scheduler.Disabled, scheduler.Completed, scheduler.Faulted}

// count counts the jobs of a collection, in all or by state; nil while there is no index.
func (r room) count(c *frame.Call, name string, byState bool) (*counts, error) {
	number := func(state scheduler.State) (*service.Browsed, error) {
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

// mostCounted is how many collections have their jobs counted in the list.
const mostCounted = 200

// list answers with all collections that may be seen.
func (r room) list(c *frame.Call) error { return r.listWith(c, http.StatusOK, "", nil) }

func (r room) listWith(c *frame.Call, status int, typed string, wrong *frame.Problem) error {
	all, err := r.service.Collections(c.Context())
	if err != nil {
		return err
	}
	sees := access.Sees(c.Context())
	var lines []*line
	for _, one := range all {
		if !sees(one.Name) {
			continue
		}
		l := &line{
			Name: one.Name, Path: path(one.Name), State: one.ShownState(), Plan: one.Plan, Quota: one.Quota(), Targets: len(one.Targets),
		}
		if len(lines) < mostCounted && one.State != scheduler.Damaged {
			if l.Jobs, err = r.count(c, one.Name, false); err != nil {
				return err
			}
		}
		lines = append(lines, l)
	}
	p := shown(c.Say("collections.menu"), "list", struct {
		Lines  []*line
		Create bool
		Typed  string
		Wrong  *frame.Problem
	}{lines, c.Who != nil && mayCreate(c.Who), typed, wrong})
	p.Status = status
	return c.Show(p)
}

// mayCreate reports whether somebody may create a collection of some name.
func mayCreate(who *access.Principal) bool {
	for _, g := range who.Grants {
		if g.Role == access.Admin {
			return true
		}
	}
	return false
}
