package instant

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Schedule is a compiled schedule: the instants of one or more clocks, in UTC, equal ones once. It is immutable and safe
// for concurrent use.
//
// The methods with a meter count their work. With an exhausted meter, the result is meaningless.
type Schedule struct {
	clocks []clock
	one    [1]clock  // memory of clocks, unless they are more
	begun  bool      // first and some are known
	first  time.Time // the first instant after the zero time
	some   bool      // the schedule has an instant
}

// Span is the seconds since the epoch in From…To, both included.
type Span struct{ From, To int64 }

// NewZoned returns the instants of local times in a zone. dst leaves nothing open.
func NewZoned(w *localtime.Set, loc *time.Location, dst DST) *Schedule {
	c := clock{set: w, zone: tz.Of(loc), gap: dst.Gap, once: dst.Overlap == OverlapFirst, end: calendar.EndOfTime}
	return withClocks(c)
}

func withClocks(clocks ...clock) *Schedule {
	s := &Schedule{}
	s.clocks = append(s.one[:0], clocks...)
	return s
}

// FirstShown returns the first instant at which the zone's clock shows a local time or, if it jumps over it, the
// instant that comes as long after the jump's start as the clock would have said.
func FirstShown(local int64, zone *time.Location) time.Time {
	t, _ := NewZoned(localtime.At(local), zone, DST{GapShift, OverlapFirst}).Next(time.Unix(local-tz.Margin, 0))
	return t
}

// UnionOf returns the union of schedules.
func UnionOf(schedules ...*Schedule) *Schedule {
	if len(schedules) == 1 {
		return schedules[0]
	}
	u := &Schedule{}
	for _, s := range schedules {
		u.clocks = append(u.clocks, s.clocks...)
	}
	return u
}

// changed returns a schedule whose clocks are changed. Its first instant is not known.
func (s *Schedule) changed(change func(c *clock)) *Schedule {
	other := withClocks(s.clocks...)
	for i := range other.clocks {
		change(&other.clocks[i])
	}
	return other
}

// Clip returns the part of a schedule in start…end, both included. Zero start or end: none.
func (s *Schedule) Clip(start, end time.Time) *Schedule {
	if start.IsZero() && end.IsZero() {
		return s
	}
	part := s.changed(func(c *clock) {
		c.start = Later(c.start, start)
		if !end.IsZero() && end.Before(c.end) {
			c.end = end
		}
	})
	if s.begun && (!s.some || !s.first.Before(start)) {
		part.begun, part.first = true, s.first
		part.some = s.some && (end.IsZero() || !s.first.After(end))
	}
	return part
}

// Delay moves a schedule that is not delayed.
func (s *Schedule) Delay(by time.Duration) *Schedule {
	if by == 0 {
		return s
	}
	return s.changed(func(c *clock) {
		c.second, c.nano = int64(by/time.Second), int64(by%time.Second)
		if !c.start.IsZero() {
			c.start = c.start.Add(by)
		}
		if c.end.Before(calendar.EndOfTime) {
			c.end = c.end.Add(by)
		}
	})
}

// Without returns a schedule of whole seconds, which is not delayed, without those in spans.
func (s *Schedule) Without(spans []Span) *Schedule {
	if len(spans) == 0 {
		return s
	}
	var merged []Span
	for _, span := range slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return cmp.Compare(a.From, b.From) }) {
		if n := len(merged); n > 0 && span.From <= merged[n-1].To {
			merged[n-1].To = max(merged[n-1].To, span.To)
		} else {
			merged = append(merged, span)
		}
	}
	return s.changed(func(c *clock) { c.except = merged })
}

// Begun returns a schedule that remembers its first instant: that search can be most of the work that it ever takes. If the
// meter is exhausted by then, the schedule is of no use.
func (s *Schedule) Begun(m *work.Meter) *Schedule {
	begun := withClocks(s.clocks...)
	begun.begun = true
	begun.first, begun.some = s.NextIn(m, time.Time{})
	return begun
}

// Countable reports whether a schedule counts without walking, in negligible time.
func (s *Schedule) Countable() bool {
	return len(s.clocks) == 1 && s.clocks[0].set.Countable()
}

// Next returns the first instant strictly after t, false without one.
func (s *Schedule) Next(after time.Time) (time.Time, bool) { return s.NextIn(nil, after) }

// NextIn is [Schedule.Next] with a meter.
func (s *Schedule) NextIn(m *work.Meter, after time.Time) (best time.Time, some bool) {
	if s.begun && (!s.some || after.Before(s.first) && !after.Before(time.Time{})) {
		return s.first, s.some
	}
	if len(s.clocks) == 1 {
		return s.clocks[0].next(m, after)
	}
	for i := range s.clocks {
		if t, ok := s.clocks[i].next(m, after); ok && (!some || t.Before(best)) {
			best, some = t, true
		}
	}
	return best, some
}

// Last returns the last instant not after t, false without one.
func (s *Schedule) Last(notAfter time.Time) (time.Time, bool) { return s.LastIn(nil, notAfter) }

// LastIn is [Schedule.Last] with a meter.
func (s *Schedule) LastIn(m *work.Meter, notAfter time.Time) (best time.Time, some bool) {
	if s.begun && (!s.some || notAfter.Before(s.first)) {
		return time.Time{}, false
	}
	for i := range s.clocks {
		if t, ok := s.clocks[i].last(m, notAfter); ok && (!some || t.After(best)) {
			best, some = t, true
		}
	}
	return best, some
}

// Count returns how many instants lie in from…to, both included. It does not walk them, so that ten years of minutes cost
// about as much as ten minutes. It walks only the instants of the second and later clocks, and exclusions by steps.
func (s *Schedule) Count(from, to time.Time) int { return s.CountIn(nil, from, to) }

// CountIn is [Schedule.Count] with a meter.
func (s *Schedule) CountIn(m *work.Meter, from, to time.Time) int {
	if s.begun && (!s.some || to.Before(s.first)) {
		return 0
	}
	n := 0
	for i := range s.clocks {
		c := &s.clocks[i]
		n += c.count(m, from, to)
		if i == 0 {
			continue
		}
		earlier := Schedule{clocks: s.clocks[:i]}
		for t, ok := c.next(m, from.Add(-1)); ok && !t.After(to); t, ok = c.next(m, t) {
			if found, ok := earlier.LastIn(m, t); ok && found.Equal(t) {
				n--
			}
		}
	}
	return n
}

// Notes returns remarks in English about the changes of clocks in from…to, in order, a few at most.
func (s *Schedule) Notes(m *work.Meter, from, to time.Time) []string {
	var list []note
	for i := range s.clocks {
		list = append(list, s.clocks[i].notes(m, from.Unix(), to.Unix())...)
	}
	slices.SortStableFunc(list, func(a, b note) int { return cmp.Compare(a.at, b.at) })
	list = slices.Compact(list)
	var texts []string
	for _, remark := range list[:min(len(list), mostNotes)] {
		texts = append(texts, remark.text)
	}
	return texts
}

// DSTGap has the occurrences that a schedule skips at one change of the clock, because their local times do not exist.
type DSTGap struct {
	At    time.Time // the change: the first instant after it
	Count int       // how many times of the schedule the clock jumps over
	Text  string    // in English, as in the notes of a preview
}

// NextGap returns the first change of the clock after an instant, up to until, that skips times of the schedule. Zero
// until: no limit. A time that the clocks of several zones skip counts once.
func (s *Schedule) NextGap(m *work.Meter, after, until time.Time) (DSTGap, bool) {
	to := int64(math.MaxInt64 - 1) // an interval without an end ends later
	if !until.IsZero() {
		to = until.Unix()
	}
	var all []gap
	for i := range s.clocks {
		g, ok := s.clocks[i].nextGap(m, after.Unix()+1, to)
		if !ok {
			continue
		}
		if g.at() < to {
			to, all = g.at(), all[:0]
		}
		all = append(all, g)
	}
	if len(all) == 0 {
		return DSTGap{}, false
	}
	found := all[0]
	for _, g := range all[1:] {
		found = found.with(m, g)
	}
	text := found.clock.remark(found.interval, found.first, found.last)
	return DSTGap{At: time.Unix(found.at(), 0).UTC(), Count: found.count, Text: text}, true
}

// Later returns the later of two instants.
func Later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
