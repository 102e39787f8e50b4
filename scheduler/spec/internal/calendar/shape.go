package calendar

// Shapes is how many shapes a year can have: weekdays of 1 January, and places of the leap years around. ISO weeks and
// weeks cut by the new year look over the year's edges.
const Shapes = 7 * 4

// Where the leap years are.
const (
	noLeap   = iota // neither it nor its neighbours
	leapYear        // the year itself
	LeapPast        // the year before it
	LeapNext        // the year after it
)

// ShapeOf returns the shape of a year, whose first day is given.
func ShapeOf(year, first int64) int {
	kind := noLeap
	switch {
	case leap(year):
		kind = leapYear
	case leap(year - 1):
		kind = LeapPast
	case leap(year + 1):
		kind = LeapNext
	}
	return Shape{int(WeekdayOf(first)), kind}.number()
}

// Shape describes a shape of a year to the functions that fill it.
type Shape struct {
	Weekday int // of 1 January, from Monday
	Kind    int
}

// number returns the shape's number, below shapes.
func (s Shape) number() int { return s.Weekday*4 + s.Kind }

// Length returns the number of the year's days.
func (s Shape) Length() int {
	if s.Kind == leapYear {
		return 366
	}
	return 365
}

// MonthStart returns the day of the year, from 0, on which a month begins. Month 12 is the next January.
func (s Shape) MonthStart(month int) int {
	start := int(monthStarts[month])
	if month > 1 && s.Kind == leapYear {
		start++
	}
	return start
}

var monthStarts = [13]int16{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// Neighbours returns the shapes of the years before and after, as far as they matter in December and January.
func (s Shape) Neighbours() (before, after Shape) {
	before, after = Shape{(s.Weekday + 6) % 7, noLeap}, Shape{(s.Weekday + s.Length()) % 7, noLeap}
	switch s.Kind {
	case leapYear:
		before.Kind, after.Kind = LeapNext, LeapPast
	case LeapPast:
		before.Weekday, before.Kind = (s.Weekday+5)%7, leapYear
	case LeapNext:
		after.Kind = leapYear
	}
	return before, after
}
