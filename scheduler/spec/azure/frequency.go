package azure

import (
	"math"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Frequency is the unit of time between the occurrences of a [spec.Recurrence].
type Frequency uint8

// The frequencies. Second is Carillon's addition; Year is on Azure's pages and not in its schema. The zero Frequency is
// none of them.
const (
	Second Frequency = iota + 1
	Minute
	Hour
	Day
	Week
	Month
	Year
)

// frequencyNames are the frequencies as they are written, by their values.
var frequencyNames = []string{"none", "second", "minute", "hour", "day", "week", "month", "year"}

// frequencies holds what differs between frequencies.
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

// Times returns how long interval units last, months and years as the mean of the calendar (30.44 and 365.24 days). It
// exists to compare recurrences with a quota; it is no basis for computing instants. What a time.Duration cannot hold
// is [Forever].
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

// ShortestInterval returns how short the interval can be on a calendar and on a clock: a month has 28 days, a day of a
// zone two hours less than others. It exists to compare the gaps of rules with a quota.
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

// maxInterval returns the largest interval, that of a year for what is no frequency.
func (f Frequency) maxInterval() int {
	if !f.valid() {
		return math.MaxInt32
	}
	return frequencies[f].maxInterval
}

func (f Frequency) valid() bool { return f >= Second && f <= Year }

// frequency returns the frequency of that name, or none.
func frequency(name string) Frequency { return Frequency(max(slices.Index(frequencyNames, name), 0)) }
