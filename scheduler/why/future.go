package why

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// ParseFuture reads a time to come, in one of the forms of [ParseMoment] or of these, on the clock of zone:
//
//	2h, P1D, 90m                       from now on
//	9:00, 17:30                        the next time that the clock shows that
//	today 18:00, tomorrow, monday 9:00 a day by its name, at its beginning where no time of day is said
//
// The error says what is wrong, also of a time that has passed.
func ParseFuture(text string, zone *time.Location, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	at, ok := named(strings.Fields(strings.ToLower(text)), zone, now)
	if !ok {
		var err error
		if at, err = plainFuture(text, zone, now); err != nil {
			return time.Time{}, err
		}
	}
	if at.Year() > lastYear {
		return time.Time{}, fmt.Errorf("%q is after the year %d; %s", text, lastYear, futureHint)
	}
	if !at.After(now) {
		return time.Time{}, fmt.Errorf("%q is %s, which has passed; %s", text, at.In(zone).Format(time.RFC3339), futureHint)
	}
	return at, nil
}

// lastYear is the last one that times can be written of, in UTC.
const lastYear = 9999

const futureHint = "write 2h, 9:00, tomorrow 9:00, monday, 2026-03-02T09:00 on the job's clock, or 2026-03-02T09:00Z"

func plainFuture(text string, zone *time.Location, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, errors.New("is empty; " + futureHint)
	}
	if d, err := document.ParseDuration(text); err == nil && strings.Trim(text, "0123456789") != "" { // 9 of what?
		return d.AddTo(now.UTC()).Truncate(time.Second), nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return local(day, zone, time.Second).At.UTC(), nil
	}
	m, err := ParseMoment(text, zone, now)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a time; %s", text, futureHint)
	}
	return m.At.UTC(), nil
}

// named reads a time that is told by the name of a day, by the time of day, or by both.
func named(words []string, zone *time.Location, now time.Time) (at time.Time, ok bool) {
	if len(words) == 0 || len(words) > 3 {
		return at, false
	}
	y, month, d := now.In(zone).Date()
	today := time.Date(y, month, d, 0, 0, 0, 0, time.UTC) // the reading of the clock
	days, isDay := dayNamed(words[0], today.Weekday())
	if isDay {
		words = words[1:]
	}
	if len(words) == 2 && words[0] == "at" {
		words = words[1:]
	}
	clock := time.Duration(0)
	switch {
	case len(words) == 1:
		if clock, ok = timeOfDay(words[0]); !ok {
			return at, false
		}
	case len(words) > 1 || !isDay:
		return at, false
	}
	on := func(days int) time.Time {
		return local(today.AddDate(0, 0, days).Add(clock), zone, time.Second).At.UTC()
	}
	if at = on(days); !isDay && !at.After(now) {
		at = on(1)
	}
	return at, true
}

// dayNamed is how many days there are to a day by its name. That of a day of the week is the next one, not today.
func dayNamed(word string, today time.Weekday) (days int, ok bool) {
	switch word {
	case "today":
		return 0, true
	case "tomorrow":
		return 1, true
	}
	for i := range 7 {
		name := strings.ToLower(time.Weekday(i).String())
		if word == name || word == name[:3] {
			return (i-int(today)+6)%7 + 1, true
		}
	}
	return 0, false
}

// timeOfDay reads 9:00, 09:00 or 09:00:30.
func timeOfDay(word string) (time.Duration, bool) {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, word); err == nil {
			return t.Sub(t.Truncate(24 * time.Hour)), true
		}
	}
	return 0, false
}
