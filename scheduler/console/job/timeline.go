package job

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// The timeline has one column per run, regardless of the time between runs, so that it is equally useful for yearly
// jobs and for those that run every second. It is as wide as the page: columns are placed in percent of the width.
const (
	columnWidth = 20 // at least
	barsTop     = 14 // of the longest bar
	barsFoot    = 52
	labelWidth  = 4 // columns

	pastRuns = 40 // shown past runs
)

// timeline is a chart of the last and the next runs.
type timeline struct {
	Width     int // at least, in pixels
	Columns   []column
	Now       string // position of the present
	Scroll    int    // position of the present in the least width
	Changes   []change
	Audit     string // the URL of all changes
	Summary   string
	Legend    []string
	Longest   string // the duration of the highest bar; "": all are 0
	Success   *lastSuccess
	Failure   *lastFailure // among the shown runs; nil: none
	LastMonth *lastMonth   // nil: no runs

	slots int
}

// change marks edits of the job between two runs.
type change struct {
	At    string
	Title string // a line for each

	slot int
}

// middle and edge return the positions of a column and of its left side, in percent of the width.
func (t *timeline) middle(slot int) string { return t.percent(float64(slot) + 0.5) }
func (t *timeline) edge(slot int) string   { return t.percent(float64(slot)) }
func (t *timeline) percent(slot float64) string {
	return strconv.FormatFloat(100*slot/float64(t.slots), 'f', 2, 64) + "%"
}

// lastFailure is the last run that failed or is failing.
type lastFailure struct {
	State string
	At    time.Time
	Why   string
	Link  string // to the run
	Since bool   // no run has succeeded since
}

// failureOf returns the last failure of runs, newest first.
func failureOf(runs []*run) *lastFailure {
	since := true
	for _, one := range runs {
		switch scheduler.Outcome(one.State) {
		case scheduler.OutcomeFailed, scheduler.OutcomeFaulted:
			f := &lastFailure{State: one.State, At: one.Nominal, Why: one.Why, Since: since, Link: one.Link()}
			if !one.Started.IsZero() {
				f.At = one.Started.Add(one.Took)
			}
			return f
		case scheduler.OutcomeCompleted:
			since = false
		case scheduler.OutcomePostponed, scheduler.OutcomeSkipped, scheduler.NeverRan:
		}
	}
	return nil
}

// column is a run in the timeline.
type column struct {
	At         string // its middle
	State      string
	Late       bool
	Retries    string // "": none
	Bar, Top   int    // height and top of the bar; 0: no duration
	Clock, Day string // labels below it; "": none
	Title      string
	Manual     bool
}

// timelineOf returns the timeline of the recent runs and the next ones, on the clock of a zone.
func timelineOf(past recent, next *coming, zone *time.Location) *timeline {
	runs := past.runs[:min(pastRuns, len(past.runs))]
	var planned []comingRun
	if next != nil && next.If == "" {
		planned = slices.DeleteFunc(slices.Clone(next.Times), func(n comingRun) bool { return n.Change != "" })
		planned = planned[:min(nextFew, len(planned))]
	}
	present := len(runs)
	t := &timeline{slots: present + 1 + len(planned), Failure: failureOf(runs)}
	t.Width, t.Scroll, t.Now = t.slots*columnWidth, present*columnWidth, t.middle(present)
	var longest time.Duration
	for _, one := range runs {
		longest = max(longest, one.Took)
	}
	if longest > 0 {
		t.Longest = frame.Took(longest)
	}
	form := "15:04"
	if n := len(runs); n > 1 && runs[0].Nominal.Sub(runs[n-1].Nominal).Abs() < time.Duration(n)*time.Minute {
		form = "15:04:05"
	}
	slot, day, labelled := 0, "", -labelWidth
	add := func(c column, at time.Time) {
		c.At = t.middle(slot)
		if slot >= labelled+labelWidth && max(slot-present, present-slot) >= labelWidth/2 {
			labelled = slot
			local := at.In(zone)
			c.Clock = local.Format(form)
			if d := local.Format(time.DateOnly); d != day {
				day, c.Day = d, words.Date(local, words.Text("date.day"))
			}
		}
		t.Columns = append(t.Columns, c)
		slot++
	}
	for _, one := range slices.Backward(runs) {
		c := column{State: one.State, Late: one.Late > 0, Manual: one.Manual, Title: one.title(zone)}
		if one.Retries > 0 {
			c.Retries = words.Text("job.timeline.times", one.Retries)
		}
		if one.Took > 0 && longest > 0 {
			part := math.Log1p(float64(one.Took)/float64(time.Millisecond)) / math.Log1p(float64(longest)/float64(time.Millisecond))
			c.Bar = max(2, int(part*(barsFoot-barsTop)))
			c.Top = barsFoot - c.Bar
		}
		add(c, one.Nominal)
	}
	slot++ // the present
	for _, n := range planned {
		add(column{State: "next", Title: words.Text("job.timeline.next", n.Job)}, n.At)
	}
	t.mark(past.changes, runs, zone)
	t.summarize(runs, len(planned))
	return t
}

// mark adds the changes, newest first, since the first of the runs. Changes in adjacent columns share a mark.
func (t *timeline) mark(changes []*audit.Entry, runs []*run, zone *time.Location) {
	for _, e := range changes {
		slot := slices.IndexFunc(runs, func(o *run) bool { return !o.Nominal.After(e.Time) })
		if e.Occurrence != "" || slot < 0 { // it is a run, or earlier
			continue
		}
		slot = len(runs) - slot
		title := words.Date(e.Time.In(zone), clockForm) + ": " + e.Op + " " + frame.Visible(e.By.String()+" "+strings.Join(e.Changed, ", "))
		if n := len(t.Changes); n > 0 && t.Changes[n-1].slot-slot < 2 {
			t.Changes[n-1].Title += "\n" + title
			continue
		}
		t.Changes = append(t.Changes, change{t.edge(slot), title, slot})
	}
}

// title describes a run in one line.
func (o *run) title(zone *time.Location) string {
	text := words.Text("job.timeline.run", words.Date(o.Nominal.In(zone), clockForm+" MST"), words.Text("job.outcome."+o.State))
	switch {
	case o.Left != nil && len(o.Attempts) == 0:
		if o.Left.Reason != "" {
			text += ", " + words.Text("job.reason."+o.Left.Reason)
		}
	case o.Tried() > 0:
		text += ", " + words.Text("job.timeline.took", frame.Took(o.Took))
	}
	if o.Late > 0 {
		text += ", " + words.Text("common.is-late", frame.Took(o.Late))
	}
	if o.Retries > 0 {
		text += ", " + words.Count("common.retries", o.Retries)
	}
	if o.Manual {
		text += ", " + words.Text("common.manual")
	}
	return text
}

// summarize writes the description for screen readers and the legend of the marks.
func (t *timeline) summarize(runs []*run, planned int) {
	by, late, retried := map[string]int{}, 0, 0
	for _, one := range runs {
		by[one.State]++
		if one.Late > 0 {
			late++
		}
		if one.Retries > 0 {
			retried++
		}
	}
	t.Summary = words.Count("job.timeline.summary", len(runs))
	some := func(n int, mark, are string) {
		if n > 0 {
			t.Summary += " " + words.Text("job.timeline.some", n, are)
			t.Legend = append(t.Legend, mark)
		}
	}
	for _, state := range []string{"completed", "failed", "faulted", "skipped", "postponed"} {
		some(by[state], state, words.Text("job.outcome."+state))
	}
	some(late, "late", words.Text("common.late"))
	some(retried, "retried", words.Text("job.timeline.are.retried"))
	if planned > 0 {
		t.Summary += " " + words.Count("job.timeline.planned", planned)
		t.Legend = append(t.Legend, "next")
	}
}

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
	None    string // why Times is empty
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
func (r section) nextOf(ctx context.Context, c *frame.Request, v *v1.Job, n int) (*coming, error) {
	if v.Job.Plan == nil { // the job is damaged
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	next := &coming{None: c.Text("job.next.none")}
	if v.Job.OnlyEvents() {
		next.None = c.Text("job.next.on-events")
		return next, nil
	}
	var nominal, due []time.Time
	// One extra run shows whether more follow; another one may be in progress.
	runs, err := r.service.Runs(ctx, control.RunsQuery{Key: v.Job.Key, Days: horizon, Most: n + 2})
	if err != nil {
		return nil, err
	}
	for _, one := range runs {
		nominal, due = append(nominal, one.Nominal), append(due, one.Due)
	}
	switch {
	case len(runs) > 0 || v.Job.State.Final():
	case v.Job.State == scheduler.Disabled:
		next.If = c.Text("job.next.disabled")
	case v.Status.WaitsFor != "":
		next.If = c.Text("job.next.waits", v.Status.WaitsFor)
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
	next.tell(v.Job.Plan.Zone(), c.Zone(), nominal, due)
	return next, nil
}

const clockForm = "Mon 2006-01-02 15:04:05"

// tell adds the times on both clocks, with the DST changes of the first.
func (n *coming) tell(zone, browser *time.Location, nominal, due []time.Time) {
	n.Zone = zone.String()
	if browser.String() != zone.String() {
		n.Browser = browser.String()
	}
	for i, t := range nominal {
		if i > 0 {
			for _, change := range clockChanges(zone, nominal[i-1], t) {
				n.Times = append(n.Times, comingRun{Change: change})
			}
		}
		line := comingRun{At: t.UTC(), Job: words.Date(t.In(zone), clockForm+" MST")}
		if n.Browser != "" {
			line.Browser = words.Date(t.In(browser), clockForm+" MST")
		}
		if !due[i].Equal(t) {
			line.Due = due[i].In(zone).Format("15:04:05.999")
		}
		n.Times = append(n.Times, line)
	}
}

// mostChanges limits the changes between two runs, which may be years apart.
const mostChanges = 2

// clockChanges describes the DST changes of a zone after one instant up to another.
func clockChanges(zone *time.Location, after, until time.Time) (all []string) {
	for t := after.In(zone); len(all) < mostChanges; {
		_, end := t.ZoneBounds()
		if !end.After(t) || end.After(until) { // or the zone has no later change
			return all
		}
		t = end
		_, before := t.Add(-1).Zone()
		_, then := t.Zone()
		day, was, is := words.Date(t, "Mon 2006-01-02"), t.In(time.FixedZone("", before)).Format("15:04"), t.Format("15:04")
		switch {
		case then > before:
			all = append(all, words.Text("job.next.forward", day, was, is))
		case then < before:
			all = append(all, words.Text("job.next.back", day, was, is))
		}
	}
	return all
}
