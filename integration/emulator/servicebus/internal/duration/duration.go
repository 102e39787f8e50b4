// Package duration reads and writes durations as Service Bus has them: those of
// ISO 8601 with days, hours, minutes and seconds, such as "P1DT12H" or "PT0.5S".
package duration

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Forever is the longest duration that Service Bus knows, and stands for no limit. In Go it is 0.
const Forever = "P10675199DT2H48M5.4775807S"

var errMalformed = errors.New("not an ISO 8601 duration of days, hours, minutes and seconds")

// units are the designators in the order they may come, before and after the "T".
var units = []struct {
	designator byte
	time       bool
	length     time.Duration
}{
	{'W', false, 7 * 24 * time.Hour},
	{'D', false, 24 * time.Hour},
	{'H', true, time.Hour},
	{'M', true, time.Minute},
	{'S', true, time.Second},
}

// Parse returns the duration of a text. One that is too long for Go, as [Forever] is, is 0: no limit.
func Parse(text string) (time.Duration, error) {
	rest, ok := strings.CutPrefix(text, "P")
	if !ok || rest == "" || strings.HasSuffix(rest, "T") {
		return 0, errMalformed
	}
	total, unit, inTime := 0.0, 0, false
	for rest != "" {
		if after, ok := strings.CutPrefix(rest, "T"); ok && !inTime {
			rest, inTime = after, true
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end <= 0 {
			return 0, errMalformed
		}
		number, err := strconv.ParseFloat(rest[:end], 64)
		if err != nil {
			return 0, errMalformed
		}
		for unit < len(units) && (units[unit].designator != rest[end] || units[unit].time != inTime) {
			unit++
		}
		if unit == len(units) {
			return 0, errMalformed
		}
		total += number * float64(units[unit].length)
		unit++
		rest = rest[end+1:]
	}
	if total >= math.MaxInt64 {
		return 0, nil
	}
	return time.Duration(math.Round(total)), nil
}

// Format returns the text of a duration; that of 0 is [Forever].
func Format(d time.Duration) string {
	if d <= 0 {
		return Forever
	}
	var b strings.Builder
	b.WriteByte('P')
	if days := d / (24 * time.Hour); days > 0 {
		b.WriteString(strconv.FormatInt(int64(days), 10) + "D")
		d %= 24 * time.Hour
	}
	if d == 0 {
		return b.String()
	}
	b.WriteByte('T')
	if hours := d / time.Hour; hours > 0 {
		b.WriteString(strconv.FormatInt(int64(hours), 10) + "H")
		d %= time.Hour
	}
	if minutes := d / time.Minute; minutes > 0 {
		b.WriteString(strconv.FormatInt(int64(minutes), 10) + "M")
		d %= time.Minute
	}
	if d > 0 {
		b.WriteString(strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "S")
	}
	return b.String()
}
