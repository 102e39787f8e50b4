package localtime

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// StepSet is every so many seconds, minutes or hours, of which those times count that lie in a tile: what no tile can
// say, because the steps do not come back to the same times every day. "Every 7 hours, on the hour and at half past" is
// an example.
type StepSet struct {
	unit    int64          // length in seconds of what the grid counts; it divides an hour
	grid    calendar.Cycle // of units since the epoch, one phase
	tile    Tile
	windows windows // of the tile's times, nil if they are too many
	long    bool    // what the steps meet of the windows is computed, not looked for day by day

	// round is the windows of a tile whose days are all, or certain weekdays, in a minute, an hour, a day or a week, after
	// turn units of which they come back: what the steps meet of those is arithmetic alone. nil if there is no such turn.
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
