package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// AgendaQuery selects planned runs by time slot.
type AgendaQuery struct {
	Key scheduler.Key // a job; a collection if Job is empty; all jobs if it is the zero Key

	// At are the boundaries of the slots, in order and on full minutes. Slots in the past are empty.
	At []time.Time

	Named int // maximum number of jobs named per slot

	// Sees and Counted are as in [ForecastQuery].
	Sees    func(collection string) bool
	Counted func(jobs int)
}

// Agenda lists the planned runs per time slot.
type Agenda struct {
	Slots      []forecast.Slot
	Throughout forecast.Slot // jobs that run in most slots; named only here
}

// longestAgenda is a week, including the additional hour at the end of daylight saving time.
const longestAgenda = forecast.MaxHours + 2

func (q *AgendaQuery) check(now time.Time) (from time.Time, hours int, err error) {
	if err = checkScope(q.Key); err != nil {
		return from, 0, err
	}
	if len(q.At) < 2 {
		return from, 0, scheduler.Invalid("at", "there is no time between less than two instants")
	}
	first, last := q.At[0], q.At[len(q.At)-1]
	switch {
	case last.Sub(first) > longestAgenda*time.Hour:
		return from, 0, scheduler.Invalid("at", fmt.Sprintf("is of more than %d hours", longestAgenda))
	case first.After(now.AddDate(farthest, 0, 0)):
		return from, 0, scheduler.Invalid("at", fmt.Sprintf("is more than %d years away", farthest))
	}
	if from = first; from.Before(now) {
		from = now
	}
	from = from.Truncate(time.Minute)
	return from, int((last.Sub(from) + time.Hour - 1) / time.Hour), nil
}

// Agenda returns the planned runs per time slot. It costs as much as [Forecaster.Forecast], except for a single job.
//
// Errors: ErrInvalid for the query; ErrNotFound without the job or the collection; ErrUnavailable if too many requests
// wait.
func (f Forecaster) Agenda(ctx context.Context, q AgendaQuery) (*Agenda, error) {
	from, hours, err := q.check(f.shared.Store.Now().UTC())
	if err != nil {
		return nil, err
	}
	counted := forecast.New(from, max(0, hours))
	if hours > 0 {
		read := &planReader{shared: f.shared, sees: q.Sees, counted: q.Counted, to: counted}
		if err := read.planned(ctx, q.Key, forecast.NeedsBaton); err != nil {
			return nil, err
		}
	}
	a := &Agenda{}
	a.Slots, a.Throughout = counted.Slots(q.At, q.Named)
	return a, nil
}

// RunsQuery selects upcoming runs.
type RunsQuery struct {
	Key scheduler.Key // a job; a collection if Job is empty; all jobs if it is the zero Key

	Days int // number of days from now
	Most int // maximum number of runs

	// Sees reports whether a collection is visible. Default: all.
	Sees func(collection string) bool
}

// Run is an upcoming run.
type Run struct {
	Job     *scheduler.Job // compiled
	Nominal time.Time      // scheduled time
	Due     time.Time      // scheduled time plus jitter
}

// Runs returns the upcoming runs of a job, a collection or all, in the order of their due times. Disabled jobs and
// collections have none. Runs assumes that every run counts toward recurrence.count.
//
// Errors: ErrInvalid for the names; ErrNotFound without the job or the collection; ErrUnavailable if too many requests
// wait.
func (f Forecaster) Runs(ctx context.Context, q RunsQuery) ([]Run, error) {
	now := f.shared.Store.Now().UTC()
	c := &comingRuns{now: now, until: now.AddDate(0, 0, q.Days), most: q.Most}
	if err := checkScope(q.Key); err != nil {
		return nil, err
	}
	read := &planReader{shared: f.shared, sees: q.Sees, to: c}
	if err := read.planned(ctx, q.Key, func(*scheduler.Job) bool { return true }); err != nil {
		return nil, err
	}
	return c.sorted(), nil
}

// comingRuns keeps the earliest runs.
type comingRuns struct {
	now, until time.Time // until moves earlier when enough runs precede it
	most       int
	runs       []Run
}

// Add adds the runs of a job.
func (c *comingRuns) Add(j *scheduler.Job, b *scheduler.Baton) {
	if j.State != scheduler.Enabled {
		return
	}
	j, err := j.Compiled()
	if err != nil {
		return
	}
	if b != nil {
		for _, t := range j.Upcoming(b, c.most) {
			c.take(j, t)
		}
		return
	}
	t, ok := j.FirstFrom(c.now)
	for n := 0; ok && n < c.most && !t.After(c.until); n++ {
		c.take(j, t)
		t, ok = j.Plan.Next(t)
	}
}

// Closed ignores a job of a disabled collection: it has no runs.
func (*comingRuns) Closed() {}

// Damaged ignores an unreadable job.
func (*comingRuns) Damaged() {}

// roomForRuns is the factor by which the buffer exceeds the requested number before it is trimmed.
const roomForRuns = 4

func (c *comingRuns) take(j *scheduler.Job, nominal time.Time) {
	width := j.Def.Jitter
	if next, ok := j.Plan.Next(nominal); ok {
		width = min(width, next.Sub(nominal))
	}
	r := Run{j, nominal, scheduler.Jittered(j.Key, nominal, width)}
	if j.OneShot() && nominal.Equal(j.PausedUntil) { // it waits for the end of the pause, regardless of jitter
		r.Due = nominal
	}
	if r.Due.After(c.until) || r.Due.Before(c.now) {
		return
	}
	if c.runs = append(c.runs, r); len(c.runs) >= roomForRuns*c.most {
		c.runs = c.sorted()
		c.until = c.runs[len(c.runs)-1].Due
	}
}

// sorted returns the earliest runs.
func (c *comingRuns) sorted() []Run {
	slices.SortFunc(c.runs, func(a, b Run) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Job.Key.String(), b.Job.Key.String()))
	})
	return c.runs[:min(c.most, len(c.runs))]
}
