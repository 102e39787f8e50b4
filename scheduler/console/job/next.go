package job

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// The numbers of shown upcoming runs.
const (
	nextFew  = 10
	nextMany = 100
)

// horizon limits the search for upcoming runs, in days.
const horizon = 100 * 366

// coming are the upcoming runs.
type coming struct {
	Zone    string // of the job
	Browser string // of the browser; "": the same
	Times   []comingRun
	Notes   []string
	If      string // precondition of the runs; "": none
	More    string // the URL of a longer list; "": complete
}

// comingRun is a line of the list.
type comingRun struct {
	Change  string // a DST change before the run; the other fields are then empty
	At      time.Time
	Job     string // on the job's clock
	Browser string // on the browser's clock
	Due     string // with jitter, if that differs
}

// nextOf returns the next n runs of a job.
func (r room) nextOf(ctx context.Context, c *frame.Call, v *view.Job, n int) (*coming, error) {
	if v.Job.Plan == nil { // the job is damaged
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	var nominal, due []time.Time
	next := &coming{}
	// One extra run shows whether more follow; another one may be in progress.
	runs, err := r.service.Runs(ctx, service.RunsQuery{Key: v.Job.Key, Days: horizon, Most: n + 2})
	if err != nil {
		return nil, err
	}
	for _, one := range runs {
		nominal, due = append(nominal, one.Nominal), append(due, one.Due)
	}
	switch {
	case len(runs) > 0 || v.Job.State.Final():
	case v.Job.State == scheduler.Disabled:
		next.If = c.Say("job.next.disabled")
	case v.Status.WaitsFor != "":
		next.If = c.Say("job.next.waits", v.Status.WaitsFor)
	}
	if next.If != "" {
		p := v.Job.Plan.Preview(r.service.Now(), n+1)
		nominal, due = p.Times, p.Times
	}
	if len(nominal) > n {
		nominal, due = nominal[:n], due[:n]
		if n < nextMany {
			next.More = frame.JobPath(v.Job.Key) + "/next?n=100"
		}
	}
	if len(nominal) > 0 {
		next.Notes = v.Job.Plan.ClockNotes(nominal[0], nominal)
	}
	next.tell(c, v.Job.Plan.Zone(), c.Zone(), nominal, due)
	return next, nil
}

const clockForm = "Mon 2006-01-02 15:04:05"

// tell adds the times on both clocks, with the DST changes of the first.
func (n *coming) tell(c *frame.Call, zone, browser *time.Location, nominal, due []time.Time) {
	n.Zone = zone.String()
	if browser.String() != zone.String() {
		n.Browser = browser.String()
	}
	for i, t := range nominal {
		if i > 0 {
			for _, change := range clockChanges(zone, nominal[i-1], t) {
				n.Times = append(n.Times, comingRun{Change: change.say(c, zone)})
			}
		}
		line := comingRun{At: t.UTC(), Job: t.In(zone).Format(clockForm + " MST")}
		if n.Browser != "" {
			line.Browser = t.In(browser).Format(clockForm + " MST")
		}
		if !due[i].Equal(t) {
			line.Due = due[i].In(zone).Format("15:04:05.999")
		}
		n.Times = append(n.Times, line)
	}
}

// clockChange is a DST change of a zone.
type clockChange struct {
	at time.Time
	by time.Duration // positive: forward, which leaves a gap; negative: backward, which repeats times
}

// mostChanges limits the changes between two runs, which may be years apart.
const mostChanges = 2

// clockChanges returns the changes after one instant up to another.
func clockChanges(zone *time.Location, after, until time.Time) (all []clockChange) {
	for t := after; len(all) < mostChanges; {
		_, end := t.In(zone).ZoneBounds()
		if end.IsZero() || end.After(until) {
			return all
		}
		_, before := end.Add(-time.Nanosecond).In(zone).Zone()
		_, then := end.In(zone).Zone()
		if then != before {
			all = append(all, clockChange{end, time.Duration(then-before) * time.Second})
		}
		t = end
	}
	return all
}

func (ch clockChange) say(c *frame.Call, zone *time.Location) string {
	_, offset := ch.at.Add(-time.Nanosecond).In(zone).Zone()
	was := ch.at.In(time.FixedZone("", offset)).Format("15:04") // on the clock before the change
	day, is := ch.at.In(zone).Format("Mon 2006-01-02"), ch.at.In(zone).Format("15:04")
	if ch.by < 0 {
		return c.Say("job.next.back", day, was, is)
	}
	return c.Say("job.next.forward", day, was, is)
}
