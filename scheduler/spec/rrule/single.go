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
	lists := map[*time.Location]localtime.List{}
	for _, s := range c.added {
		zone := c.zoneOf(&s)
		lists[zone] = append(lists[zone], int64(s.at))
	}
	schedules := []*instant.Schedule{}
	for zone, list := range lists {
		slices.Sort(list)
		schedules = append(schedules, instant.NewZoned(slices.Compact(list), zone, dst))
	}
	added := instant.UnionOf(schedules...)
	minus, err := c.terms(c.excluded)
	if err != nil {
		return nil, err
	}
	var sets []localtime.Set
	for _, t := range minus {
		sets = append(sets, &localtime.Range{Set: t.set(c.work), First: t.first, Final: t.final})
	}
	excluded := instant.NewZoned(localtime.UnionOf(sets), c.loc, dst)
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
	shown := instant.NewZoned(localtime.List{int64(s.at)}, zone, dst)
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
