package rrule

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
)

// localTime is a reading of a clock: the seconds from 1970-01-01T00:00:00 on that clock.
type localTime int64

// Set is an iCalendar recurrence: a start and the rules that are counted from it, with single dates.
// Excluded rules and dates are taken out of the others. It is immutable.
type Set struct {
	dialect language.Dialect // [RFC5545], [language.AWX] or [language.Dsari]

	// start is DTSTART as written, on the clock of zone. A date without a time is its midnight.
	start    localTime
	hasStart bool // false: no DTSTART was written, start is 0
	dateOnly bool // DTSTART is a date without a time

	// zone is the zone of DTSTART: its TZID, or UTC if it ends in Z. nil: not specified, use the setting's zone.
	zone *time.Location

	rules    []rrule  // RRULEs, at least one without an RDATE
	excluded []rrule  // EXRULEs
	added    []single // RDATEs
	dropped  []single // EXDATEs
}

// rrule is one RRULE or EXRULE. Lists are ascending and without duplicates; an empty one means that the part was not
// written.
type rrule struct {
	freq      rruleFreq
	interval  int          // 1 or more
	count     int          // 0: none was written
	until     rruleUntil   // the last time that may be an instance
	weekStart time.Weekday // WKST, Monday if none was written

	byMonth    []int    // 1…12
	byWeekNo   []int    // -53…53 without 0
	byYearDay  []int    // -366…366 without 0
	byMonthDay []int    // -31…31 without 0
	byDay      []nthDay // by weekday from Monday, then by n
	byHour     []int    // 0…23
	byMinute   []int    // 0…59
	bySecond   []int    // 0…60; 60 is the leap second, which no clock of this package shows
	bySetPos   []int    // -366…366 without 0
	byEaster   []int    // days from Easter Sunday, in dsari

	// anchor replaces the set's start for this rule if hasAnchor is set: dsari's hashes give each rule a separate grid.
	anchor    localTime
	hasAnchor bool

	column int    // position of the rule's value in the text, in characters from 1
	text   string // its value as written, "FREQ=DAILY;COUNT=3"
}

// rruleUntil is the end of a rule, inclusive. Zero: no end. A time that is not in UTC is in the set's zone; a date is
// its midnight; AWX reads a time without seconds on the clock of DTSTART.
type rruleUntil struct {
	rruleTime

	given  bool
	column int // position in the text
}

// nthDay is an item of BYDAY. n is 0 for every such weekday, 2 for the second, -1 for the last. It counts in the month,
// of a yearly rule without BYMONTH in the year. Other frequencies have no use for it, as in python-dateutil: 2MO is MO.
type nthDay struct {
	n   int
	day time.Weekday
}

// rruleFreq is a frequency, from the longest period to the shortest.
type rruleFreq uint8

const (
	freqYearly rruleFreq = iota
	freqMonthly
	freqWeekly
	freqDaily
	freqHourly
	freqMinutely
	freqSecondly
)

// rruleFreqNames are the names of frequencies as they are written, by their values.
var rruleFreqNames = []string{
	freqYearly: "YEARLY", freqMonthly: "MONTHLY", freqWeekly: "WEEKLY", freqDaily: "DAILY",
	freqHourly: "HOURLY", freqMinutely: "MINUTELY", freqSecondly: "SECONDLY",
}

// String returns the name of the frequency.
func (f rruleFreq) String() string { return rruleFreqNames[f] }

// unit returns "month" for MONTHLY.
func (f rruleFreq) unit() string {
	return [...]string{"year", "month", "week", "day", "hour", "minute", "second"}[f]
}

// seconds returns the length of a unit that is shorter than a day.
func (f rruleFreq) seconds() int64 {
	return [...]int64{freqHourly: 3600, freqMinutely: 60, freqSecondly: 1}[f]
}

// Location returns the zone of DTSTART, nil if it has none.
func (r *Set) Location() *time.Location { return r.zone }

// single is an item of RDATE or EXDATE: a time on the clock of a zone.
type single struct {
	rruleTime

	zone *time.Location // nil: the zone of the set
}

// singles reads RDATE or EXDATE.
func (p *rruleParser) singles(name string, t rruleText, params []rruleText, value rruleText) {
	if p.set.dialect != language.RFC5545 {
		p.problem(t.column(), name, "single dates are not part of the dialect "+string(p.set.dialect), "use the dialect rfc5545")
		return
	}
	into := &p.set.added
	if name == "EXDATE" {
		into = &p.set.dropped
	}
	kind, zone := p.params(name, params)
	for _, item := range value.split(',') {
		var s single
		s.rruleTime, s.zone = p.time(name, kind, zone, item)
		*into = append(*into, s)
	}
}

// withSingles adds the single dates to the instants of the rules, and takes the excluded ones out of both, as
// python-dateutil does: DTSTART, COUNT and UNTIL bound the rules alone. by, a fraction of a second, delays only the rules.
func (c *setCompiler) withSingles(rules *instant.Schedule, dst instant.DST, by time.Duration) (*instant.Schedule, error) {
	var out []instant.Span
	for i := range c.dropped {
		out = append(out, c.spans(&c.dropped[i], dst)...)
	}
	rules = rules.Without(out).Delay(by)
	if len(c.added) == 0 {
		return rules, nil
	}
	lists := map[*time.Location][]int64{}
	for _, s := range c.added {
		zone := c.zoneOf(&s)
		lists[zone] = append(lists[zone], int64(s.at))
	}
	schedules := []*instant.Schedule{}
	for zone, list := range lists {
		slices.Sort(list)
		schedules = append(schedules, instant.NewZoned(localtime.At(slices.Compact(list)...), zone, dst))
	}
	added := instant.UnionOf(schedules...)
	minus, err := c.terms(c.excluded)
	if err != nil {
		return nil, err
	}
	all, err := c.segments(minus, nil)
	if err != nil {
		return nil, err
	}
	excluded := instant.NewZoned(all, c.loc, dst)
	for t, ok := added.Next(time.Time{}); ok; t, ok = added.Next(t) {
		if found, ok := excluded.NextIn(c.work, t.Add(-1)); ok && found.Equal(t) {
			out = append(out, instant.Span{From: t.Unix(), To: t.Unix()})
		}
	}
	return instant.UnionOf(rules, added.Without(out)), nil
}

// spans returns the instants of an item. A date without a time covers all instants of its day.
func (c *setCompiler) spans(s *single, dst instant.DST) (list []instant.Span) {
	zone := c.zoneOf(s)
	if s.date {
		end := instant.FirstShown(int64(s.at)+calendar.DayLength, zone)
		return []instant.Span{{From: instant.FirstShown(int64(s.at), zone).Unix(), To: end.Unix() - 1}}
	}
	shown := instant.NewZoned(localtime.At(int64(s.at)), zone, dst)
	for t, ok := shown.Next(time.Time{}); ok; t, ok = shown.Next(t) {
		list = append(list, instant.Span{From: t.Unix(), To: t.Unix()})
	}
	return list
}

func (c *setCompiler) zoneOf(s *single) *time.Location {
	if s.zone != nil {
		return s.zone
	}
	return c.loc
}

// singleWords describes single dates, a few one by one.
func (w *setWords) singleWords(list []single) string {
	const few = 3
	if len(list) > few {
		earlier := func(a, b single) int { return cmp.Compare(a.at, b.at) }
		first, last := slices.MinFunc(list, earlier), slices.MaxFunc(list, earlier)
		return fmt.Sprintf("on %d dates from %s to %s", len(list), english.Date(int64(first.at)), english.Date(int64(last.at)))
	}
	words := make([]string, len(list))
	for i := range list {
		words[i] = list[i].words(w.zone)
	}
	return "on " + english.List(words, "and")
}

// words describes an item, with its zone if that is not the set's.
func (s *single) words(zone *time.Location) string {
	words := english.Moment(int64(s.at))
	if s.date {
		words = english.Date(int64(s.at))
	}
	if s.zone != nil && s.zone.String() != zone.String() {
		words += " " + s.zone.String()
	}
	return words
}
