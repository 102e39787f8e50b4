package rrule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// Limits of a recurrence's text, far beyond the needs of a schedule.
const (
	maxRRuleText   = 16_384 // bytes
	maxRRules      = 64     // RRULEs and EXRULEs together
	maxRRuleErrors = 16     // problems reported together
	maxRRuleNumber = 999_999_999
)

// Parse parses an iCalendar recurrence: properties DTSTART, RRULE, EXRULE and, in the dialect RFC5545, RDATE and
// EXDATE, separated by line ends or blanks, in any order and letter case. The dialects RFC5545 and Dsari accept a rule
// without the prefix "RRULE:".
//
// Parse is strict and refuses violations of RFC 5545's syntax. Exceptions, which follow python-dateutil: parts that the
// RFC does not allow together limit each other, and the schedule's start replaces a missing DTSTART. A rule with both
// COUNT and UNTIL is refused, as by section 3.3.10. PERIODs of RDATE and the parts of RFC 7529 are not supported.
// BYSECOND=60, the leap second, is valid and never matches.
//
// The error is one or several *[language.SyntaxError], joined, or [AWXErrors] in the dialect AWX.
func Parse(text string, dialect language.Dialect) (language.Rule, error) {
	set, err := parseRuleSet(text, dialect)
	if err != nil {
		return nil, err
	}
	return set, nil
}

func parseRuleSet(text string, dialect language.Dialect) (*Set, error) {
	if dialect == language.AWX {
		return parseAWX(text)
	}
	p := parseRRule(text, dialect)
	if len(p.problems) > 0 {
		return nil, language.Join(p.problems, maxRRuleErrors)
	}
	return &p.set, nil
}

// rruleParser collects the properties of a text and their errors.
type rruleParser struct {
	set      Set
	problems []*language.SyntaxError

	start   rruleText // DTSTART's value
	started bool      // there was one
	strange bool      // an unknown property was found; others are not reported
}

func parseRRule(text string, dialect language.Dialect) *rruleParser {
	p := &rruleParser{set: Set{dialect: dialect}}
	if len(text) > maxRRuleText {
		p.problem(0, "", fmt.Sprintf("the text has %d bytes; at most %d are allowed", len(text), maxRRuleText), "")
		return p
	}
	for _, property := range rrulePieces(text, dialect != language.AWX) {
		p.property(property)
	}
	p.finish()
	return p
}

// problem notes that something is wrong.
func (p *rruleParser) problem(column int, field, message, hint string) {
	p.problems = append(p.problems, &language.SyntaxError{Column: column, Field: field, Message: message, Hint: hint})
}

// property reads one property.
func (p *rruleParser) property(t rruleText) {
	colon := t.index(':')
	if colon < 0 {
		p.bare(t)
		return
	}
	params := t.before(colon).split(';')
	name, value := params[0].upper(), t.after(colon)
	params = params[1:]
	switch name {
	case "DTSTART":
		p.dtstart(t, params, value)
	case "RRULE", "EXRULE":
		for _, param := range params {
			p.problem(param.column(), name, fmt.Sprintf("parameter %q is not allowed here", param.text), "")
		}
		p.rule(value, name == "EXRULE")
	case "RDATE", "EXDATE":
		p.singles(name, t, params, value)
	default:
		p.unknown(params, t, name)
	}
}

// bare reads a property without a colon: a rule without its name, or a mistake.
func (p *rruleParser) bare(t rruleText) {
	name, _, _ := strings.Cut(t.upper(), "=")
	if strings.Contains(t.text, "=") && (name == "FREQ" || slices.Contains(rrulePartNames(), name) && len(p.set.rules) == 0) {
		if p.set.dialect == language.AWX {
			p.problem(t.column(), "", fmt.Sprintf("%q has no name", t.text), "write RRULE:"+t.text)
			return
		}
		p.rule(t, false)
		return
	}
	if slices.Contains(rruleProperties, name) {
		p.problem(t.column(), name, "has no colon behind it", "write "+name+":… without blanks in it")
		p.strange = true
		return
	}
	p.unknown(nil, t, t.upper())
}

// unknown reports something that is not a property, once.
func (p *rruleParser) unknown(params []rruleText, t rruleText, name string) {
	if p.strange {
		return
	}
	p.strange = true
	hint := ""
	switch meant := spelling.Nearest(name, rruleProperties); {
	case meant != "":
		hint = "did you mean " + meant + "?"
	case slices.Contains(rrulePartNames(), strings.Split(name, "=")[0]):
		hint = "a rule has no blanks in it"
	case looksLikeCron(name):
		hint = "a cron expression belongs into recurrence.cron"
	case len(params) == 0 && !strings.ContainsAny(name, ":="):
		hint = "a rule looks like RRULE:FREQ=DAILY;BYHOUR=9"
	}
	p.problem(t.column(), "", fmt.Sprintf("%q is not DTSTART:…, RRULE:… or EXRULE:…", spelling.Short(t.text)), hint)
}

// looksLikeCron reports whether the first word of a text looks like cron: a shortcut or minutes.
func looksLikeCron(word string) bool {
	return strings.HasPrefix(word, "@") || word != "" && len(word) < 6 && strings.Trim(word, "0123456789*/,-") == ""
}

// dtstart reads DTSTART.
func (p *rruleParser) dtstart(t rruleText, params []rruleText, value rruleText) {
	if p.started {
		p.problem(t.column(), "DTSTART", "stands here again; one is allowed", "")
		return
	}
	p.started, p.start, p.set.hasStart = true, value, true
	kind, zone := p.params("DTSTART", params)
	start, zone := p.time("DTSTART", kind, zone, value)
	p.set.zone, p.set.start, p.set.dateOnly = zone, start.at, start.date
}

// time reads a time of a kind of VALUE and in a zone, nil for the set's own, and returns its zone.
func (p *rruleParser) time(field, kind string, zone *time.Location, value rruleText) (rruleTime, *time.Location) {
	t, problem := parseRRuleTime(value.text, p.set.dialect == language.AWX)
	switch {
	case problem != "":
		p.problem(value.column(), field, fmt.Sprintf("%q %s", spelling.Short(value.text), problem), rruleTimeHint(value.text))
	case t.utc && zone != nil:
		p.problem(value.column(), field, "has a TZID and ends in Z", "leave one of them out")
	case t.date && kind != "DATE":
		p.problem(value.column(), field, fmt.Sprintf("%q has no time", value.text),
			fmt.Sprintf("write %sT000000, or %s;VALUE=DATE:%s", value.text, field, value.text))
	case !t.date && kind == "DATE":
		p.problem(value.column(), field, fmt.Sprintf("VALUE=DATE, but %q has a time", value.text), "")
	}
	if t.utc && zone == nil {
		zone = time.UTC
	}
	return t, zone
}

// params reads the parameters of DTSTART, RDATE or EXDATE and returns their VALUE and the zone of their TZID.
func (p *rruleParser) params(field string, params []rruleText) (kind string, zone *time.Location) {
	seen := map[string]bool{}
	for _, param := range params {
		equals := param.index('=')
		if equals < 0 {
			p.problem(param.column(), field, fmt.Sprintf("parameter %q has no value", param.text), "")
			continue
		}
		name, value := param.before(equals).upper(), param.after(equals)
		if seen[name] {
			p.problem(param.column(), field, "parameter "+name+" stands here again", "")
			continue
		}
		seen[name] = true
		switch name {
		case "TZID":
			zone = p.zone(field, value)
		case "VALUE":
			kind = value.upper()
			if kind != "DATE" && kind != "DATE-TIME" {
				p.problem(value.column(), field, fmt.Sprintf("VALUE is %q; DATE and DATE-TIME are allowed", value.text), "")
			}
		default:
			p.problem(param.column(), field, fmt.Sprintf("parameter %q is not TZID or VALUE", spelling.Short(name)),
				spelling.DidYouMean(name, []string{"TZID", "VALUE"}))
		}
	}
	return kind, zone
}

// zone reads a TZID. On an unknown one it assumes UTC, so that no other error follows from it.
func (p *rruleParser) zone(field string, value rruleText) *time.Location {
	name := value.text
	if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
		name = name[1 : len(name)-1]
	}
	zone, err := tz.Load(name)
	if err != nil {
		p.problem(value.column(), field, fmt.Sprintf("TZID %q is not a time zone of the IANA database", spelling.Short(name)),
			strings.ReplaceAll(tz.Hint(name), `"`, ""))
		return time.UTC
	}
	return zone
}

// rule reads the value of an RRULE or EXRULE.
func (p *rruleParser) rule(value rruleText, excluded bool) {
	if len(p.set.rules)+len(p.set.excluded) == maxRRules {
		p.problem(value.column(), "", fmt.Sprintf("more than %d rules", maxRRules), "")
		return
	}
	r := p.parts(value)
	if excluded {
		p.set.excluded = append(p.set.excluded, r)
	} else {
		p.set.rules = append(p.set.rules, r)
	}
}

// finish checks what only the whole text shows.
func (p *rruleParser) finish() {
	if len(p.set.rules)+len(p.set.added)+len(p.problems) == 0 {
		switch {
		case len(p.set.excluded) > 0:
			p.problem(0, "", "there is an EXRULE, but no RRULE from which it could take something out", "")
		case len(p.set.dropped) > 0:
			p.problem(0, "", "there is an EXDATE, but no RRULE from which it could take something out", "")
		case p.started:
			p.problem(0, "", "there is a DTSTART, but no RRULE", "add RRULE:FREQ=DAILY, or use startTime alone for a single run")
		default:
			p.problem(0, "", "there is no rule", "a rule looks like RRULE:FREQ=DAILY;BYHOUR=9")
		}
	}
	for _, r := range slices.Concat(p.set.rules, p.set.excluded) {
		if r.count > 0 && r.until.given && p.set.dialect == language.RFC5545 {
			p.problem(r.until.column, "RRULE part UNTIL", "excludes COUNT (RFC 5545, section 3.3.10)",
				"leave one of them out; the job's recurrence.endTime or recurrence.count can do its work")
		}
		p.checkUntil(&r)
	}
}

// checkUntil compares the kind of UNTIL with the kind of DTSTART, as RFC 5545 demands. Without DTSTART, every kind is
// valid. The same holds for dsari, whose UNTIL is in the schedule's zone unless it ends in Z.
func (p *rruleParser) checkUntil(r *rrule) {
	u, set := &r.until, &p.set
	if !u.given || !set.hasStart || set.dialect == language.Dsari || set.dateOnly && u.date {
		return
	}
	switch {
	case set.zone != nil && u.utc, set.dialect == language.AWX && u.short:
	case set.zone != nil && set.dialect == language.AWX:
		p.problem(u.column, "", awxUntilKind, utcHint(set, u))
	case set.zone != nil:
		p.problem(u.column, "RRULE part UNTIL", "is not in UTC, but DTSTART has a time zone: UNTIL must end in Z", utcHint(set, u))
	case u.utc:
		p.problem(u.column, "RRULE part UNTIL", "is in UTC, but DTSTART has no time zone", "leave out the Z, or add one to DTSTART")
	}
}

// utcHint suggests an UNTIL: the same reading of DTSTART's clock, in UTC.
func utcHint(set *Set, u *rruleUntil) string {
	at := time.Unix(int64(u.at), 0).UTC()
	if u.date {
		at = at.Add(24*time.Hour - time.Second)
	}
	local := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, set.zone)
	return "write " + local.UTC().Format("20060102T150405Z")
}
