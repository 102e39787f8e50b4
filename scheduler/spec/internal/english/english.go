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

// Zone returns the end of a description: ", America/New_York".
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

// Stamp writes an instant as people do, in UTC.
func Stamp(t time.Time) string {
	t = t.UTC()
	text := t.Format("2006-01-02 15:04")
	if t.Second() > 0 || t.Nanosecond() > 0 {
		text = t.Format("2006-01-02 15:04:05.999999999")
	}
	return text
}

// Date returns "2 September 1997".
func Date(local int64) string { return time.Unix(local, 0).UTC().Format("2 January 2006") }

// Moment returns "2 September 1997 09:00".
func Moment(local int64) string {
	second := calendar.Mod(local, calendar.DayLength)
	return Date(local) + " " + Clock(int(second/3600), int(second/60%60), int(second%60))
}

// Clock returns "09:05", or "09:05:30" if there are seconds.
func Clock(hour, minute, second int) string {
	if second == 0 {
		return fmt.Sprintf("%02d:%02d", hour, minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", hour, minute, second)
}

// Times says at what times of the day something happens, in the shortest way that is exact: "at 05:15 and 17:15",
// "every 15 minutes from 09:00 to 17:45", "at minutes 5 and 10 of every hour". AllDay states that the times recur
// every hour, so that "every day" can be omitted.
func Times(t calendar.Times) (phrase string, allDay bool) {
	w := wordedTimes{calendar.Ones(uint64(t.Hours)), calendar.Ones(t.Minutes), calendar.Ones(t.Seconds)}
	allDay = len(w.hours) == 24
	switch {
	case t.Size() == 0:
		return "never", true
	case t.Size() <= FewWords:
		return "at " + List(w.list(), "and"), false
	case len(w.seconds) == 1:
		if phrase := w.interval(); phrase != "" {
			return phrase, allDay
		}
	}
	return w.nested(), allDay
}

// wordedTimes is a set of times that is being described.
type wordedTimes struct{ hours, minutes, seconds []int }

// list returns every time.
func (w wordedTimes) list() []string {
	var list []string
	for _, hour := range w.hours {
		for _, minute := range w.minutes {
			for _, second := range w.seconds {
				list = append(list, Clock(hour, minute, second))
			}
		}
	}
	return list
}

// interval describes times at equal distances, one second each: "every 15 minutes from 09:00 to 17:45". It returns ""
// for others.
func (w wordedTimes) interval() string {
	minutes, second := wayRound(w.minutes, 60), w.seconds[0]
	switch {
	case len(w.hours) == 24 && minutes > 0 && w.minutes[0] == 0 && second == 0:
		return Every(minutes, "minute")
	case len(w.hours) == 24 && minutes > 1 && w.minutes[0] == 0:
		return fmt.Sprintf("%s at second %d", Every(minutes, "minute"), second)
	case len(w.hours) == 24:
		return ""
	case minutes > 0 && Contiguous(w.hours):
		return Every(minutes, "minute") + w.bounds(second)
	case len(w.minutes) == 1 && StepOf(w.hours) > 0:
		return Every(StepOf(w.hours), "hour") + w.bounds(second)
	}
	return ""
}

// bounds returns " from 09:00 to 17:45".
func (w wordedTimes) bounds(second int) string {
	first := Clock(w.hours[0], w.minutes[0], second)
	return " from " + first + " to " + Clock(w.hours[len(w.hours)-1], w.minutes[len(w.minutes)-1], second)
}

// nested describes seconds of minutes of hours.
func (w wordedTimes) nested() string {
	var parts []string
	seconds := w.secondsPart()
	if seconds != "" {
		parts = append(parts, seconds)
	}
	switch {
	case len(w.minutes) == 60 && len(w.hours) == 24:
		if !strings.HasPrefix(seconds, "every") {
			parts = append(parts, "every minute")
		}
	case len(w.minutes) == 60 && Contiguous(w.hours):
		parts = append(parts, "every minute"+w.bounds(0))
	default:
		parts = append(parts, Part("minute", w.minutes, strconv.Itoa, 60), Part("hour", w.hours, TwoDigits, 24))
	}
	phrase := strings.Join(parts, " of ")
	if strings.HasPrefix(phrase, "every") {
		return phrase
	}
	return "at " + phrase
}

// secondsPart returns "" for the full minute, else "second 30", "every 10 seconds", "every second".
func (w wordedTimes) secondsPart() string {
	if len(w.seconds) == 1 && w.seconds[0] == 0 {
		return ""
	}
	if step := wayRound(w.seconds, 60); step > 0 && w.seconds[0] == 0 {
		return Every(step, "second")
	}
	return Part("second", w.seconds, strconv.Itoa, 60)
}

// Part returns "minute 5", "minutes 0, 7 and 9", "every minute", "every 2nd minute from 1 to 59".
func Part(unit string, values []int, name func(n int) string, size int) string {
	switch step := StepOf(values); {
	case len(values) == size:
		return "every " + unit
	case step == 1 && unit == "hour", step > 1 && len(values) > FewWords:
		return fmt.Sprintf("%s from %s to %s", Each(step, unit), name(values[0]), name(values[len(values)-1]))
	}
	return Numbers(unit, values, name)
}
