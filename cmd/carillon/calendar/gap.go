package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Gap says exactly how much time lies between two instants, the later one last: "1 day", "23 h", "1 h 30 min". A day is
// 24 hours that have passed, so the day on which a clock goes forward has "23 h".
func Gap(from, to time.Time) string {
	seconds, nanos := to.Unix()-from.Unix(), to.Nanosecond()-from.Nanosecond()
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+int(time.Second)
	}
	var words []string
	for _, unit := range []struct {
		size      int64
		one, many string
	}{
		{24 * 3600, "day", "days"},
		{3600, "h", "h"},
		{60, "min", "min"},
	} {
		switch n := seconds / unit.size; {
		case n == 1:
			words = append(words, "1 "+unit.one)
		case n > 1:
			words = append(words, strconv.FormatInt(n, 10)+" "+unit.many)
		}
		seconds %= unit.size
	}
	if seconds > 0 || nanos > 0 || len(words) == 0 {
		words = append(words, strconv.FormatInt(seconds, 10)+fraction(nanos)+" s")
	}
	return strings.Join(words, " ")
}

// fraction writes nanoseconds as a decimal fraction of a second: ".25", and "" for 0.
func fraction(nanos int) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf(".%09d", nanos), "0"), ".")
}
