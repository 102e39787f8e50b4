package stats

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Period is an hour, counted by minute, or a day, counted by hour. Days begin at midnight UTC.
type Period struct {
	Length time.Duration // an hour or a [Day]
	Number int64         // of such periods since 1970
}

// Day is the length of a day.
const Day = 24 * time.Hour

// counted holds the counts of a period.
type counted struct {
	Period

	steps   [60]Minute // of a day, the first 24
	changed bool       // since the last Changed
}

// HourOf returns the hour of a time.
func HourOf(t time.Time) Period { return Period{time.Hour, t.Truncate(time.Hour).Unix() / 3600} }

// Start returns the start of the period.
func (p Period) Start() time.Time { return time.Unix(p.Number*int64(p.Length/time.Second), 0).UTC() }

// step returns the length of its steps.
func (p Period) step() time.Duration {
	if p.Length == Day {
		return time.Hour
	}
	return time.Minute
}

// Lasts returns how long a period remains useful after it is written.
func (p Period) Lasts() time.Duration {
	if p.Length == Day {
		return MonthKept
	}
	return Kept
}

// names are the first tokens of the names of periods.
var names = map[time.Duration]string{time.Hour: "hour", Day: "day"}

// Name returns the name of the period of a process: hour.<process>.<number>.
func (p Period) Name(process string) string {
	return fmt.Sprintf("%s.%s.%d", names[p.Length], process, p.Number)
}

// ParsePeriod is the inverse of [Period.Name].
func ParsePeriod(name string) (p Period, ok bool) {
	for length, first := range names {
		if rest, found := strings.CutPrefix(name, first+"."); found {
			_, text, _ := strings.Cut(rest, ".")
			n, err := strconv.ParseInt(text, 10, 64)
			return Period{length, n}, err == nil
		}
	}
	return p, false
}
