package localtime

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// stride limits a layer to every n-th second, minute or hour where no masks of times can, because the steps do not come
// back to the same times every day. "Every 7 hours, on the hour and at half past" is an example.
type stride struct {
	unit    int64          // length in seconds of a unit of the grid; divides an hour
	grid    calendar.Cycle // of units since the epoch, one phase
	free    bool           // of seconds, on all days and at all times: the grid is the layer
	windows windows        // of the layer's times, nil if they are too many
	long    bool           // the intersection of steps and windows is computed, not searched day by day

	// round is the windows of a layer with all days, or with certain weekdays, in a minute, an hour, a day or a week.
	// They repeat after turn units, so that their intersection with the steps is pure arithmetic. nil if they do not
	// repeat.
	round windows
	turn  int64
}

// strided returns the times of a layer without a stride in the units anchor + k·step.
func strided(unit, anchor, step int64, l Layer) Layer {
	every := l.Times == calendar.AllDay && l.Dates.Unit == calendar.EachDay && l.Dates.Days == calendar.EveryDay
	switch unit { // without times that no step meets, so that an empty result of exclusions is visible
	case 1:
		l.Times.Seconds &= calendar.StepBits(calendar.Mod(anchor, 60), calendar.GCD(step, 60), 60)
	case 60:
		l.Times.Minutes &= calendar.StepBits(calendar.Mod(anchor, 60), calendar.GCD(step, 60), 60)
	default:
		l.Times.Hours &= uint32(calendar.StepBits(calendar.Mod(anchor, 24), calendar.GCD(step, 24), 24))
	}
	l.stride = &stride{unit: unit, grid: calendar.StepCycle(anchor, step), free: every && unit == 1}
	return l.measured()
}

// with returns the layer with other dates and times, in the same steps.
func (l *Layer) with(dates calendar.Dates, times calendar.Times) Layer {
	changed := Layer{Dates: dates, Times: times}
	if l.stride != nil {
		changed.stride = &stride{unit: l.unit, grid: l.grid}
		changed = changed.measured()
	}
	return changed
}

// measured returns the layer with how it is searched.
func (l *Layer) measured() Layer {
	if l.free {
		return *l
	}
	s := &stride{unit: l.unit, grid: l.grid}
	s.windows = windowsOf(l.Times, l.unit)
	if l.Dates.Unit == calendar.EachDay && l.Dates.Days.Weekly() {
		s.round, s.turn = roundOf(l)
	}
	perDay := float64(calendar.DayLength / l.unit)
	steps := perDay / float64(l.grid.Step) // a day
	units := l.unitsOfDay()
	met := float64(units.Size()) / perDay // of a step's chance to be in the times
	days := l.Dates.Days.Share()
	s.long = s.windows != nil && days > 0 && float64(len(s.windows)*meetingWork)/days < (2+steps)/(steps*met)
	return Layer{s, l.Dates, l.Times}
}

// within the units of the day that the layer's times have, each has so many of them.
func (l *Layer) timesOfUnit() int64 {
	n := int64(1)
	if l.unit > 1 {
		n *= int64(bits.OnesCount64(l.Times.Seconds))
	}
	if l.unit > 60 {
		n *= int64(bits.OnesCount64(l.Times.Minutes))
	}
	return n
}

const weekLength = 7 * calendar.DayLength

// reached returns the layer without the weekdays on which no step ever falls into its times, and whether any day is left.
// Steps come back to the same place of the week after some weeks; in between they visit every place that is as far from
// the anchor, modulo the greatest common divisor of a step and a week.
func (l *Layer) reached(m *work.Meter) (left Layer, some bool) {
	if left = *l; l.free {
		return left, true
	}
	visited := *l
	visited.stride = &stride{unit: l.unit, grid: calendar.StepCycle(l.grid.Anchor, calendar.GCD(l.grid.Step, weekLength/l.unit))}
	weekdays := uint64(0)
	for weekday := range int64(7) {
		start := (monday + weekday) * calendar.DayLength
		if _, ok := visited.within(m, start, start+calendar.DayLength-1); ok {
			weekdays |= 1 << weekday
		}
	}
	if weekdays != 1<<7-1 {
		m.Spend(calendar.FillWork + calendar.JoinWork)
		left = l.with(l.Dates.Less(m, l.Dates.Days.And(calendar.DaysOfWeek(weekdays))), l.Times)
	}
	return left, !left.Dates.Never(m)
}

// monday is the day 1969-12-29.
const monday = -3

// within returns the first second of the set in a…b, two seconds of one day, regardless of the layer's dates.
func (l *Layer) within(m *work.Meter, a, b int64) (int64, bool) {
	midnight := a - calendar.Mod(a, calendar.DayLength)
	for a <= b && m.Spend(1) {
		number, _ := calendar.Divide(a, l.unit)
		step, _ := l.grid.Next(number)
		if step > number {
			a = step * l.unit
		}
		if a > b {
			break
		}
		time, ok := l.Times.Next(a - midnight)
		if !ok || midnight+time > b {
			break
		}
		a = midnight + time
		if number, _ := calendar.Divide(a, l.unit); number == step {
			return a, true
		}
	}
	return 0, false
}

// nextStep returns the first second of a layer with a stride not before w.
func (l *Layer) nextStep(m *work.Meter, w int64) (int64, bool) {
	if l.free {
		return l.grid.Next(w)
	}
	if l.round != nil && l.arithmetic() {
		met, ok := l.meet(m, w)
		return met, ok && met <= calendar.LastSecond
	}
	for i := range calendar.SearchLimit {
		if l.round != nil && i == len(l.round) { // the work of computing it
			met, ok := l.meet(m, w)
			return met, ok && met <= calendar.LastSecond
		}
		number, _ := calendar.Divide(w, l.unit)
		step, _ := l.grid.Next(number)
		w = max(w, step*l.unit)
		day, _ := calendar.Divide(w, calendar.DayLength)
		found, ok := l.Dates.Next(m, day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found * calendar.DayLength
		}
		end := found*calendar.DayLength + calendar.DayLength - 1
		if match, ok := l.within(m, w, end); ok {
			return match, true
		}
		w = end + 1
		if l.long {
			if w, ok = l.meet(m, w); !ok {
				return 0, false
			}
		}
	}
	return 0, m.GiveUp()
}

// arithmetic reports whether to meet the round is less work than to look for it.
func (l *Layer) arithmetic() bool { return l.long || len(l.round) <= 2 }

// lastStep returns the last second of a layer with a stride not after w.
func (l *Layer) lastStep(m *work.Meter, w int64) (int64, bool) {
	if l.free {
		return l.grid.Last(w), true
	}
	if l.round != nil && l.arithmetic() {
		met, ok := l.meetLast(m, w)
		return met, ok && met >= calendar.FirstSecond
	}
	for i := range calendar.SearchLimit {
		if l.round != nil && i == len(l.round) {
			met, ok := l.meetLast(m, w)
			return met, ok && met >= calendar.FirstSecond
		}
		if l.long {
			met, ok := l.meetLast(m, w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := calendar.Divide(w, l.unit)
		step := l.grid.Last(number)
		w = min(w, (step+1)*l.unit-1)
		day, second := calendar.Divide(w, calendar.DayLength)
		found, ok := l.Dates.Last(m, day)
		if !ok || !m.Spend(1) {
			return 0, false
		}
		if found != day {
			w = found*calendar.DayLength + calendar.DayLength - 1
			continue
		}
		time, ok := l.Times.Last(second)
		if !ok {
			w = day*calendar.DayLength - 1
			continue
		}
		w = day*calendar.DayLength + time
		if number, _ := calendar.Divide(w, l.unit); number == step {
			return w, true
		}
	}
	return 0, m.GiveUp()
}

// countSteps returns how many seconds of a layer with a stride lie in a…b.
func (l *Layer) countSteps(m *work.Meter, a, b int64) int64 {
	switch {
	case l.free:
		return l.grid.Count(a, b)
	case l.round != nil:
		return l.countRound(m, a, b)
	}
	first, _ := calendar.Divide(a, calendar.DayLength)
	final, _ := calendar.Divide(b, calendar.DayLength)
	d := &dayCount{l, m, map[int64]int64{}}
	if first == final {
		return d.part(first, a, b)
	}
	n := d.part(first, a, (first+1)*calendar.DayLength-1) + d.part(final, final*calendar.DayLength, b)
	return n + d.days(first+1, final-1)
}

// countRound counts by arithmetic: whole units by where their steps lie in the round, and the two at the ends, which may
// not be whole.
func (l *Layer) countRound(m *work.Meter, a, b int64) int64 {
	low, _ := calendar.Divide(a, l.unit)
	high, _ := calendar.Divide(b, l.unit)
	n := l.countUnit(low, a, b)
	if low == high {
		return n
	}
	n += l.countUnit(high, a, b)
	m.Spend(int64(len(l.round)) * 2 * meetingWork)
	first, _ := l.grid.Next(low + 1)
	steps := l.grid.Count(low+1, high-1)
	return n + l.round.met(l.place(first), l.grid.Step, l.turn, steps)*l.timesOfUnit()
}

// countUnit returns how many seconds of the set lie both in a unit and in a…b.
func (l *Layer) countUnit(unit, a, b int64) int64 {
	if step, _ := l.grid.Next(unit); step != unit {
		return 0
	}
	day, second := calendar.Divide(unit*l.unit, calendar.DayLength)
	if !l.Dates.Has(day) {
		return 0
	}
	from := max(a-day*calendar.DayLength, second)
	to := min(b-day*calendar.DayLength, second+l.unit-1)
	return max(0, l.Times.Before(to+1)-l.Times.Before(from))
}

// dayCount counts a layer day by day. It remembers the sizes of days, by how far the first step is from midnight.
type dayCount struct {
	*Layer

	meter *work.Meter
	sizes map[int64]int64
}

// part returns how many seconds of the set lie in a…b, two seconds of a day.
func (d *dayCount) part(day, a, b int64) int64 {
	if !d.Dates.Has(day) {
		return 0
	}
	return d.size(d.meter, a, b)
}

// days returns how many seconds of the set lie on the days first…final.
func (d *dayCount) days(first, final int64) int64 {
	n := int64(0)
	next := func(from int64) (int64, bool) {
		day, ok := d.Dates.Next(d.meter, from)
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

// size returns how many seconds of the set lie in a…b, two seconds of one day of the layer's dates.
func (l *Layer) size(m *work.Meter, a, b int64) int64 {
	if l.windows != nil && b-a == calendar.DayLength-1 {
		return l.sizeOfDay(m, a/l.unit)
	}
	n := int64(0)
	for w, ok := l.within(m, a, b); ok; w, ok = l.within(m, w+1, b) {
		n++
	}
	return n
}

// sizeOfDay returns how many seconds of the set lie in the day that begins with a unit. Every unit has the same times.
func (l *Layer) sizeOfDay(m *work.Meter, midnight int64) int64 {
	m.Spend(int64(len(l.windows)))
	n := int64(0)
	for _, run := range l.windows {
		n += l.grid.Count(midnight+run[0], midnight+run[1])
	}
	return n * l.timesOfUnit()
}
