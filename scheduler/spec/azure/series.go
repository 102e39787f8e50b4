package azure

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// series is the part of a pattern between a start and an end, moved by a phase of less than a minute that the pattern
// cannot express. It is the Schedule of an Azure recurrence.
type series struct {
	pattern pattern
	second  int64 // the phase: whole seconds
	nano    int64 // and the rest
	first   int64 // seconds of the pattern; nothing comes before first or after final
	final   int64 // less than first if there is no occurrence at all
}

// newSeries returns the part of p in start…end, both included. A zero end is none.
func newSeries(p pattern, phase time.Duration, start, end time.Time) *series {
	s := &series{pattern: p, second: int64(phase / time.Second), nano: int64(phase % time.Second), final: -1}
	if end.IsZero() || end.After(calendar.EndOfTime) {
		end = calendar.EndOfTime
	}
	first, ok := p.Next(s.floor(start.Add(-1)) + 1)
	if final := s.floor(end); ok && first <= final {
		s.first, s.final = first, p.Last(final)
	}
	return s
}

// Next implements [instant.Schedule].
func (s *series) Next(after time.Time) (time.Time, bool) {
	from := s.floor(after)
	switch {
	case from >= s.final || s.final < s.first:
		return time.Time{}, false
	case from < s.first:
		return s.time(s.first), true
	}
	next, _ := s.pattern.Next(from + 1)
	return s.time(next), true
}

// Last implements [instant.Schedule].
func (s *series) Last(notAfter time.Time) (time.Time, bool) {
	to := s.floor(notAfter)
	switch {
	case to < s.first || s.final < s.first:
		return time.Time{}, false
	case to >= s.final:
		return s.time(s.final), true
	}
	return s.time(s.pattern.Last(to)), true
}

// Count implements [instant.Schedule].
func (s *series) Count(from, to time.Time) int {
	a := max(s.floor(from.Add(-1))+1, s.first)
	b := min(s.floor(to), s.final)
	return int(s.pattern.Count(a, b))
}

// floor returns the last second of the pattern whose instant is not after t. Times beyond the calendar are moved to its
// edges, so that nothing overflows.
func (s *series) floor(t time.Time) int64 {
	const earliest, latest = -1 << 40, 1 << 40 // 34,000 years
	seconds := min(max(t.Unix(), earliest), latest) - s.second
	if int64(t.Nanosecond()) < s.nano {
		seconds--
	}
	return seconds
}

// time returns the instant of a second of the pattern.
func (s *series) time(seconds int64) time.Time {
	return time.Unix(seconds+s.second, s.nano).UTC()
}

// Countable reports that counting needs no walk; see [instant.Countable].
func (s *series) Countable() bool { return true }
