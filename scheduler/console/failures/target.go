package failures

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// target is the content of the page of a target, or of all ports of a host.
type target struct {
	Name     string
	Now      now
	Attempts *attempts
	Rules    []rule
	List     list
	Counting bool // the index of jobs is being built
	Operate  bool
	Typed    typed
}

// now is the part of the page that changes by itself.
type now struct {
	All     bool // the caller may read all collections
	Health  []stats.Target
	Healthy bool // the target would be in Health otherwise
	Groups  []Group
	Trouble string // why some data is missing
}

// attempts summarizes the latest attempts on a target.
type attempts struct {
	Range      *frame.TimeRange
	Live       string // their list
	All        int
	Failed     int
	Half, Most time.Duration // p50 and p95 of the duration
	Since      time.Time     // of the earliest attempt read; zero: all of the range were read
}

// rule is the limit of a collection.
type rule struct {
	*scheduler.TargetRule

	Collection string
}

func (r section) now(c *frame.Request) (any, error) {
	name, n := c.Request.PathValue("target"), now{All: c.May(auth.Read, "")}
	if n.All && r.source != nil {
		board, err := r.source.Board(c.Context())
		if err != nil {
			n.Trouble = err.Error()
		}
		n.Healthy = err == nil && len(board.Targets) < stats.TargetsMost
		n.Health = slices.DeleteFunc(slices.Clone(board.Targets), func(t stats.Target) bool { return !scheduler.IsTarget(t.Name, name) })
	}
	groups, err := r.service.Failures(c.Context())
	n.Groups = Groups(slices.DeleteFunc(groups, func(g *v1.FailureGroup) bool {
		return g.State == v1.FailureResolved || !scheduler.IsTarget(g.Target, name)
	}))
	return n, err
}

// attempts reads the attempts of a time range, at most a page.
func (r section) attempts(c *frame.Request, name string) (*attempts, error) {
	of, err := c.TimeRange(r.service.Now(), "1h")
	if err != nil {
		return nil, err
	}
	list := records.Filter{Target: name, Since: cmp.Or(of.Since, "1h"), Until: of.Until}
	a := &attempts{Range: of, Live: list.Address(frame.Root + "/live")}
	q := control.HistoryQuery{Sees: auth.Sees(c.Context()), RecordFilter: scheduler.RecordFilter{
		Targets: []string{name}, Since: of.From, Until: of.To,
		Outcomes: []scheduler.Outcome{scheduler.OutcomeCompleted, scheduler.OutcomeFailed},
	}}
	found, next, err := r.service.History(c.Context(), q, v1.Page{Top: v1.MaxPage})
	if a.All = len(found); err != nil || a.All == 0 {
		return a, err
	}
	took := make([]time.Duration, a.All)
	for i, one := range found {
		took[i] = one.Duration
		if one.Outcome == scheduler.OutcomeFailed {
			a.Failed++
		}
	}
	slices.Sort(took)
	a.Half, a.Most = took[(a.All-1)/2], took[(a.All*95+99)/100-1]
	if next != 0 {
		a.Since = found[a.All-1].At()
	}
	return a, nil
}

func (r section) showTarget(c *frame.Request) error {
	state, err := r.now(c)
	if err != nil {
		return err
	}
	p := target{Name: c.Request.PathValue("target"), Operate: c.May(auth.OperateAny, ""), Typed: typedIn(c, "1h")}
	p.Now, _ = state.(now)
	if p.Attempts, err = r.attempts(c, p.Name); err != nil {
		return err
	}
	all, err := r.service.Collections(c.Context())
	if err != nil {
		return err
	}
	sees := auth.Sees(c.Context())
	for _, one := range all {
		if limit := one.Rule(p.Name); limit != nil && sees(one.Name) {
			p.Rules = append(p.Rules, rule{limit, one.Name})
		}
	}
	found, err := r.service.Browse(c.Context(), scheduler.JobQuery{Target: p.Name, Sees: sees}, "", false, shownJobs)
	switch {
	case errors.Is(err, scheduler.ErrUnavailable):
		p.Counting = true
	case err != nil:
		return err
	default:
		for _, v := range found.Jobs {
			p.List.Names = append(p.List.Names, v.Job.Key.String())
		}
		p.List.Others = max(0, found.Count-len(found.Jobs))
	}
	return c.Show(&frame.Page{
		Title: frame.Visible(p.Name), Template: pages, Main: "one-target", Data: p, NoHeading: true,
		Range: p.Attempts.Range, Styles: []string{Style},
	})
}
