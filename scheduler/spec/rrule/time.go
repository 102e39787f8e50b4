package rrule

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// rruleTime is a DATE or a DATE-TIME of iCalendar.
type rruleTime struct {
	at   localTime
	utc  bool // it ended in Z
	date bool // it had no time
	// short tells that the time had no seconds. Only AWX takes that.
	short bool
}

// parseRRuleTime reads 20300115, 20300115T120000, 20300115T120000Z, and without seconds if short is allowed. The
// problem is empty if all is well.
func parseRRuleTime(text string, short bool) (t rruleTime, problem string) {
	rest := strings.ToUpper(text)
	if len(rest) > 8 {
		rest, t.utc = strings.CutSuffix(rest, "Z")
	}
	days, clock, timed := strings.Cut(rest, "T")
	t.date = !timed
	t.short = timed && len(clock) == 4
	wellTimed := !timed || len(clock) == 6 || t.short && short
	if len(days) != 8 || !wellTimed || t.date && t.utc || !spelling.OnlyDigits(days+clock) {
		return t, "is not a date such as 20300115 or a time such as 20300115T120000"
	}
	year, month, day := spelling.Number(days[:4]), spelling.Number(days[4:6]), spelling.Number(days[6:])
	var hour, minute, second int
	if timed {
		hour, minute = spelling.Number(clock[:2]), spelling.Number(clock[2:4])
		second = spelling.Number(clock[4:])
	}
	switch {
	case year == 0:
		return t, "has no year: years count from 0001"
	case month < 1 || month > 12:
		return t, fmt.Sprintf("has month %02d; months are 01-12", month)
	}
	first := int64(year*12 + month - 1)
	if length := calendar.MonthLength(first); day < 1 || int64(day) > length {
		return t, fmt.Sprintf("has day %02d; that month has 01-%d", day, length)
	}
	switch {
	case hour > 23:
		return t, fmt.Sprintf("has hour %02d; hours are 00-23", hour)
	case minute > 59:
		return t, fmt.Sprintf("has minute %02d; minutes are 00-59", minute)
	case second > 59:
		return t, fmt.Sprintf("has second %02d; seconds are 00-59", second)
	}
	t.at = localTime((calendar.FirstDay(first)+int64(day)-1)*calendar.DayLength + int64(hour*3600+minute*60+second))
	return t, ""
}

// rruleTimeHint says what to do about a text that parseRRuleTime did not take; empty if that is not plain.
func rruleTimeHint(text string) string {
	upper := strings.ToUpper(text)
	if i := strings.LastIndexAny(upper, "+-"); i > 8 && strings.Contains(upper, "T") && i > strings.Index(upper, "T") {
		return "an offset cannot be written: end UTC in Z, and name a zone with DTSTART;TZID=…"
	}
	if bare := strings.NewReplacer("-", "", ":", "").Replace(upper); bare != upper {
		if _, problem := parseRRuleTime(bare, false); problem == "" {
			return "write " + bare
		}
	}
	return ""
}
