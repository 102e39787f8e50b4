package spec

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Plan is what a job does from the moment it is created: its first run and the rest. It applies the table of startTime
// on the Azure page (seed 000):
//
//	startTime     a single run     a recurrence
//	none          at once          at once, then the occurrences counted from the creation
//	past          at once          the occurrences counted from startTime, those before the creation discarded
//	now, future   at startTime     the occurrences counted from startTime
//
// "At once" is the creation time itself; that run counts towards the recurrence's count. No run is after the recurrence's
// end, not even one at once. A Plan is immutable and safe for concurrent use.
type Plan struct {
	recurrence Recurrence // zero for a job that runs once
	schedule   Schedule   // nil for a job that runs once
	first      time.Time
	runs       bool // false: never
	extra      bool // first is not in the schedule
	gap        time.Duration
}

// NewPlan returns the plan of a job. A zero start is none, a nil rec is a job that runs once. A zero created stands for
// a job that was created before everything, so that its start is never in the past. The error is a [document.Problems]
// of the recurrence.
func NewPlan(start, created time.Time, rec *Recurrence) (*Plan, error) {
	start, created = start.Round(0).UTC(), created.Round(0).UTC() // no monotonic clock
	if rec == nil {
		return &Plan{first: later(start, created), runs: true, gap: Forever}, nil
	}
	schedule, err := rec.Compile(start, created)
	if err != nil {
		return nil, err
	}
	p := &Plan{recurrence: *rec, schedule: schedule}
	if start.IsZero() {
		p.first, p.runs = created, rec.End.IsZero() || !created.After(rec.End)
		p.extra = schedule.Count(created, created) == 0
	} else {
		p.first, p.runs = schedule.Next(later(start, created).Add(-1))
	}
	p.gap = smallestGap(schedule, p.first)
	return p, nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// First returns the first run, false if the job never runs.
func (p *Plan) First() (time.Time, bool) { return p.first, p.runs }

// Next returns the first run strictly after t, false if there is none. It honours the recurrence's end but not its
// count, which only the caller can keep.
func (p *Plan) Next(after time.Time) (time.Time, bool) {
	switch {
	case !p.runs:
		return time.Time{}, false
	case after.Before(p.first):
		return p.first, true
	case p.schedule == nil:
		return time.Time{}, false
	}
	return p.schedule.Next(after)
}

// Last returns the last run not after t, false if there is none.
func (p *Plan) Last(notAfter time.Time) (time.Time, bool) {
	if !p.runs || notAfter.Before(p.first) {
		return time.Time{}, false
	}
	if p.schedule != nil {
		if last, ok := p.schedule.Last(notAfter); ok && last.After(p.first) {
			return last, true
		}
	}
	return p.first, true
}

// Count returns how many runs lie in from…to, both included, at about the same cost for any length of time.
func (p *Plan) Count(from, to time.Time) int {
	if !p.runs || to.Before(p.first) || to.Before(from) {
		return 0
	}
	n := 0
	if (p.schedule == nil || p.extra) && !from.After(p.first) {
		n = 1
	}
	if p.schedule != nil {
		n += p.schedule.Count(later(from, p.first), to)
	}
	return n
}

// NextAfterRun returns the run after the occurrence nominal, which was really started at started. On a grid that is
// Next(nominal). With [AnchorLastExecution] it is one interval after started, so that a late start moves all that follow.
func (p *Plan) NextAfterRun(nominal, started time.Time) (time.Time, bool) {
	if p.Anchor() != AnchorLastExecution {
		return p.Next(nominal)
	}
	next := p.recurrence.after(later(nominal, started).Round(0).UTC())
	if !p.runs || next.After(endOfTime) || !p.recurrence.End.IsZero() && next.After(p.recurrence.End) {
		return time.Time{}, false
	}
	return next, true
}

// after returns the instant one interval after t.
func (r Recurrence) after(t time.Time) time.Time {
	n := r.interval()
	switch r.Frequency {
	case Year:
		return document.Duration{Months: 12 * min(n, 10_000)}.AddTo(t)
	case Month:
		return document.Duration{Months: n}.AddTo(t)
	default:
		return t.Add(r.Frequency.Times(n))
	}
}

// Anchor says what the occurrences are counted from.
func (p *Plan) Anchor() Anchor { return p.recurrence.Anchor }

// MaxRuns returns the recurrence's count, zero if there is no limit.
func (p *Plan) MaxRuns() int { return p.recurrence.Count }

// MinInterval returns the interval of the recurrence as it is written, [Frequency.Times], whatever its schedule makes of
// it: what a collection's quota maxRecurrence is compared with. It is Forever for a job that runs once.
func (p *Plan) MinInterval() time.Duration {
	if p.schedule == nil {
		return Forever
	}
	return p.recurrence.Frequency.Times(p.recurrence.interval())
}

// Interval returns the smallest gap between the job's first runs, which is good enough to spread load and nothing else.
// It is Forever for a job that runs once or never.
func (p *Plan) Interval() time.Duration { return p.gap }

// smallestGap returns the smallest gap between the first instants of a schedule not before from.
func smallestGap(s Schedule, from time.Time) time.Duration {
	const few = 8
	gap := Forever
	last, ok := s.Next(from.Add(-1))
	for i := 0; ok && i < few; i++ {
		var next time.Time
		if next, ok = s.Next(last); ok {
			gap, last = min(gap, next.Sub(last)), next
		}
	}
	return gap
}

// Upcoming returns the first n runs of the job, its count applied. Complete says that there are fewer than n, so that
// the job ends with the last of them.
func (p *Plan) Upcoming(n int) (times []time.Time, complete bool) {
	limit := n
	if most := p.MaxRuns(); most > 0 {
		limit = min(n, most)
	}
	t, ok := p.First()
	for ok && len(times) < limit {
		times = append(times, t)
		t, ok = p.Next(t)
	}
	return times, len(times) < n
}
