package jobs

import (
	"maps"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// row is a job in the table.
type row struct {
	Key      scheduler.Key
	State    string // also running, retrying and paused
	Action   string
	Address  string
	Schedule string
	Paused   time.Time // end of the pause; zero: not paused
	Next     time.Time
	Due      bool   // the next run is due
	Waits    string // precondition of the next run, in place of its time
	Last     time.Time
	Outcome  scheduler.Outcome // "": unknown
	Labels   []scheduler.Label
	MayAct   bool
}

// ID returns the id of the row's element.
func (r row) ID() string { return "job-" + r.Key.Collection + "." + r.Key.Job }

// Never reports whether the job has never run.
func (r row) Never() bool { return r.Outcome == scheduler.NeverRan }

func newRow(c *frame.Call, v *view.Job, now time.Time) row {
	j, s := v.Job, &v.Status
	r := row{
		Key: j.Key, State: string(j.State), Schedule: s.Schedule, Next: s.Next, Due: s.Running, Waits: s.WaitsFor, Last: s.Last,
		Outcome: v.Outcome, MayAct: c.May(access.Operate, j.Key.Collection),
	}
	switch {
	case s.Running:
		r.State = "running"
	case s.Retry > 0:
		r.State = "retrying"
	case j.State == scheduler.Enabled && j.PausedAt(now):
		r.State, r.Paused = string(view.Paused), j.PausedUntil
	}
	if j.Plan != nil {
		r.Schedule = j.Plan.Describe()
	}
	if j.State == scheduler.Damaged || j.Def == nil {
		r.Schedule = s.Over
		return r
	}
	r.Action, r.Address = j.Def.Action.Type, j.Def.Address()
	for _, name := range slices.Sorted(maps.Keys(j.Def.Labels)) {
		r.Labels = append(r.Labels, scheduler.Label{Name: name, Value: j.Def.Labels[name]})
	}
	return r
}
