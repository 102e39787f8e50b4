package rrule

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// Doubts returns what is right in the set and may not be meant so: a DTSTART that is no occurrence, where other readers
// of RFC 5545, which leaves it undefined, see the first one, and an EXDATE that excludes nothing.
func (r *Set) Doubts(s language.Setting, compiled *instant.Schedule) []string {
	zone := r.zone
	if zone == nil {
		zone = s.Location()
	}
	var doubts []string
	if len(r.dropped) > 0 {
		whole := *r
		whole.dropped = nil
		all, err := whole.Compile(s)
		if err != nil {
			return nil
		}
		compiled, doubts = all, r.idle(s, zone, all)
	}
	first, ok := compiled.Next(time.Time{})
	if !ok || !r.hasStart || r.dialect == language.Dsari || len(r.rules) == 0 {
		return doubts
	}
	_, offset := first.In(zone).Zone()
	shown := first.Unix() + int64(offset)
	if shown <= int64(r.start) || r.gapped(zone) { // what becomes of a start that the clock jumps over, the notes tell
		return doubts
	}
	return append(doubts, fmt.Sprintf("DTSTART, %s, is no occurrence of the rule; the first is %s",
		english.Moment(int64(r.start)), english.Moment(shown)))
}

// idle returns the first EXDATE that excludes nothing, given all instants without exclusions.
func (r *Set) idle(s language.Setting, zone *time.Location, all *instant.Schedule) []string {
	c := setCompiler{Set: r, loc: zone}
	for i := range r.dropped {
		for _, span := range c.spans(&r.dropped[i], s.DST.Or(instant.GapShift, instant.OverlapFirst)) {
			if all.Count(time.Unix(span.From, 0), time.Unix(span.To+1, -1)) == 0 {
				return []string{"EXDATE " + r.dropped[i].words(zone) + " excludes nothing: no occurrence is due then"}
			}
		}
	}
	return nil
}

// gapped reports whether the clock of a zone never shows DTSTART.
func (r *Set) gapped(zone *time.Location) bool {
	t := time.Unix(int64(r.start), 0).UTC()
	shown := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone)
	return shown.Hour() != t.Hour() || shown.Minute() != t.Minute()
}
