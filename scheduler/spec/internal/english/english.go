package english

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// List joins words as English does: "a", "a and b", "a, b and c". The conjunction is "and" or "or".
func List(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	final := len(words) - 1
	return strings.Join(words[:final], ", ") + " " + conjunction + " " + words[final]
}

// Every returns "every minute" for 1, "every 15 minutes" for 15.
func Every(n int, unit string) string {
	if n == 1 {
		return "every " + unit
	}
	return fmt.Sprintf("every %d %ss", n, unit)
}

// Each returns "every minute" for 1, "every 2nd minute" for 2: a unit that is one of several.
func Each(n int, unit string) string {
	if n == 1 {
		return "every " + unit
	}
	return "every " + Nth(n) + " " + unit
}

// Ordinal returns "first" to "fifth" for 1 to 5, "6th" and so on after them; "last" for -1, "second-to-last" for
// -2.
func Ordinal(n int) string {
	switch {
	case n == -1:
		return "last"
	case n < 0:
		return Ordinal(-n) + "-to-last"
	case n < len(ordinals):
		return ordinals[n]
	}
	return Nth(n)
}

var ordinals = [...]string{"zeroth", "first", "second", "third", "fourth", "fifth"}

// Nth returns "1st", "2nd", "3rd", "4th" and so on.
func Nth(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// Count returns "1 day", "2 days".
func Count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// Spans returns ascending numbers as words, three and more in a row as one: "1", "3 to 5".
func Spans(values []int, name func(n int) string) []string {
	var words []string
	for i := 0; i < len(values); {
		end := i
		for end+1 < len(values) && values[end+1] == values[end]+1 {
			end++
		}
		if end-i < 2 {
			words = append(words, name(values[i]))
			i++
			continue
		}
		words = append(words, name(values[i])+" to "+name(values[end]))
		i = end + 1
	}
	return words
}

// Months returns the months whose bits are set, January at bit 0: "January to March and July".
func Months(months uint64) string {
	return List(Spans(calendar.Ones(months&(1<<12-1)), func(n int) string { return time.Month(n + 1).String() }), "and")
}

// Weekdays returns the weekdays whose bits are set, Monday at bit 0: "Monday to Friday".
func Weekdays(weekdays uint64) string {
	return List(Spans(calendar.Ones(weekdays&(1<<7-1)), Weekday), "and")
}

// EachWeekday returns "every Tuesday and Thursday", "on Monday to Friday".
func EachWeekday(weekdays uint64) string {
	names := Weekdays(weekdays)
	if strings.Contains(names, " to ") {
		return "on " + names
	}
	return "every " + names
}

// Weekday returns the name of a weekday, from Monday (0).
func Weekday(n int) string { return time.Weekday((n + 1) % 7).String() }

// Zone returns what a description ends with: ", America/New_York".
func Zone(zone *time.Location) string { return ", " + zone.String() }

// Years returns "2025", "2025 to 2031", "every 3rd year from 2024 to 2999".
func Years(years []int) string { return Series(years, "year", strconv.Itoa) }

// Series returns ascending numbers as a list or, if they are many at equal distances, as a step: "every 2nd day
// from 1 to 31".
func Series(values []int, unit string, name func(n int) string) string {
	if step := StepOf(values); len(values) > FewWords && step > 1 {
		return fmt.Sprintf("%s from %s to %s", Each(step, unit), name(values[0]), name(values[len(values)-1]))
	}
	return List(Spans(values, name), "and")
}

// FewWords is the longest list that is written out where there is a shorter way to say it.
const FewWords = 6

// StepOf returns the distance between the numbers if it is always the same, and 0 if it is not or there are fewer than
// three.
func StepOf(values []int) int {
	if len(values) < 3 {
		return 0
	}
	step := values[1] - values[0]
	for i := 2; i < len(values); i++ {
		if values[i]-values[i-1] != step {
			return 0
		}
	}
	return step
}

// Numbers returns "minute 5", "minutes 0 to 5 and 7".
func Numbers(unit string, values []int, name func(n int) string) string {
	if len(values) > 1 {
		unit += "s"
	}
	return unit + " " + List(Spans(values, name), "and")
}

// TwoDigits returns "09".
func TwoDigits(n int) string { return fmt.Sprintf("%02d", n) }

// Contiguous reports whether ascending numbers have no gaps.
func Contiguous(values []int) bool {
	return len(values) > 0 && values[len(values)-1]-values[0] == len(values)-1
}

// wayRound returns the distance between ascending numbers of 0…size-1 if it is always the same, the one from the last
// to the first of the next turn included. Otherwise, and for a single number, it is 0.
func wayRound(values []int, size int) int {
	for i := 1; i < len(values); i++ {
		if (values[i]-values[i-1])*len(values) != size {
			return 0
		}
	}
	if len(values) < 2 {
		return 0
	}
	return size / len(values)
}
