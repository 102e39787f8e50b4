package english

import (
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// TestEnglishWords has the words that descriptions are made of.
func TestEnglishWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{List(nil, "and"), ""},
		{List([]string{"a"}, "and"), "a"},
		{List([]string{"a", "b"}, "or"), "a or b"},
		{List([]string{"a", "b", "c"}, "and"), "a, b and c"},
		{Every(1, "hour"), "every hour"},
		{Every(2, "hour"), "every 2 hours"},
		{Each(1, "year"), "every year"},
		{Each(11, "year"), "every 11th year"},
		{Count(1, "day"), "1 day"},
		{Count(0, "day"), "0 days"},
		{Months(1<<12 - 1), "January to December"},
		{Months(0b1000_0100_0111), "January to March, July and December"},
		{Weekdays(0b11_1110), "Tuesday to Saturday"},
		{Weekdays(0b100_0011), "Monday, Tuesday and Sunday"},
		{Years([]int{2025, 2026, 2027, 2030}), "2025 to 2027 and 2030"},
		{Series([]int{1, 3, 5, 7, 9, 11, 13}, "day", strconv.Itoa), "every 2nd day from 1 to 13"},
	} {
		if c.got != c.want {
			t.Errorf("%q, not %q", c.got, c.want)
		}
	}
	var ordinals []string
	for _, n := range []int{1, 2, 3, 4, 5, 6, 11, 12, 13, 21, 22, 33, 111, -1, -2, -5, -7} {
		ordinals = append(ordinals, Ordinal(n))
	}
	const want = "first second third fourth fifth 6th 11th 12th 13th 21st 22nd 33rd 111th " +
		"last second-to-last fifth-to-last 7th-to-last"
	if got := strings.Join(ordinals, " "); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// TestEnglishTimes has what no cron expression says.
func TestEnglishTimes(t *testing.T) {
	for want, set := range map[string]calendar.Times{
		"never": {},
		"every 30 seconds of every minute from 09:00 to 10:59": {Hours: 0b11 << 9, Minutes: calendar.AllMinutes, Seconds: 1 | 1<<30},
		"at seconds 0 and 31 of minutes 1 to 4 of every hour":  {Hours: calendar.AllHours, Minutes: 0b11110, Seconds: 1 | 1<<31},
		"at minutes 0 and 31 of every 2nd hour from 01 to 13":  {Hours: 0b10_1010_1010_1010, Minutes: 1 | 1<<31, Seconds: 1},
		"at minutes 0 and 31 of hours 01, 02, 05 and 06":       {Hours: 0b110_0110, Minutes: 1 | 1<<31, Seconds: 1},
	} {
		if got, _ := Times(set); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
