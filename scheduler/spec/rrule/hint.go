package rrule

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// partHint says what to do about a part that does not exist.
func partHint(name string) string {
	switch {
	case name == "BYEASTER":
		return "BYEASTER is not part of RFC 5545; the dialect dsari has it"
	case name == "RSCALE" || name == "SKIP":
		return "the extensions of RFC 7529 are not supported"
	case name == "BYWEEKDAY" || name == "BYWEEKDAYS" || name == "BYNWEEKDAY":
		return "did you mean BYDAY?"
	case name == "DTSTART" || name == "TZID" || name == "DTEND":
		return "write DTSTART;TZID=America/New_York:20300115T120000 before the rule, as a property of its own"
	case strings.HasPrefix(name, "X-"):
		return "parts of one's own are not supported; leave it out"
	}
	return spelling.DidYouMean(name, rrulePartNames())
}

// freqHint says which frequency was meant.
func freqHint(value string) string {
	for freq := freqYearly; freq <= freqSecondly; freq++ {
		word := strings.ToUpper(freq.unit())
		if value == word || value == word+"S" || value == word+"LY" {
			return "did you mean " + freq.String() + "?"
		}
	}
	return spelling.DidYouMean(value, rruleFreqNames)
}

// weekdayHint says which weekday was meant.
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

// numberHint says how to write an item of a list of numbers.
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
