package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Count implements [Set].
func (s *StepSet) Count(m *work.Meter, a, b int64) int64 {
	if a > b {
		return 0
	}
	if s.round != nil {
		return s.countRound(m, a, b)
	}
	first, _ := calendar.Divide(a, calendar.DayLength)
	final, _ := calendar.Divide(b, calendar.DayLength)
	d := &dayCount{s, m, map[int64]int64{}}
	if first == final {
		return d.part(first, a, b)
	}
	n := d.part(first, a, (first+1)*calendar.DayLength-1) + d.part(final, final*calendar.DayLength, b)
	return n + d.days(first+1, final-1)
}

// countRound counts by arithmetic: whole units by where their steps lie in the round, and the two at the ends, which may
// not be whole.
func (s *StepSet) countRound(m *work.Meter, a, b int64) int64 {
	low, _ := calendar.Divide(a, s.unit)
	high, _ := calendar.Divide(b, s.unit)
	n := s.countUnit(low, a, b)
	if low == high {
		return n
	}
	n += s.countUnit(high, a, b)
	m.Spend(int64(len(s.round)) * 2 * meetingWork)
	first, _ := s.grid.Next(low + 1)
	steps := s.grid.Count(low+1, high-1)
	return n + s.round.met(s.place(first), s.grid.Step, s.turn, steps)*s.timesOfUnit()
}

// countUnit returns how many seconds of the set lie both in a unit and in a…b.
func (s *StepSet) countUnit(unit, a, b int64) int64 {
	if step, _ := s.grid.Next(unit); step != unit {
		return 0
	}
	day, second := calendar.Divide(unit*s.unit, calendar.DayLength)
	if !s.tile.Dates.Has(day) {
		return 0
	}
	from := max(a-day*calendar.DayLength, second)
	to := min(b-day*calendar.DayLength, second+s.unit-1)
	return max(0, s.tile.Times.Before(to+1)-s.tile.Times.Before(from))
}

// dayCount counts a step set day by day. It remembers the sizes of days, by how far the first step is from midnight.
type dayCount struct {
	*StepSet

	meter *work.Meter
	sizes map[int64]int64
}

// part returns how many seconds of the set lie in a…b, two seconds of a day.
func (d *dayCount) part(day, a, b int64) int64 {
	if !d.tile.Dates.Has(day) {
		return 0
	}
	return d.size(d.meter, a, b)
}

// days returns how many seconds of the set lie on the days first…final.
func (d *dayCount) days(first, final int64) int64 {
	n := int64(0)
	next := func(from int64) (int64, bool) {
		day, ok := d.tile.Dates.Next(d.meter, from)
		return day, ok && day <= final && d.meter.Spend(2)
	}
	for day, ok := next(first); ok; day, ok = next(day + 1) {
		midnight := day * calendar.DayLength
		step, _ := d.grid.Next(midnight / d.unit)
		phase := step - midnight/d.unit
		size, known := d.sizes[phase]
		if !known {
			size = d.size(d.meter, midnight, midnight+calendar.DayLength-1)
			d.sizes[phase] = size
		}
		n += size
	}
	return n
}

// size returns how many seconds of the set lie in a…b, two seconds of one day of the tile's dates.
func (s *StepSet) size(m *work.Meter, a, b int64) int64 {
	if s.windows != nil && b-a == calendar.DayLength-1 {
		return s.sizeOfDay(m, a/s.unit)
	}
	n := int64(0)
	for w, ok := s.within(m, a, b); ok; w, ok = s.within(m, w+1, b) {
		n++
	}
	return n
}

// sizeOfDay returns how many seconds of the set lie in the day that begins with a unit. Every unit has the same times.
func (s *StepSet) sizeOfDay(m *work.Meter, midnight int64) int64 {
	m.Spend(int64(len(s.windows)))
	n := int64(0)
	for _, run := range s.windows {
		n += s.grid.Count(midnight+run[0], midnight+run[1])
	}
	return n * s.timesOfUnit()
}
