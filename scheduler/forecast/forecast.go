package forecast

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// The bounds of the time that is looked at.
const (
	DefaultHours = 24
	MaxHours     = 168
)

// Forecast counts the runs of jobs. It is for one goroutine.
type Forecast struct {
	from, to time.Time
	minutes  int

	schedules map[string]*schedule // by their texts
	steps     map[step]*class
	patterns  map[string]*class
	classes   []*class

	jobs    []ref
	targets map[string]int32 // by name: their places in names
	names   []string

	left     LeftOut
	jittered int  // instants that jitter was worked out for
	rough    bool // there were too many of them
	cut      bool // some runs take too much work to find
	scratch  tally
}

// ref identifies a job of the forecast.
type ref struct {
	key    scheduler.Key
	target int32
	still  bool // it is not to be moved: it runs once, has jitter already, or too often
}

// schedule is the text of a schedule, compiled once.
type schedule struct {
	plan  *spec.Plan
	alike bool   // every job with the text has the same instants, from when it was put on
	class *class // of these; nil: not worked out yet
}

// New returns a forecast of so many hours, from the minute of an instant on.
func New(from time.Time, hours int) *Forecast {
	from = from.UTC().Truncate(time.Minute)
	return &Forecast{
		from: from, to: from.Add(time.Duration(hours) * time.Hour), minutes: hours * 60,
		schedules: map[string]*schedule{}, steps: map[step]*class{}, patterns: map[string]*class{}, targets: map[string]int32{},
		scratch: tally{counts: make([]uint16, hours*60)},
	}
}

// NeedsBaton reports whether the forecast of a job requires its baton: its recurrence has a count, or is anchored at
// the last execution.
func NeedsBaton(j *scheduler.Job) bool {
	r := j.Def.Timing.Recurrence
	if r == nil {
		return false
	}
	return r.Count > 0 || r.Anchor == spec.AnchorLastExecution
}

// Add counts the runs of a job. A job that is not enabled is reported as left out. b is the job's baton, required if
// [NeedsBaton] is true; nil then means that the job has ended. The text of a schedule need not be compiled.
func (f *Forecast) Add(j *scheduler.Job, b *scheduler.Baton) {
	switch {
	case j.State == scheduler.Disabled:
		f.left.Disabled++
		return
	case j.State.Final(), b == nil && NeedsBaton(j):
		f.left.Ended++
		return
	}
	c, err := f.classOf(j, b)
	if err != nil {
		f.left.Damaged++
		return
	}
	target, ok := f.targets[j.Def.Action.Run.Target()]
	if !ok {
		target = int32(len(f.names))
		name := j.Def.Action.Run.Target()
		f.targets[name], f.names = target, append(f.names, name)
	}
	still := b != nil || j.OneShot() || j.Def.Jitter > 0 || c.gap < leastGap
	c.jobs = append(c.jobs, int32(len(f.jobs)))
	f.jobs = append(f.jobs, ref{j.Key, target, still})
}

// Closed counts a job that is left out because its collection is disabled. Damaged counts an unreadable job.
func (f *Forecast) Closed() { f.left.Closed++ }

// Damaged counts a job that cannot be read.
func (f *Forecast) Damaged() { f.left.Damaged++ }

// classOf returns the class of a job.
func (f *Forecast) classOf(j *scheduler.Job, b *scheduler.Baton) (*class, error) {
	plan, s := j.Plan, (*schedule)(nil)
	if plan == nil || !isPlain(j) {
		var err error
		if s, err = f.schedule(j); err != nil {
			return nil, err
		}
	}
	if t, waits := afterPause(j, f.from); waits {
		return f.once(t), nil
	}
	if s != nil && s.alike && b == nil && !j.PausedAt(f.from) && j.Def.Jitter == 0 && !j.Anchor.After(f.from) && f.covers(j) {
		if s.class == nil {
			s.class = f.walked(s.plan, f.from, -1)
		}
		return s.class, nil
	}
	if s != nil {
		var err error
		if plan, err = j.PlanLike(s.plan); err != nil {
			return nil, err
		}
	}
	start, limit := f.from, -1
	if b != nil {
		plan = plan.Moved(b.Base)
		start, limit = f.resumed(plan, b)
	}
	start = f.beyondPause(j, plan, start)
	if width := j.Def.Jitter; width > 0 && plan.Interval() >= time.Minute {
		return f.spread(j.Key, plan, start, width, limit), nil
	}
	if by, ok := f.stepOf(j); ok && limit < 0 {
		return f.stepped(plan, start, by), nil
	}
	return f.walked(plan, start, limit), nil
}

// afterPause is when a job that runs once is to run, if it waits for the end of its pause.
func afterPause(j *scheduler.Job, from time.Time) (time.Time, bool) {
	if !j.OneShot() {
		return time.Time{}, false
	}
	t, ok := j.FirstFrom(from)
	return t, ok && t.Equal(j.PausedUntil)
}

// beyondPause is from when on a job runs that would from an instant on: from its next one when it is paused then.
func (f *Forecast) beyondPause(j *scheduler.Job, plan *spec.Plan, start time.Time) time.Time {
	if !j.PausedAt(start) {
		return start
	}
	if next, ok := plan.Next(j.PausedUntil.Add(-1)); ok {
		return next
	}
	return f.to
}

// isPlain reports whether the schedule of a job is no text.
func isPlain(j *scheduler.Job) bool {
	r := j.Def.Timing.Recurrence
	return r == nil || r.Rule == nil
}

// covers reports whether the recurrence of a job neither begins nor ends within the
// forecast.
func (f *Forecast) covers(j *scheduler.Job) bool {
	t := &j.Def.Timing
	return !t.Start.After(f.from) && (t.Recurrence.End.IsZero() || !t.Recurrence.End.Before(f.to))
}

// schedule returns the compiled schedule of a job whose schedule is a text.
func (f *Forecast) schedule(j *scheduler.Job) (*schedule, error) {
	text := j.Def.ScheduleText()
	if s, ok := f.schedules[text]; ok {
		return s, nil
	}
	compiled, err := j.Compiled()
	if err != nil {
		return nil, err
	}
	t := &j.Def.Timing
	a := spec.Context{Name: "a", Seed: "a", Zone: t.Zone, DST: t.DST, Start: t.Start, Created: j.Anchor, End: t.Recurrence.End}
	b := a
	b.Name, b.Seed, b.Created = "b", "b", j.Anchor.Add(time.Hour)
	s := &schedule{plan: compiled.Plan, alike: !t.Recurrence.Rule.Differs(a, b)}
	if s.alike { // also of a job that was put within the forecast
		if s.plan, err = compiled.Plan.For("", "", f.from.Add(-time.Hour)); err != nil {
			return nil, err
		}
	}
	f.schedules[text] = s
	return s, nil
}

// resumed is from when on the job of a baton runs, and how often at most: -1 for no
// limit.
func (f *Forecast) resumed(plan *spec.Plan, b *scheduler.Baton) (start time.Time, limit int) {
	start, limit = b.Nominal, -1
	switch {
	case b.Kind.IsManual() && !b.Rebased():
		start = b.Resume
	case b.Begun():
		start = b.Nominal.Add(1)
	}
	if most := plan.MaxRuns(); most > 0 {
		limit = max(0, most-b.Runs)
		if start.Before(f.from) {
			limit = max(0, limit-plan.Count(start, f.from.Add(-1)))
		}
	}
	if start.Before(f.from) {
		start = f.from
	}
	return start, limit
}
