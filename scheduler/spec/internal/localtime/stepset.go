package localtime

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// StepSet contains the times of a tile that fall in every n-th second, minute or hour. No tile can express it, because
// the steps do not repeat daily. "Every 7 hours, on the hour and at half past" is an example.
type StepSet struct {
	unit    int64          // length in seconds of a unit of the grid; divides an hour
	grid    calendar.Cycle // of units since the epoch, one phase
	tile    Tile
	windows windows // of the tile's times, nil if they are too many
	long    bool    // the intersection of steps and windows is computed, not searched day by day

	// round is the windows of a tile with all days, or with certain weekdays, in a minute, an hour, a day or a week.
	// They repeat after turn units, so that their intersection with the steps is pure arithmetic. nil if they do not
	// repeat.
	round windows
	turn  int64
}

// NewStepSet returns the times of a tile in the units anchor + k·step.
func NewStepSet(unit, anchor, step int64, t Tile) *StepSet {
	switch unit { // what no step meets is left out, so that exclusions can be seen to leave nothing
	case 1:
		t.Times.Seconds &= calendar.StepBits(calendar.Mod(anchor, 60), calendar.GCD(step, 60), 60)
	case 60:
		t.Times.Minutes &= calendar.StepBits(calendar.Mod(anchor, 60), calendar.GCD(step, 60), 60)
	default:
		t.Times.Hours &= uint32(calendar.StepBits(calendar.Mod(anchor, 24), calendar.GCD(step, 24), 24))
	}
	s := &StepSet{unit: unit, grid: calendar.StepCycle(anchor, step), tile: t}
	s.windows = windowsOf(t.Times, unit)
	s.measure()
	return s
}

// measure finds out how the set is searched.
func (s *StepSet) measure() {
	s.round, s.turn = nil, 0
	if s.tile.Dates.Unit == calendar.EachDay && s.tile.Dates.Days.Weekly() {
		s.round, s.turn = roundOf(s.tile, s.unit)
	}
	perDay := float64(calendar.DayLength / s.unit)
	steps := perDay / float64(s.grid.Step) // a day
	units := s.unitsOfDay()
	met := float64(units.Size()) / perDay // of a step's chance to be in the times
	days := s.tile.Dates.Days.Share()
	s.long = s.windows != nil && days > 0 && float64(len(s.windows)*meetingWork)/days < (2+steps)/(steps*met)
}

// within the units of the day that the tile's times have, each has so many of them.
func (s *StepSet) timesOfUnit() int64 {
	n := int64(1)
	if s.unit > 1 {
		n *= int64(bits.OnesCount64(s.tile.Times.Seconds))
	}
	if s.unit > 60 {
		n *= int64(bits.OnesCount64(s.tile.Times.Minutes))
	}
	return n
}

// run returns a run of seconds of the set that one of them, w, belongs to: as far as its unit and its hour go.
func (s *StepSet) run(w int64) (first, last int64) {
	day, second := calendar.Divide(w, calendar.DayLength)
	first, last = s.tile.Times.Run(second)
	number, _ := calendar.Divide(w, s.unit)
	midnight := day * calendar.DayLength
	return max(midnight+first, number*s.unit), min(midnight+last, (number+1)*s.unit-1)
}

const weekLength = 7 * calendar.DayLength

// Reach takes the weekdays out of the tile on which no step ever falls into its times, and reports whether any is left.
// Steps come back to the same place of the week after some weeks; in between they visit every place that is as far from
// the anchor, modulo the greatest common divisor of a step and a week.
func (s *StepSet) Reach(m *work.Meter) bool {
	visited := *s
	visited.grid = calendar.StepCycle(s.grid.Anchor, calendar.GCD(s.grid.Step, weekLength/s.unit))
	weekdays := uint64(0)
	for weekday := range int64(7) {
		start := (monday + weekday) * calendar.DayLength
		if _, ok := visited.within(m, start, start+calendar.DayLength-1); ok {
			weekdays |= 1 << weekday
		}
	}
	if weekdays != 1<<7-1 {
		m.Spend(calendar.FillWork + calendar.JoinWork)
		s.tile.Dates = s.tile.Dates.Less(m, s.tile.Dates.Days.And(calendar.DaysOfWeek(weekdays)))
		s.measure()
	}
	return !s.tile.Never(m)
}

// monday is the day 1969-12-29.
const monday = -3

// within returns the first second of the set in a…b, two seconds of one day, regardless of the tile's dates.
func (s *StepSet) within(m *work.Meter, a, b int64) (int64, bool) {
	midnight := a - calendar.Mod(a, calendar.DayLength)
	for a <= b && m.Spend(1) {
		number, _ := calendar.Divide(a, s.unit)
		step, _ := s.grid.Next(number)
		if step > number {
			a = step * s.unit
		}
		if a > b {
			break
		}
		time, ok := s.tile.Times.Next(a - midnight)
		if !ok || midnight+time > b {
			break
		}
		a = midnight + time
		if number, _ := calendar.Divide(a, s.unit); number == step {
			return a, true
		}
	}
	return 0, false
}

// Next implements [Set].
func (s *StepSet) Next(m *work.Meter, w int64) (int64, bool) {
	if s.round != nil && s.arithmetic() {
		met, ok := s.meet(m, w)
		return met, ok && met <= calendar.LastSecond
	}
	for i := range calendar.SearchLimit {
		if s.round != nil && i == len(s.round) { // as much work as to compute it
			met, ok := s.meet(m, w)
			return met, ok && met <= calendar.LastSecond
		}
		number, _ := calendar.Divide(w, s.unit)
		step, _ := s.grid.Next(number)
		w = max(w, step*s.unit)
		day, _ := calendar.Divide(w, calendar.DayLength)
		found, ok := s.tile.Dates.Next(m, day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found * calendar.DayLength
		}
		end := found*calendar.DayLength + calendar.DayLength - 1
		if match, ok := s.within(m, w, end); ok {
			return match, true
		}
		w = end + 1
		if s.long {
			if w, ok = s.meet(m, w); !ok {
				return 0, false
			}
		}
	}
	return 0, m.GiveUp()
}

// arithmetic reports whether to meet the round is less work than to look for it.
func (s *StepSet) arithmetic() bool { return s.long || len(s.round) <= 2 }

// Last implements [Set].
func (s *StepSet) Last(m *work.Meter, w int64) (int64, bool) {
	if s.round != nil && s.arithmetic() {
		met, ok := s.meetLast(m, w)
		return met, ok && met >= calendar.FirstSecond
	}
	for i := range calendar.SearchLimit {
		if s.round != nil && i == len(s.round) {
			met, ok := s.meetLast(m, w)
			return met, ok && met >= calendar.FirstSecond
		}
		if s.long {
			met, ok := s.meetLast(m, w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := calendar.Divide(w, s.unit)
		step := s.grid.Last(number)
		w = min(w, (step+1)*s.unit-1)
		day, second := calendar.Divide(w, calendar.DayLength)
		found, ok := s.tile.Dates.Last(m, day)
		if !ok || !m.Spend(1) {
			return 0, false
		}
		if found != day {
			w = found*calendar.DayLength + calendar.DayLength - 1
			continue
		}
		time, ok := s.tile.Times.Last(second)
		if !ok {
			w = day*calendar.DayLength - 1
			continue
		}
		w = day*calendar.DayLength + time
		if number, _ := calendar.Divide(w, s.unit); number == step {
			return w, true
		}
	}
	return 0, m.GiveUp()
}

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
