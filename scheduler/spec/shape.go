package spec

// A year's shape is the weekday of 1 January and where the leap years are: ISO weeks and weeks cut by the new year look
// over the year's edges.
const shapes = 7 * 4

const (
	noLeap   = iota // neither it nor its neighbours
	leapYear        // the year itself
	leapPast        // the year before it
	leapNext        // the year after it
)

// shapeOf returns the shape of a year, whose first day is given.
func shapeOf(year, first int64) int {
	kind := noLeap
	switch {
	case leap(year):
		kind = leapYear
	case leap(year - 1):
		kind = leapPast
	case leap(year + 1):
		kind = leapNext
	}
	return shape{int(weekdayOf(first)), kind}.number()
}

// shape describes a shape of a year to the functions that fill it.
type shape struct {
	weekday int // of 1 January, from Monday
	kind    int
}

// number returns the shape's number, below shapes.
func (s shape) number() int { return s.weekday*4 + s.kind }

// length returns the number of the year's days.
func (s shape) length() int {
	if s.kind == leapYear {
		return 366
	}
	return 365
}

// monthStart returns the day of the year, from 0, on which a month begins. Month 12 is the next January.
func (s shape) monthStart(month int) int {
	start := int(monthStarts[month])
	if month > 1 && s.kind == leapYear {
		start++
	}
	return start
}

var monthStarts = [13]int16{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// neighbours returns the shapes of the years before and after, as far as they matter in December and January.
func (s shape) neighbours() (before, after shape) {
	before, after = shape{(s.weekday + 6) % 7, noLeap}, shape{(s.weekday + s.length()) % 7, noLeap}
	switch s.kind {
	case leapYear:
		before.kind, after.kind = leapNext, leapPast
	case leapPast:
		before.weekday, before.kind = (s.weekday+5)%7, leapYear
	case leapNext:
		after.kind = leapYear
	}
	return before, after
}
