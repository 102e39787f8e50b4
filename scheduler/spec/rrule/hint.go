package rrule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// partHint suggests a replacement for an unknown part.
func partHint(name string) string {
	switch {
	case name == "BYEASTER":
		return "BYEASTER is not part of RFC 5545; the dialect dsari has it"
	case name == "RSCALE" || name == "SKIP":
		return "the extensions of RFC 7529 are not supported"
	case name == "BYWEEKDAY" || name == "BYWEEKDAYS" || name == "BYNWEEKDAY":
		return "did you mean BYDAY?"
	case name == "DTSTART" || name == "TZID" || name == "DTEND":
		return "write DTSTART;TZID=America/New_York:20300115T120000 before the rule, as a separate property"
	case strings.HasPrefix(name, "X-"):
		return "parts of one's own are not supported; leave it out"
	}
	return spelling.DidYouMean(name, rrulePartNames())
}

// freqHint suggests a frequency.
func freqHint(value string) string {
	for freq := freqYearly; freq <= freqSecondly; freq++ {
		word := strings.ToUpper(freq.unit())
		if value == word || value == word+"S" || value == word+"LY" {
			return "did you mean " + freq.String() + "?"
		}
	}
	return spelling.DidYouMean(value, rruleFreqNames)
}

// weekdayHint suggests a weekday.
func weekdayHint(value string) string {
	split := strings.IndexFunc(value, func(r rune) bool { return r >= 'A' && r <= 'Z' })
	if split < 0 || len(value)-split < 3 {
		return ""
	}
	word := value[split:]
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.HasPrefix(strings.ToUpper(day.String()), word) {
			return "did you mean " + value[:split] + rruleDays[day] + "?"
		}
	}
	if strings.Contains(value, "(") {
		return "the number stands before the day: -1FR"
	}
	if strings.Contains(value, "-") {
		return "ranges are written out: MO,TU,WE"
	}
	return ""
}

// numberHint describes the notation of an item in a list of numbers.
func numberHint(name, item string) string {
	if name == "BYMONTH" && len(item) >= 3 {
		for month := time.January; month <= time.December; month++ {
			if strings.HasPrefix(strings.ToUpper(month.String()), item) {
				return "months are numbers: " + strconv.Itoa(int(month))
			}
		}
	}
	from, to, ok := strings.Cut(item, "-")
	switch {
	case ok && spelling.OnlyDigits(from) && spelling.OnlyDigits(to):
		return "ranges are written out: 1,2,3"
	case strings.Contains(item, "/"):
		return "steps are written out, or are the rule's INTERVAL"
	case (name == "BYMONTHDAY" || name == "BYSETPOS") && item == "L":
		return "the last one is -1"
	case name == "BYHOUR" && item == "24":
		return "midnight is 0"
	}
	return ""
}

// Hints returns valid parts of the set that probably do not have the intended meaning: a DTSTART that is not an
// occurrence (RFC 5545 leaves it undefined, and other implementations make it the first one), and an EXDATE that
// excludes nothing.
func (r *Set) Hints(s language.Context, compiled *instant.Schedule) []string {
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
	if shown <= int64(r.start) || r.gapped(zone) { // the notes describe a start that the clock skips
		return doubts
	}
	return append(doubts, fmt.Sprintf("DTSTART, %s, is no occurrence of the rule; the first is %s",
		english.Moment(int64(r.start)), english.Moment(shown)))
}

// idle returns the first EXDATE that excludes nothing, given all instants without exclusions.
func (r *Set) idle(s language.Context, zone *time.Location, all *instant.Schedule) []string {
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
