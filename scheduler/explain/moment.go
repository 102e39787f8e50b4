package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Moment is the time that is asked about: the instants from At on, for Span.
type Moment struct {
	At   time.Time
	Span time.Duration // a minute if seconds were omitted, else a second

	// Jumped: the clock of the zone jumped over the time that was asked for. At is the
	// first instant after.
	Jumped bool

	Note string // effect of the zone's clock changes on the time; "" for none
}

// end returns the first instant after the moment.
func (m Moment) end() time.Time { return m.At.Add(m.Span) }

// has reports whether t is within the moment.
func (m Moment) has(t time.Time) bool { return !t.Before(m.At) && t.Before(m.end()) }

// localLayouts are the forms of a time without an offset, and how exact they are.
var localLayouts = []struct {
	layout string
	span   time.Duration
}{
	{"2006-01-02T15:04", time.Minute},
	{"2006-01-02 15:04", time.Minute},
	{"2006-01-02T15:04:05", time.Second},
	{"2006-01-02 15:04:05", time.Second},
}

// ParseMoment parses a time in one of these formats:
//
//	2026-03-02T09:00:00Z, 2026-03-02T10:00+01:00   an instant (RFC 3339), with or without seconds
//	2026-03-02T10:00, 2026-03-02 10:00:00          local time in zone
//	now                                            the present
//	-2h, -1d12h, +30m, -PT90M                      before or after the present
//
// If a local time occurs twice, ParseMoment returns the first.
func ParseMoment(text string, zone *time.Location, now time.Time) (Moment, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Moment{}, errors.New("is empty; " + momentHint)
	case text == "now":
		return Moment{At: now.UTC().Truncate(time.Second), Span: time.Second}, nil
	case text[0] == '-' || text[0] == '+':
		d, err := document.ParseDuration(text[1:])
		if err != nil || d.Months > 0 {
			return Moment{}, fmt.Errorf("%q is not a duration before or after now; %s", text, momentHint)
		}
		if text[0] == '-' {
			d.Exact = -d.Exact
		}
		return Moment{At: now.UTC().Add(d.Exact).Truncate(time.Second), Span: time.Second}, nil
	}
	for _, form := range localLayouts {
		if wall, err := time.Parse(form.layout, text); err == nil {
			return local(wall, zone, form.span), nil
		}
	}
	at, err := document.ParseTime(strings.Replace(text, " ", "T", 1))
	if err != nil || !strings.ContainsAny(text, "T ") {
		return Moment{}, fmt.Errorf("%q is not a time; %s", text, momentHint)
	}
	m := Moment{At: at.Truncate(time.Second), Span: time.Second}
	if strings.Count(text, ":") == 1 || strings.Count(text, ":") == 2 && offsetHasColon(text) {
		m.At, m.Span = at.Truncate(time.Minute), time.Minute
	}
	return m, nil
}

const momentHint = "write 2026-03-02T09:00Z, 2026-03-02T09:00 on the job's clock, now, or -2h"

// offsetHasColon reports whether a time ends with an offset such as +01:00.
func offsetHasColon(text string) bool {
	return len(text) > 6 && (text[len(text)-6] == '+' || text[len(text)-6] == '-') && text[len(text)-3] == ':'
}

// local is a time on the clock of a zone. wall is the same reading in UTC.
func local(wall time.Time, zone *time.Location, span time.Duration) Moment {
	var found []time.Time
	for _, near := range []time.Duration{-26 * time.Hour, 0, 26 * time.Hour} { // a clock differs from UTC by 14 hours at most
		_, offset := wall.Add(near).In(zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if reads(at, zone, wall) && !slices.ContainsFunc(found, at.Equal) {
			found = append(found, at)
		}
	}
	slices.SortFunc(found, time.Time.Compare)
	const layout = "2006-01-02 15:04:05"
	switch len(found) {
	case 0:
		change := jump(wall, zone)
		return Moment{At: change, Span: span, Jumped: true, Note: fmt.Sprintf(
			"the clock of %s never showed %s: it skipped this time at %s", zone, wall.Format(layout), change.Format(time.RFC3339),
		)}
	case 1:
		return Moment{At: found[0], Span: span}
	}
	return Moment{At: found[0], Span: span, Note: fmt.Sprintf(
		"the clock of %s showed %s twice; this is the first time, the other one is %s",
		zone, wall.Format(layout), found[1].Format(time.RFC3339),
	)}
}

// reads reports whether the clock of a zone shows wall at an instant.
func reads(at time.Time, zone *time.Location, wall time.Time) bool {
	_, offset := at.In(zone).Zone()
	return at.Add(time.Duration(offset) * time.Second).Equal(wall)
}

// jump is the change of a clock that jumps over a time.
func jump(wall time.Time, zone *time.Location) time.Time {
	_, end := wall.Add(-26 * time.Hour).In(zone).ZoneBounds()
	for !end.IsZero() {
		_, offset := end.In(zone).Zone()
		if end.Add(time.Duration(offset) * time.Second).After(wall) {
			return end.UTC()
		}
		_, end = end.ZoneBounds()
	}
	return wall // of a clock that does not change any more: nothing is jumped over
}

// ParseFuture parses a future time in a format of [ParseMoment], or in one of these, as local time in zone:
//
//	2h, P1D, 90m                       from now
//	9:00, 17:30                        the next occurrence of that time of day
//	today 18:00, tomorrow, monday 9:00 a day by name; midnight if the time of day is omitted
//
// Past times are an error. The error describes the problem.
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

// lastYear is the last year, in UTC, in which a time can be written.
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

// named parses a day name, a time of day, or both.
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

// dayNamed returns the number of days until the named day. A weekday is the next one, never today.
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
