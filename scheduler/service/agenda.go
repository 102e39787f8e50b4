package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// AgendaQuery says of which parts of the time it is asked what is planned in them.
type AgendaQuery struct {
	Key scheduler.Key // of a job; of a collection when Job is empty; of all jobs when it is the zero Key

	// At are the instants between which the parts are, in order and on full minutes. What is before now is planned no more.
	At []time.Time

	Named int // so many jobs of each part are named, at most

	// Sees and Counted are as [ForecastQuery] has them.
	Sees    func(collection string) bool
	Counted func(jobs int)
}

// Agenda is what is planned in parts of the time.
type Agenda struct {
	Slots      []forecast.Slot
	Throughout forecast.Slot // jobs that run in most parts: they are named here alone
}

// longestAgenda is a week in which clocks are put back, with room.
const longestAgenda = forecast.MaxHours + 2

func (q *AgendaQuery) check(now time.Time) (from time.Time, hours int, err error) {
	if q.Key.Job != "" {
		err = q.Key.Validate()
	} else if q.Key.Collection != "" {
		err = scheduler.ValidateCollection(q.Key.Collection)
	}
	if err != nil {
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

// Agenda tells what is planned in parts of the time. It costs as much as [Forecaster.Forecast], but for one job.
//
// Errors: ErrInvalid for the query; ErrNotFound without the job or the collection; ErrUnavailable when too many wait already.
func (f Forecaster) Agenda(ctx context.Context, q AgendaQuery) (*Agenda, error) {
	from, hours, err := q.check(f.shared.Store.Now().UTC())
	if err != nil {
		return nil, err
	}
	counted := forecast.New(from, max(0, hours))
	switch {
	case hours <= 0:
	case q.Key.Job != "":
		err = f.addPlanned(ctx, q.Key, counted)
	default:
		err = f.addAllPlanned(ctx, &q, counted)
	}
	if err != nil {
		return nil, err
	}
	a := &Agenda{}
	a.Slots, a.Throughout = counted.Slots(q.At, q.Named)
	return a, nil
}

// addAllPlanned counts the jobs of a collection, or all.
func (f Forecaster) addAllPlanned(ctx context.Context, q *AgendaQuery, to *forecast.Forecast) error {
	if q.Key.Collection != "" {
		if err := f.shared.exists(ctx, q.Key.Collection); err != nil {
			return err
		}
	}
	release, err := takeTurn(ctx, f.shared.doctoring)
	if err != nil {
		return err
	}
	defer release()
	return f.shared.eachPlanned(ctx, q.Key.Collection, q.Sees, telling(to, q.Counted))
}

// addPlanned counts one job.
func (f Forecaster) addPlanned(ctx context.Context, k scheduler.Key, to *forecast.Forecast) error {
	j, err := f.shared.loadInTurn(ctx, k)
	if _, damaged := errors.AsType[*scheduler.DamagedError](err); damaged {
		return nil
	}
	if err != nil || !f.shared.open(ctx, k.Collection) {
		return err
	}
	var b *scheduler.Baton
	if j.State == scheduler.Enabled && forecast.NeedsBaton(j) {
		if b, _, err = (&planner{f.shared}).baton(ctx, j); err != nil {
			return err
		}
	}
	to.Add(j, b)
	return nil
}

// telling is what takes the plans of jobs, and tells how many of them it has taken. tell may be nil.
func telling(to planned, tell func(jobs int)) planned {
	if tell == nil {
		return to
	}
	return &countedPlans{to: to, tell: tell}
}

// countedPlans is what [telling] returns. It is for one goroutine, as what it counts for.
type countedPlans struct {
	to   planned
	tell func(jobs int)
	jobs int
}

// tellEvery is after how many jobs it is told again.
const tellEvery = 256

func (c *countedPlans) count() {
	c.jobs++
	if c.jobs%tellEvery == 0 {
		c.tell(c.jobs)
	}
}

// Add counts a job.
func (c *countedPlans) Add(j *scheduler.Job, b *scheduler.Baton) { c.count(); c.to.Add(j, b) }

// Closed counts one whose collection is disabled.
func (c *countedPlans) Closed() { c.count(); c.to.Closed() }

// Damaged counts one that cannot be read.
func (c *countedPlans) Damaged() { c.count(); c.to.Damaged() }

// RunsQuery says which coming runs are asked for.
type RunsQuery struct {
	Key scheduler.Key // of a job; of a collection when Job is empty; of all jobs when it is the zero Key

	Days int // how far ahead
	Most int // how many at most: the next ones

	// Sees says which collections may be seen; nil: all.
	Sees func(collection string) bool
}

// Run is a run that is to come.
type Run struct {
	Job     *scheduler.Job // compiled
	Nominal time.Time      // by the schedule
	Due     time.Time      // with its jitter
}

// Runs returns the coming runs of a job, a collection or all, in the order in which they are due. Jobs that are disabled, or
// whose collections are, have none. recurrence.count is applied as if each run took place.
//
// Errors: ErrInvalid for the names; ErrNotFound without the job or the collection; ErrUnavailable when too many wait.
func (f Forecaster) Runs(ctx context.Context, q RunsQuery) ([]Run, error) {
	now := f.shared.Store.Now().UTC()
	c := &comingRuns{now: now, until: now.AddDate(0, 0, q.Days), most: q.Most}
	if q.Key.Job != "" {
		if err := f.runsOf(ctx, q.Key, c); err != nil {
			return nil, err
		}
		return c.sorted(), nil
	}
	if q.Key.Collection != "" {
		err := scheduler.ValidateCollection(q.Key.Collection)
		if err == nil {
			err = f.shared.exists(ctx, q.Key.Collection)
		}
		if err != nil {
			return nil, err
		}
	}
	release, err := takeTurn(ctx, f.shared.doctoring)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := f.shared.eachPlanned(ctx, q.Key.Collection, q.Sees, c); err != nil {
		return nil, err
	}
	return c.sorted(), nil
}

// runsOf takes the runs of one job.
func (f Forecaster) runsOf(ctx context.Context, k scheduler.Key, to *comingRuns) error {
	if err := k.Validate(); err != nil {
		return err
	}
	j, err := f.shared.loadInTurn(ctx, k)
	if _, damaged := errors.AsType[*scheduler.DamagedError](err); damaged {
		return nil
	}
	if err != nil || j.State != scheduler.Enabled || !f.shared.open(ctx, k.Collection) {
		return err
	}
	b, _, err := (&planner{f.shared}).baton(ctx, j)
	if err != nil || b == nil {
		return err
	}
	to.Add(j, b)
	return nil
}

// comingRuns keeps the next of all runs.
type comingRuns struct {
	now, until time.Time // until falls when there are enough before
	most       int
	runs       []Run
}

// Add takes the runs of a job.
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

// Closed and Damaged are of jobs that have no runs.
func (*comingRuns) Closed() {}

// Damaged is of a job that cannot be read.
func (*comingRuns) Damaged() {}

// roomForRuns is how many times as many runs are kept as are asked for, before they are sorted out.
const roomForRuns = 4

func (c *comingRuns) take(j *scheduler.Job, nominal time.Time) {
	width := j.Def.Jitter
	if next, ok := j.Plan.Next(nominal); ok {
		width = min(width, next.Sub(nominal))
	}
	r := Run{j, nominal, scheduler.Jittered(j.Key, nominal, width)}
	if j.OneShot() && nominal.Equal(j.PausedUntil) { // it waits for that, whatever its jitter
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

// sorted returns the next runs.
func (c *comingRuns) sorted() []Run {
	slices.SortFunc(c.runs, func(a, b Run) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Job.Key.String(), b.Job.Key.String()))
	})
	return c.runs[:min(c.most, len(c.runs))]
}
