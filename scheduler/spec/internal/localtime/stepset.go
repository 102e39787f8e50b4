package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// StepSet is every so many seconds, minutes or hours, of which those times count that lie in a tile: what no tile can
// say, because the steps do not come back to the same times every day. "Every 7 hours, on the hour and at half past" is
// an example.
type StepSet struct {
	unit    int64          // length in seconds of what the grid counts; it divides an hour
	grid    calendar.Cycle // of units since the epoch, one phase
	tile    Tile
	windows windows // of the tile's times, nil if they are too many
	long    bool    // few steps a day, and there are windows: what they meet is computed, not looked for
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
	s := &StepSet{unit: unit, grid: calendar.StepCycle(anchor, step), tile: t, windows: windowsOf(t.Times, unit)}
	s.long = unit*step > calendar.DayLength/4 && s.windows != nil
	return s
}

const weekLength = 7 * calendar.DayLength

// Reach takes the weekdays out of the tile on which no step ever falls into its times, and reports whether any is left.
// Steps come back to the same place of the week after some weeks; in between they visit every place that is as far from
// the anchor, modulo the greatest common divisor of a step and a week.
func (s *StepSet) Reach() bool {
	visited := *s
	visited.grid = calendar.StepCycle(s.grid.Anchor, calendar.GCD(s.grid.Step, weekLength/s.unit))
	weekdays := uint64(0)
	for weekday := range int64(7) {
		const monday = -3 // 1969-12-29
		start := (monday + weekday) * calendar.DayLength
		if _, ok := visited.within(start, start+calendar.DayLength-1); ok {
			weekdays |= 1 << weekday
		}
	}
	if weekdays != 1<<7-1 {
		s.tile.Dates.Days = s.tile.Dates.Days.And(calendar.DaysOfWeek(weekdays))
	}
	return !s.tile.Never()
}
