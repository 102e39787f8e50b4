package english

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// Times says at what times of the day something happens, in the shortest way that is exact: "at 05:15 and 17:15",
// "every 15 minutes from 09:00 to 17:45", "at minutes 5 and 10 of every hour". AllDay says that this is so at every
// hour, so that "every day" need not be added.
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
