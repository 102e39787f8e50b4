package rrule

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// The messages of AWX's parser, python-dateutil. Where it has no message, and AWX would show an internal error of
// Python, the message is ours.
const (
	awxTooFew    = "a part of a rule is written NAME=VALUE"
	awxTooMany   = "a part of a rule has one \"=\", and a rule no \":\" after RRULE:"
	awxNoFreq    = "FREQ is missing"
	awxTwoZones  = "DTSTART/EXDATE specifies multiple timezone"
	awxNoZone    = "A valid TZID must be provided (e.g., America/New_York)"
	awxUntilKind = "RRULE UNTIL values must be specified in UTC when DTSTART is timezone-aware"
	awxUntilForm = "UNTIL must be a time such as 20300115T120000Z"
	awxSetPos    = "bysetpos must be between 1 and 366, or between -366 and -1"
	awxEmptySet  = "Invalid rrule byxxx generates an empty set."
)

var (
	awxUntilAt = regexp.MustCompile(`UNTIL=\d+T\d+(Z?)`)
	awxOffset  = regexp.MustCompile(`^(\d{8}T\d{4}(?:\d{2})?)[+-]\d{2}:?\d{2}$`)
)

// awxParser reads a text in the order in which AWX's parser does, to find the mistake at which that one stops. It lets
// much pass that RFC 5545 forbids.
type awxParser struct {
	started bool
	start   awxTime
	rules   []rruleText
	excl    []rruleText
	naive   bool // some rule has no time zone
}

// awxTime is a time as AWX's parser sees it.
type awxTime struct {
	at    localTime
	aware bool // its time zone is known
}

// parseLikeAWX returns the first error that AWX's parser finds and its column. The message is empty for a valid text.
func parseLikeAWX(text string) (column int, message string) {
	pieces := rrulePieces(text, false)
	for _, piece := range pieces {
		if strings.Contains(strings.ToLower(piece.text), "until=") && !awxUntilAt.MatchString(piece.text) {
			return piece.column(), awxUntilForm
		}
	}
	var p awxParser
	for _, piece := range pieces {
		if message := p.property(piece); message != "" {
			return piece.column(), message
		}
	}
	for _, rule := range slices.Concat(p.rules, p.excl) {
		if message := p.rule(rule.upper()); message != "" {
			return rule.column(), message
		}
	}
	if p.naive {
		return pieces[0].column(), awxNoZone
	}
	return 0, ""
}

// property reads a property. Rules are kept for later.
func (p *awxParser) property(t rruleText) string {
	colon := strings.IndexByte(t.text, ':')
	if colon < 0 {
		p.rules = append(p.rules, t)
		return ""
	}
	value := t.after(colon)
	params := strings.Split(t.text[:colon], ";")
	name := strings.ToUpper(params[0])
	params = params[1:]
	switch name {
	case "RRULE", "EXRULE":
		if len(params) > 0 {
			return fmt.Sprintf("unsupported %s parm: %s", name, strings.ToUpper(params[0]))
		}
		if name == "RRULE" {
			p.rules = append(p.rules, value)
		} else {
			p.excl = append(p.excl, value)
		}
		return ""
	case "DTSTART":
		return p.dtstart(params, value.upper())
	case "RDATE", "EXDATE": // with parameters: AWX refuses only the others
		return ""
	}
	return "unsupported property: " + name
}

// dtstart reads DTSTART.
func (p *awxParser) dtstart(params []string, value string) string {
	zoned, kind := false, ""
	for i, param := range params {
		upper := strings.ToUpper(param)
		switch {
		case strings.HasPrefix(upper, "TZID="): // it is found only as the last one, in upper case
			name, exact := strings.CutPrefix(param, "TZID=")
			zoned = exact && tz.Known(name) && i == len(params)-1
		case upper != "VALUE=DATE-TIME" && upper != "VALUE=DATE":
			return "unsupported parm: " + upper
		case kind != "":
			return "Duplicate value parameter found in: " + upper
		default:
			kind = upper
		}
	}
	values := strings.Split(value, ",")
	for _, text := range values {
		start, problem := awxTimeOf(text)
		switch {
		case problem != "":
			return problem
		case zoned && start.aware:
			return awxTwoZones
		}
		p.started, p.start = true, start
		p.start.aware = start.aware || zoned
	}
	if len(values) > 1 {
		return "Multiple DTSTART values specified:" + value
	}
	return ""
}

// awxTimeOf reads a date or a time. The problem has the parser's words.
func awxTimeOf(text string) (t awxTime, problem string) {
	if match := awxOffset.FindStringSubmatch(text); match != nil {
		text, t.aware = match[1], true
	}
	parsed, wrong := parseRRuleTime(text, true)
	t.at, t.aware = parsed.at, t.aware || parsed.utc
	if wrong == "" {
		return t, ""
	}
	for sign, words := range map[string]string{
		"has no year": "year 0 is out of range", "has month": "month must be in 1..12", "has day": "day is out of range for month",
		"has hour": "hour must be in 0..23", "has minute": "minute must be in 0..59", "has second": "second must be in 0..59",
	} {
		if strings.HasPrefix(wrong, sign) {
			return t, words + ": " + text
		}
	}
	if text == "" {
		return t, "String does not contain a date: "
	}
	return t, "Unknown string format: " + text
}

// rule reads a rule, which is in upper case.
func (p *awxParser) rule(value string) string {
	if colons := strings.Count(value, ":"); colons > 1 {
		return awxTooMany
	} else if colons == 1 {
		name, rest, _ := strings.Cut(value, ":")
		if name != "RRULE" {
			return "unknown parameter name"
		}
		value = rest
	}
	r := awxRule{interval: 1, lists: map[string][]int{}}
	for pair := range strings.SplitSeq(value, ";") {
		name, value, found := strings.Cut(pair, "=")
		switch {
		case !found:
			return awxTooFew
		case strings.Contains(value, "="):
			return awxTooMany
		}
		switch known, valid := r.part(name, value); {
		case !known:
			return fmt.Sprintf("unknown parameter '%s'", name)
		case !valid:
			return fmt.Sprintf("invalid '%s': %s", name, value)
		}
	}
	aware := p.start.aware || !p.started && r.hasUntil // without DTSTART, the current time replaces it
	switch {
	case !r.hasFreq:
		return awxNoFreq
	case r.hasUntil && !aware:
		return awxUntilKind
	}
	p.naive = p.naive || !aware
	return r.problem(p.started, int64(p.start.at))
}

// awxRule is a rule as AWX's parser sees it.
type awxRule struct {
	freq     rruleFreq
	interval int
	lists    map[string][]int
	hasFreq  bool
	hasUntil bool
}

// part reads a part.
func (r *awxRule) part(name, value string) (known, valid bool) {
	switch name {
	case "FREQ":
		i := slices.Index(rruleFreqNames, value)
		r.freq, r.hasFreq = rruleFreq(max(i, 0)), true
		return true, i >= 0
	case "INTERVAL", "COUNT":
		n, err := strconv.Atoi(value)
		if name == "INTERVAL" {
			r.interval = n
		}
		return true, err == nil
	case "UNTIL":
		_, problem := awxTimeOf(value)
		r.hasUntil = true // AWX has put one without a zone on DTSTART's clock
		return true, problem == ""
	case "WKST":
		return true, slices.Contains(rruleDays, value)
	case "BYDAY":
		return true, awxDays(value)
	}
	if _, ok := rruleLists[name]; !ok {
		return false, false
	}
	r.lists[name] = nil // the last one holds
	for item := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(item)
		if err != nil {
			return true, false
		}
		r.lists[name] = append(r.lists[name], n)
	}
	return true, true
}

// awxDays reports whether AWX's parser takes a list of weekdays.
func awxDays(value string) bool {
	for item := range strings.SplitSeq(value, ",") {
		day := strings.TrimLeft(item, "+-0123456789")
		n, err := strconv.Atoi(item[:len(item)-len(day)])
		if !slices.Contains(rruleDays, day) || day != item && (err != nil || n == 0) {
			return false
		}
	}
	return true
}

// problem returns the error in the combination of parts. start is the second from which the rule counts, if known.
func (r *awxRule) problem(known bool, start int64) string {
	for _, n := range r.lists["BYSETPOS"] {
		if n == 0 || max(n, -n) > rruleLists["BYSETPOS"].max {
			return awxSetPos
		}
	}
	for _, unit := range []struct {
		freq      rruleFreq
		name      string
		word      string
		size, now int64
	}{
		{freqHourly, "BYHOUR", "hour", 24, start / 3600},
		{freqMinutely, "BYMINUTE", "minute", 60, start / 60},
		{freqSecondly, "BYSECOND", "second", 60, start},
	} {
		list := r.lists[unit.name]
		out := func(n int) bool { return n < 0 || int64(n) >= unit.size }
		met := func(n int) bool { // in some step from the start on
			_, rest := calendar.Divide(int64(n)-unit.now, calendar.GCD(int64(r.interval), unit.size))
			return rest == 0
		}
		switch {
		case r.freq < freqHourly && slices.ContainsFunc(list, out):
			return fmt.Sprintf("%s must be in 0..%d", unit.word, unit.size-1)
		case known && r.freq == unit.freq && len(list) > 0 && r.interval > 0 && !slices.ContainsFunc(list, met):
			return awxEmptySet
		}
	}
	return ""
}
