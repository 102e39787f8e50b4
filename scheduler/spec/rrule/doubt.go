package rrule

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// Doubts returns what is right in the set and may not be meant so: a DTSTART that is no occurrence, where other readers
// of RFC 5545, which leaves it undefined, see the first one.
func (r *Set) Doubts(s language.Setting, compiled instant.Schedule) []string {
	if !r.hasStart || r.dialect == language.Dsari {
		return nil
	}
	zone := r.zone
	if zone == nil {
		zone = s.Location()
	}
	first, ok := compiled.Next(time.Time{})
	if !ok {
		return nil
	}
	_, offset := first.In(zone).Zone()
	shown := first.Unix() + int64(offset)
	if shown <= int64(r.start) || r.gapped(zone) { // what becomes of a start that the clock jumps over, the notes tell
		return nil
	}
	return []string{fmt.Sprintf("DTSTART, %s, is no occurrence of the rule; the first is %s",
		english.Moment(int64(r.start)), english.Moment(shown))}
}

// gapped reports whether the clock of a zone never shows DTSTART.
func (r *Set) gapped(zone *time.Location) bool {
	t := time.Unix(int64(r.start), 0).UTC()
	shown := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone)
	return shown.Hour() != t.Hour() || shown.Minute() != t.Minute()
}
