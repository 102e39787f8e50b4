package azure

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Recurrence is when a job recurs, as Azure Scheduler has it.
type Recurrence struct {
	Frequency Frequency // required
	Interval  int       // in units of the frequency; 0 is 1
	Schedule  Elements  // limits or expands the occurrences
	Anchor    Anchor    // the instant from which occurrences count
	End       time.Time // the last instant; zero: none
}

// Elements is the schedule of a recurrence. Each element is a set: order and repetition are irrelevant, and an empty
// element counts as absent. The seconds are those of the start, or zero for a job without start.
type Elements struct {
	// Minutes of the hour, 0-59. For Second and Minute they limit, for longer frequencies they replace the start's
	// minute.
	Minutes []int

	// Hours of the day, 0-23. Up to Hour they limit, for longer frequencies they replace the start's hour; they default
	// to every hour if there are Minutes.
	Hours []int

	// WeekDays, for Week only, replace the start's weekday. With an interval, weeks begin on Monday.
	WeekDays []time.Weekday

	// MonthDays, for Month only: 1…31 from the start of the month, -1…-31 from its end. Days that a month lacks are
	// skipped.
	MonthDays []int

	// Months 1-12, which limit; for Year they replace the start's month. They are on Azure's page "Scheduler concepts"
	// only.
	Months []int

	// MonthlyOccurrences, for Month only. Together with MonthDays a day must satisfy both.
	MonthlyOccurrences []MonthlyOccurrence
}

// MonthlyOccurrence is a weekday of a month, such as its second Friday.
type MonthlyOccurrence struct {
	Day time.Weekday

	// Occurrence counts from the start of the month (1…5) or from its end (-1…-5). Zero is every such weekday.
	Occurrence int
}

// Anchor selects the instant from which occurrences count.
type Anchor uint8

const (
	// AnchorGrid counts from the start, so that occurrences do not drift.
	AnchorGrid Anchor = iota

	// AnchorLastExecution counts from the start of the last execution, as Azure and Obsidian did. It applies to a
	// recurrence without schedule, and to an @recur.
	AnchorLastExecution
)

// anchorNames holds the names of the anchors by value.
var anchorNames = []string{AnchorGrid: "grid", AnchorLastExecution: "lastExecution"}

// String returns the name of the anchor.
func (a Anchor) String() string {
	if int(a) < len(anchorNames) {
		return anchorNames[a]
	}
	return "unknown"
}

// empty reports whether the schedule has no elements and so no effect.
func (e Elements) empty() bool {
	return len(e.Minutes) == 0 && len(e.Hours) == 0 && len(e.WeekDays) == 0 &&
		len(e.MonthDays) == 0 && len(e.Months) == 0 && len(e.MonthlyOccurrences) == 0
}

// interval returns Interval with its default.
func (r Recurrence) interval() int { return max(r.Interval, 1) }

// Frequency is the unit of time between the occurrences of a [spec.Recurrence].
type Frequency uint8

// The frequencies. Second is Carillon's addition; Year is on Azure's pages and not in its schema. The zero Frequency
// is invalid.
const (
	Second Frequency = iota + 1
	Minute
	Hour
	Day
	Week
	Month
	Year
)

// frequencyNames holds the names of the frequencies by value.
var frequencyNames = []string{"none", "second", "minute", "hour", "day", "week", "month", "year"}

// frequencies holds the properties of each frequency.
var frequencies = [...]struct {
	maxInterval int           // Azure: 18 months, 78 weeks, 548 days, 1000 hours or minutes
	length      time.Duration // mean length; exact up to Week
}{
	Second: {1000, time.Second},
	Minute: {1000, time.Minute},
	Hour:   {1000, time.Hour},
	Day:    {548, 24 * time.Hour},
	Week:   {78, 7 * 24 * time.Hour},
	Month:  {18, document.Month},
	Year:   {math.MaxInt32, 12 * document.Month},
}

// String returns the name in lower case, as Azure's answers have it.
func (f Frequency) String() string {
	if !f.valid() {
		return frequencyNames[0]
	}
	return frequencyNames[f]
}

// Times returns the length of interval units, with the mean length of months and years (30.44 and 365.24 days). Use it
// to compare recurrences with a quota, not to compute instants. The result is [Forever] if it exceeds a time.Duration.
func (f Frequency) Times(interval int) time.Duration {
	if !f.valid() || interval < 1 {
		return 0
	}
	length := frequencies[f].length
	if time.Duration(interval) > Forever/length {
		return Forever
	}
	return time.Duration(interval) * length
}

// ShortestInterval returns the smallest possible length of the interval, for comparison with a quota: a month can have
// 28 days, and a day with a clock change 22 hours.
func (r Recurrence) ShortestInterval() time.Duration {
	const day, change = 24 * time.Hour, 2 * time.Hour // no clock is moved by more
	n := r.interval()
	switch r.Frequency {
	case Year:
		return time.Duration(min(n, 250))*365*day - change
	case Month:
		return time.Duration(min(n, 3000))*28*day - change
	case Week, Day:
		return r.Frequency.Times(n) - change
	default:
		return r.Frequency.Times(n)
	}
}

// Forever is the interval of what does not recur: the longest time.Duration, 292 years.
const Forever = time.Duration(math.MaxInt64)

// maxInterval returns the largest interval; for an invalid frequency, the largest interval of years.
func (f Frequency) maxInterval() int {
	if !f.valid() {
		return math.MaxInt32
	}
	return frequencies[f].maxInterval
}

func (f Frequency) valid() bool { return f >= Second && f <= Year }

// frequency returns the frequency of that name, or none.
func frequency(name string) Frequency { return Frequency(max(slices.Index(frequencyNames, name), 0)) }

// ReadStep reads the members frequency and interval of a recurrence.
func ReadStep(o *document.Object) (f Frequency, interval int) {
	if name, ok := o.Enum("frequency", frequencyNames[1:]...); ok {
		f = frequency(name)
	}
	if n, ok := o.Int("interval", 1, int64(f.maxInterval())); ok {
		return f, int(n)
	}
	return f, 1
}

// ReadSchedule reads the members schedule and anchor of a recurrence with a frequency.
func ReadSchedule(o *document.Object, f Frequency) (e Elements, a Anchor) {
	if inner, ok := o.Object("schedule"); ok {
		e = readElements(inner)
		e.check(f, inner.Problem)
	}
	a = ReadAnchor(o, AnchorGrid)
	Recurrence{Schedule: e, Anchor: a}.checkAnchor(o.Problem)
	return e, a
}

// ReadAnchor reads the member anchor, with a default.
func ReadAnchor(o *document.Object, a Anchor) Anchor {
	if name, ok := o.Enum("anchor", anchorNames...); ok {
		a = Anchor(slices.Index(anchorNames, name))
	}
	return a
}

func readElements(o *document.Object) Elements {
	var e Elements
	e.Minutes, _ = o.Ints("minutes", math.MinInt32, math.MaxInt32)
	e.Hours, _ = o.Ints("hours", math.MinInt32, math.MaxInt32)
	e.MonthDays, _ = o.Ints("monthDays", math.MinInt32, math.MaxInt32)
	e.Months, _ = o.Ints("months", math.MinInt32, math.MaxInt32)
	names, _ := o.Enums("weekDays", weekdayNames...)
	for _, name := range names {
		e.WeekDays = append(e.WeekDays, weekday(name))
	}
	inner, _ := o.Objects("monthlyOccurrences")
	for _, o := range inner {
		e.MonthlyOccurrences = append(e.MonthlyOccurrences, readOccurrence(o))
	}
	o.Done()
	return e
}

func readOccurrence(o *document.Object) MonthlyOccurrence {
	var m MonthlyOccurrence
	if o.Require("day") {
		name, _ := o.Enum("day", weekdayNames...)
		m.Day = weekday(name)
	}
	if n, ok := o.Int("occurrence", math.MinInt32, math.MaxInt32); ok {
		m.Occurrence = int(n)
		if n == 0 { // which means "every" in a MonthlyOccurrence, so check cannot see it
			o.Problem("occurrence", "0 is not an occurrence; leave it out to mean every one")
		}
	}
	o.Done()
	return m
}

// weekday returns the weekday of a name that weekdayNames holds, Sunday of any other.
func weekday(name string) time.Weekday {
	return time.Weekday((slices.Index(weekdayNames, name) + 1) % 7)
}

// weekdayNames holds the weekdays in the order of Azure.
var weekdayNames = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// report takes a problem at a path seen from the object that is being checked.
type report func(path, format string, args ...any)

// Check reports everything wrong in r, with paths seen from the recurrence.
func (r Recurrence) Check(reader *document.Reader) {
	if !r.Frequency.valid() {
		reader.Problem("frequency", "is required")
	}
	if most := r.Frequency.maxInterval(); r.Interval < 0 || r.Interval > most {
		reader.Problem("interval", "%d is not in 1-%d", r.Interval, most)
	}
	r.Schedule.check(r.Frequency, func(path, format string, args ...any) {
		reader.Problem("schedule."+path, format, args...)
	})
	r.checkAnchor(reader.Problem)
}

func (r Recurrence) checkAnchor(problem report) {
	switch {
	case int(r.Anchor) >= len(anchorNames):
		problem("anchor", "is unknown")
	case r.Anchor == AnchorLastExecution && !r.Schedule.empty():
		problem("anchor", "lastExecution applies to a recurrence without schedule")
	}
}

// check reports values out of range, and elements that f does not allow. If f is invalid, which has been reported, it
// does not check the elements.
func (e Elements) check(f Frequency, problem report) {
	checkRange("minutes", e.Minutes, 0, 59, problem)
	checkRange("hours", e.Hours, 0, 23, problem)
	checkRange("months", e.Months, 1, 12, problem)
	checkRange("monthDays", e.MonthDays, -31, 31, problem)
	if i := slices.Index(e.MonthDays, 0); i >= 0 {
		problem(at("monthDays", i), "0 is not a day; days count from 1, or from -1 at the end of the month")
	}
	e.checkWeekDays(problem)
	e.checkOccurrences(problem)
	if f.valid() {
		checkOnly("weekDays", len(e.WeekDays), Week, f, problem)
		checkOnly("monthDays", len(e.MonthDays), Month, f, problem)
		checkOnly("monthlyOccurrences", len(e.MonthlyOccurrences), Month, f, problem)
	}
}

func (e Elements) checkWeekDays(problem report) {
	if n := len(e.WeekDays); n > 7 {
		problem("weekDays", "%d days; a week has 7", n)
	}
	for i, day := range e.WeekDays {
		if day < time.Sunday || day > time.Saturday {
			problem(at("weekDays", i), "%d is not a weekday", day)
		}
	}
}

func (e Elements) checkOccurrences(problem report) {
	for i, m := range e.MonthlyOccurrences {
		path := at("monthlyOccurrences", i)
		if m.Day < time.Sunday || m.Day > time.Saturday {
			problem(path+".day", "%d is not a weekday", m.Day)
		}
		if m.Occurrence < -5 || m.Occurrence > 5 {
			problem(path+".occurrence", "%d is not in -5 to 5; no month has more of a weekday", m.Occurrence)
		}
	}
}

// checkOnly reports an element that belongs to one frequency and comes with another (the table of elements on Azure's
// page).
func checkOnly(name string, size int, only, f Frequency, problem report) {
	if size > 0 && f != only {
		problem(name, "can be used with the frequency %s only, not with %s", only, f)
	}
}

func checkRange(name string, values []int, low, high int, problem report) {
	form := "%d is not in %d-%d"
	if low < 0 {
		form = "%d is not in %d to %d"
	}
	for i, n := range values {
		if n < low || n > high {
			problem(at(name, i), form, n, low, high)
		}
	}
}

// at returns the path of the element i of an array.
func at(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
