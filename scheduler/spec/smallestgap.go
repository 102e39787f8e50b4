package spec

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Limits of the search for the smallest gap: occurrences in a row, further occurrences on days that differ, and the
// days examined for these.
const (
	gapSteps = 20_000
	gapDays  = 4*366 + 1
)

// SmallestGap returns the smallest distance between two consecutive occurrences, as a collection's quota maxRecurrence
// counts it. In every language it counts from the first occurrence, without the immediate run of a job without start.
// The result is [Forever] for fewer than two occurrences. The search ends at a distance below enough.
//
// The search is bounded. It visits twenty thousand occurrences, fewer for sets of many rules and for sets that are
// expensive to search. If these cover too short a time, it adds the days of four years that have a new number of
// occurrences. Distances that a clock change shortens do not count: a daily job that runs after 23 hours is still
// daily. The distance of an @lastExecution is its interval.
func (p *Plan) SmallestGap(enough time.Duration) time.Duration {
	return p.smallestGap(work.New(gapWork), enough)
}

func (p *Plan) smallestGap(m *work.Meter, enough time.Duration) time.Duration {
	switch {
	case p.schedule == nil || !p.runs:
		return Forever
	case p.Moves() && p.recurrence.Rule == nil:
		return p.recurrence.ShortestInterval()
	}
	s := gapSearch{schedule: p.schedule, zone: p.clock(), smallest: Forever, enough: enough, left: gapSteps, meter: m}
	if most := p.MaxRuns(); most > 0 && !p.extra {
		s.left = min(s.left, most-1)
	}
	last, more := s.walk(p.first, calendar.EndOfTime)
	if !more || s.smallest < enough || p.MaxRuns() > 0 && p.MaxRuns() <= gapSteps || !p.schedule.Countable() {
		return s.smallest
	}
	s.left = gapSteps
	s.days(p.first, last)
	return s.smallest
}

// stepWork is the work to look at a distance.
const stepWork = 4

// clock returns the zone whose changes move the occurrences, nil if none do.
func (p *Plan) clock() *time.Location {
	if p.recurrence.Rule == nil {
		return nil // it counts in UTC
	}
	return p.Zone()
}

// gapSearch looks for the smallest distance between two instants of a schedule.
type gapSearch struct {
	schedule *Schedule
	zone     *time.Location // nil: its clock is never changed
	smallest time.Duration
	enough   time.Duration
	left     int // instants that may yet be walked
	meter    *work.Meter
}

// walk examines the distances between the instants in from…to and their predecessors. It returns the last instant
// visited, and whether more may follow.
func (s *gapSearch) walk(from, to time.Time) (last time.Time, more bool) {
	last, ok := s.schedule.NextIn(s.meter, from.Add(-1))
	for ok && s.left > 0 {
		next, more := s.schedule.NextIn(s.meter, last)
		s.meter.Spend(stepWork)
		if s.meter.Exhausted() {
			return last, false
		}
		if !more || next.After(to) {
			return last, false
		}
		s.left--
		if d := next.Sub(last); d < s.smallest && !s.changed(last, next) {
			s.smallest = d
			if d < s.enough {
				return next, true
			}
		}
		last = next
	}
	return last, ok
}

// days walks the days behind an instant that have another number of instants than any day from first on.
func (s *gapSearch) days(first, last time.Time) {
	const day = 24 * time.Hour
	seen := map[int]bool{}
	at := first.Truncate(day)
	for range gapDays {
		n := s.schedule.CountIn(s.meter, at, at.Add(day-1))
		if !seen[n] && n > 0 {
			seen[n] = true
			if at.Add(day).After(last) { // it was not walked as a whole
				s.walk(at.Add(-day), at.Add(2*day))
			}
		}
		if s.smallest < s.enough || s.left == 0 || s.meter.Exhausted() {
			return
		}
		at = at.Add(day)
	}
}

// moved is the maximum shift of times that a clock change skips.
const moved = 3 * time.Hour

// changed reports whether the clock was changed between two instants, or so shortly before that it has moved the first.
func (s *gapSearch) changed(a, b time.Time) bool {
	if s.zone == nil {
		return false
	}
	_, before := a.Add(-moved).In(s.zone).Zone()
	_, after := b.In(s.zone).Zone()
	return before != after
}

// DSTGap returns the first change of the clock after an instant, up to until, that omits times of the schedule: the
// clock skips them, and the policy is [GapSkip]. Zero until: no limit.
//
// Omitted times are not instants: Next, Last, Count and the recurrence's count ignore them. Without a clock change in
// the period, the cost is one lookup.
func (p *Plan) DSTGap(after, until time.Time) (DSTGap, bool) {
	if p.schedule == nil {
		return DSTGap{}, false
	}
	return metered(searchWork, func(m *work.Meter) (DSTGap, bool) { return p.schedule.NextGap(m, after, until) })
}

// PerDay returns how many runs each of n days has, on the clock of [Plan.Zone], beginning with the day of an instant. The
// recurrence's count is applied as if every run took place. Runs are counted, not enumerated, so frequent jobs cost no
// more than rare ones. If the budget is exhausted, there are fewer days, and complete is false.
func (p *Plan) PerDay(from time.Time, n int) (runs []int, complete bool) {
	left := p.MaxRuns()
	m := work.New(yearWork)
	day := from.In(p.Zone())
	begin := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, day.Location())
	if left > 0 {
		spent, exact := p.spent(m, begin.Add(-1))
		if !exact {
			return nil, false
		}
		m.Reset(yearWork)
		if left -= spent; left <= 0 {
			return make([]int, n), true
		}
	}
	for i := range n {
		end := time.Date(day.Year(), day.Month(), day.Day()+i+1, 0, 0, 0, 0, day.Location())
		count := p.count(m, begin, end.Add(-1))
		if m.Exhausted() {
			return runs, false
		}
		if left > 0 {
			if count = min(count, left); count == left {
				return append(append(runs, count), make([]int, n-i-1)...), true
			}
			left -= count
		}
		runs, begin = append(runs, count), end
	}
	return runs, true
}
