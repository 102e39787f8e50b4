package job

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// The timeline has one column per run, regardless of the time between runs, so that it is equally useful for a job that
// runs once a year and one that runs every second. Units are those of the SVG.
const (
	columnWidth = 20
	barWidth    = 12
	barsTop     = 14 // of the longest bar
	barsFoot    = 52
	chartHeight = 118
	chartMargin = 14
	labelWidth  = 4 * columnWidth

	pastRuns = 40 // shown past runs
)

// timeline is a chart of the last and the next runs.
type timeline struct {
	Width, Height int
	Columns       []column
	Now           int // position of the present
	Summary       string
	Legend        []string
	Longest       string // the duration of the highest bar; "": all are 0
	Success       *lastSuccess
	Failure       *lastFailure // among the shown runs; nil: none
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
			f := &lastFailure{State: one.State, At: one.Nominal, Why: one.Why, Since: since}
			if !one.Started.IsZero() {
				f.At = one.Started.Add(one.Took)
			}
			if one.Occurrence != "" {
				f.Link = frame.Address(frame.JobPath(one.Key)+"/runs/"+one.At(), nil, records.Before, strconv.FormatUint(one.Before(), 10))
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
	X, Middle  int // its left side and middle
	BarX       int
	State      string
	Planned    bool
	Late       bool
	Retries    string // "": none
	Bar, Top   int    // height and top of the bar; 0: no duration
	Clock, Day string // labels below it; "": none
	Title      string
	Manual     bool
}

// timelineOf returns the timeline of runs, newest first, and the next ones, on the clock of a zone.
func timelineOf(runs []*run, next *coming, zone *time.Location) *timeline {
	t := &timeline{Height: chartHeight}
	runs = runs[:min(pastRuns, len(runs))]
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
	x, day, labelled := chartMargin, "", -labelWidth
	t.Now = chartMargin + len(runs)*columnWidth + columnWidth/2
	label := func(c *column, at time.Time) {
		if c.Middle < labelled+labelWidth || max(c.Middle-t.Now, t.Now-c.Middle) < labelWidth/2 {
			return
		}
		labelled = c.Middle
		local := at.In(zone)
		c.Clock = local.Format(form)
		if d := local.Format(time.DateOnly); d != day {
			day, c.Day = d, local.Format("2 Jan")
		}
	}
	for _, one := range slices.Backward(runs) {
		c := column{
			X: x, Middle: x + columnWidth/2, BarX: x + (columnWidth-barWidth)/2, State: one.State, Late: one.Late > 0,
			Manual: one.Manual, Title: one.title(zone),
		}
		if one.Retries > 0 {
			c.Retries = words.Text("job.timeline.times", one.Retries)
		}
		if one.Took > 0 && longest > 0 {
			part := math.Log1p(float64(one.Took)/float64(time.Millisecond)) / math.Log1p(float64(longest)/float64(time.Millisecond))
			c.Bar = max(2, int(part*(barsFoot-barsTop)))
			c.Top = barsFoot - c.Bar
		}
		label(&c, one.Nominal)
		t.Columns = append(t.Columns, c)
		x += columnWidth
	}
	x += columnWidth // the present
	planned := 0
	if next != nil && next.If == "" {
		for _, n := range next.Times {
			if n.Change != "" || planned == nextFew {
				continue
			}
			planned++
			c := column{X: x, Middle: x + columnWidth/2, State: "next", Planned: true, Title: words.Text("job.timeline.next", n.Job)}
			label(&c, n.At)
			t.Columns = append(t.Columns, c)
			x += columnWidth
		}
	}
	t.Width = x + chartMargin
	t.summarize(runs, planned)
	t.Failure = failureOf(runs)
	return t
}

// title describes a run in one line.
func (o *run) title(zone *time.Location) string {
	text := words.Text("job.timeline.run", o.Nominal.In(zone).Format(clockForm+" MST"), words.Text("job.outcome."+o.State))
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
	for _, state := range []string{"completed", "failed", "faulted", "skipped", "postponed"} {
		if by[state] > 0 {
			t.Summary += " " + words.Text("job.timeline.some", by[state], words.Text("job.outcome."+state))
			t.Legend = append(t.Legend, state)
		}
	}
	if late > 0 {
		t.Summary += " " + words.Text("job.timeline.some", late, words.Text("common.late"))
		t.Legend = append(t.Legend, "late")
	}
	if retried > 0 {
		t.Summary += " " + words.Text("job.timeline.some", retried, words.Text("job.timeline.are.retried"))
		t.Legend = append(t.Legend, "retried")
	}
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
		day, was, is := t.Format("Mon 2006-01-02"), t.In(time.FixedZone("", before)).Format("15:04"), t.Format("15:04")
		switch {
		case then > before:
			all = append(all, words.Text("job.next.forward", day, was, is))
		case then < before:
			all = append(all, words.Text("job.next.back", day, was, is))
		}
	}
	return all
}
