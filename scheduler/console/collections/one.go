package collections

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/trail"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// sheet is the page of one collection.
type sheet struct {
	Name, Path string
	State      string
	Default    bool // it cannot be deleted
	Etag       string
	Jobs       *counts
	Quota      scheduler.Quota
	Often      string // the maximum frequency of its jobs in English; "" for no limit
	Targets    string // YAML, as written
	Admin      bool
	Operate    bool
	Form       form
	Wrong      *frame.Problem
	Faults     faults // problems by field
	Audit      []*trail.Entry
}

// auditFew limits the shown changes.
const auditFew = 5

func (r room) show(c *frame.Call) error { return r.showWith(c, http.StatusOK, nil, nil) }

// showWith answers with the page. After a problem, it has the submitted form.
func (r room) showWith(c *frame.Call, status int, typed *form, wrong *frame.Problem) error {
	s, err := r.sheetOf(c)
	if err != nil {
		return err
	}
	if typed != nil {
		s.Form = *typed
		s.Faults, s.Wrong = beside(c, wrong)
	}
	p := shown(c.Say("collections.one", s.Name), "one", s)
	p.Status = status
	return c.Show(p)
}

func (r room) sheetOf(c *frame.Call) (*sheet, error) {
	one, err := r.service.Collection(c.Context(), name(c))
	if err != nil {
		return nil, err
	}
	s := &sheet{
		Name: one.Name, Path: path(one.Name), State: one.ShownState(), Default: one.Name == scheduler.DefaultCollection, Etag: one.ETag(),
		Quota: one.Quota(), Form: formOf(one),
		Admin: c.May(access.Administer, one.Name), Operate: c.May(access.Operate, one.Name),
	}
	s.Targets = s.Form.Targets
	if q := s.Quota.MaxRecurrence; q.Frequency != 0 {
		s.Often = often(c, q)
	}
	if s.Jobs, err = r.count(c, one.Name, true); err != nil {
		return nil, err
	}
	if s.Admin {
		q := service.TrailQuery{Scope: trail.Scope{Kind: trail.Collection, Collection: one.Name}}
		s.Audit, _, err = r.service.Trail(c.Context(), q, view.Page{Top: auditFew})
	}
	return s, err
}
