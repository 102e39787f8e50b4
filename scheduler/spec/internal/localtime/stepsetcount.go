package localtime

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// Count implements [Set].
func (s *StepSet) Count(a, b int64) int64 {
	if a > b {
		return 0
	}
	everyDay := s.tile.Dates.Unit == calendar.EachDay && s.tile.Dates.Days == calendar.EveryDay
	if everyDay && s.unit == 1 && s.tile.Times == calendar.AllDay {
		return s.grid.Count(a, b)
	}
	if s.long {
		n := int64(0)
		for w, ok := s.Next(a); ok && w <= b; w, ok = s.Next(w + 1) {
			n++
		}
		return n
	}
	first, _ := calendar.Divide(a, calendar.DayLength)
	final, _ := calendar.Divide(b, calendar.DayLength)
	d := &dayCount{s, map[int64]int64{}}
	if first == final {
		return d.part(first, a, b)
	}
	n := d.part(first, a, (first+1)*calendar.DayLength-1) + d.part(final, final*calendar.DayLength, b)
	turn := s.grid.Step / calendar.GCD(s.grid.Step, calendar.DayLength/s.unit) // days until the steps repeat themselves
	first++
	if everyDay && final-first > 2*turn {
		turns := (final - first) / turn
		n += turns * d.days(first, first+turn-1)
		first += turns * turn
	}
	return n + d.days(first, final-1)
}

// dayCount counts a step set day by day. It remembers the sizes of days, by how far the first step is from midnight.
type dayCount struct {
	*StepSet

	sizes map[int64]int64
}

// part returns how many seconds of the set lie in a…b, two seconds of a day.
func (d *dayCount) part(day, a, b int64) int64 {
	if !d.tile.Dates.Has(day) {
		return 0
	}
	return d.size(a, b)
}

// days returns how many seconds of the set lie on the days first…final.
func (d *dayCount) days(first, final int64) int64 {
	n := int64(0)
	for day, ok := d.tile.Dates.Next(first); ok && day <= final; day, ok = d.tile.Dates.Next(day + 1) {
		midnight := day * calendar.DayLength
		step, _ := d.grid.Next(midnight / d.unit)
		phase := step - midnight/d.unit
		size, known := d.sizes[phase]
		if !known {
			size = d.size(midnight, midnight+calendar.DayLength-1)
			d.sizes[phase] = size
		}
		n += size
	}
	return n
}

// size returns how many seconds of the set lie in a…b, two seconds of one day of the tile's dates.
func (s *StepSet) size(a, b int64) int64 {
	if s.windows != nil && b-a == calendar.DayLength-1 {
		return s.sizeOfDay(a / s.unit)
	}
	n := int64(0)
	for w, ok := s.within(a, b); ok; w, ok = s.within(w+1, b) {
		n++
	}
	return n
}

// sizeOfDay returns how many seconds of the set lie in the day that begins with a unit. Every unit has the same times.
func (s *StepSet) sizeOfDay(midnight int64) int64 {
	n := int64(0)
	for _, run := range s.windows {
		n += s.grid.Count(midnight+run[0], midnight+run[1])
	}
	if s.unit > 1 {
		n *= int64(bits.OnesCount64(s.tile.Times.Seconds))
	}
	if s.unit > 60 {
		n *= int64(bits.OnesCount64(s.tile.Times.Minutes))
	}
	return n
}
