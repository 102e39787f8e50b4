package spec

// stride is every so many seconds, minutes or hours, of which those times count that lie in a tile: what no tile can
// say, because the steps do not come back to the same times every day. "Every 7 hours, on the hour and at half past" is
// an example.
type stride struct {
	unit    int64 // length in seconds of what the grid counts; it divides an hour
	grid    cycle // of units since the epoch, one phase
	tile    tile
	windows windows // of the tile's times, nil if they are too many
	long    bool    // few steps a day, and there are windows: what they meet is computed, not looked for
}

// newStride returns the times of a tile in the units anchor + k·step.
func newStride(unit, anchor, step int64, t tile) *stride {
	switch unit { // what no step meets is left out, so that exclusions can be seen to leave nothing
	case 1:
		t.times.seconds &= every(mod(anchor, 60), gcd(step, 60), 60)
	case 60:
		t.times.minutes &= every(mod(anchor, 60), gcd(step, 60), 60)
	default:
		t.times.hours &= uint32(every(mod(anchor, 24), gcd(step, 24), 24))
	}
	s := &stride{unit: unit, grid: stepCycle(anchor, step), tile: t, windows: windowsOf(t.times, unit)}
	s.long = unit*step > dayLength/4 && s.windows != nil
	return s
}

const weekLength = 7 * dayLength

// reach takes the weekdays out of the tile on which no step ever falls into its times, and reports whether any is left.
// Steps come back to the same place of the week after some weeks; in between they visit every place that is as far from
// the anchor, modulo the greatest common divisor of a step and a week.
func (s *stride) reach() bool {
	visited := *s
	visited.grid = stepCycle(s.grid.anchor, gcd(s.grid.stride, weekLength/s.unit))
	weekdays := uint64(0)
	for weekday := range int64(7) {
		const monday = -3 // 1969-12-29
		start := (monday + weekday) * dayLength
		if _, ok := visited.within(start, start+dayLength-1); ok {
			weekdays |= 1 << weekday
		}
	}
	if weekdays != 1<<7-1 {
		s.tile.dates.days = s.tile.dates.days.and(daysOfWeek(weekdays))
	}
	return !s.tile.never()
}
