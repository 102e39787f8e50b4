package cron

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// Expression is a parsed cron expression: one pattern or, in the Obsidian dialect, several alternatives.
// Where the documentation of Obsidian Scheduler and dsari is silent, these interpretations apply:
//
//   - A day field is restricted unless it is a bare *. If both are restricted, a day matches if either allows it. See
//     And.
//   - 31W skips months without a 31st, as 31 does.
//   - A step without an end runs to the end of its field. Obsidian's days of the week are 0-7, so its 1/2 is Monday,
//     Wednesday, Friday and Sunday, and 6/1 the weekend. In dsari, as in croniter, it ends on Saturday.
//   - 7 is Sunday, also at the end of a range, and so are SUN and 0 there: FRI-SUN. Every other descending range is an
//     error.
//   - A list of weekdays with L or # matches the days of any element.
//   - A step longer than its range yields the first value of the range.
//   - A list of past years, and a day that never occurs, are valid but have no next instant.
//   - H in the day of month may be 29 to 31, as in croniter, and skips shorter months; so does @monthly. A day that
//     none of the pattern's months has, such as 31 November, becomes their last day. R is drawn once, when the text is
//     parsed. The hashed second of a line of five fields is part of every time.
//   - A pattern with * in its minute or hour follows the clock when it changes; any other pattern runs once a day. See
//     [instant.DST].
type Expression struct {
	// And selects the meaning of a pattern that restricts both the day of the month and the day of the week. True: both
	// must match. False, as in all cron implementations: either must match. Obsidian's page is silent; it calls its
	// expressions "cron syntax". Set And before you use the rule.
	And bool

	patterns []cronPattern
	one      [1]cronPattern // memory of patterns, unless they are more
}

// cronPattern is a line of fields.
type cronPattern struct {
	fields [cronYear + 1]cronField
	zone   *time.Location     // of the pattern itself; nil: the setting's
	items  [cronYear]cronItem // memory of usual fields, see [cronPattern.gather]
	doubts []string           // valid parts that probably do not have the intended meaning, see [Expression.Hints]
}

// gather puts the items of all fields in one place.
func (p *cronPattern) gather() {
	items := p.items[:0]
	for i, f := range p.fields {
		items = append(items, f...)
		p.fields[i] = items[len(items)-len(f) : len(items) : len(items)]
	}
}

// cronField is a list of alternative items. An empty list matches every value.
type cronField []cronItem

// cronItem is an element of a field's list.
type cronItem struct {
	form         cronForm
	star         bool          // begins with *, which matters for days (either or both) and for the policy at changes of the clock
	stepped      bool          // has a step
	lo, hi, step int           // the numbers from lo to hi, step apart; a single number is lo
	nth          int           // for numberedWeekday
	draw         language.Hash // for randomValue
}

// cronForm is the form of an item.
type cronForm uint8

const (
	plainValues     cronForm = iota // *, 5, 1-5, */2, 1/2, 1-31/2
	lastOfMonth                     // L: the last day of the month
	nearestWeekday                  // 15W: the day from Monday to Friday nearest to day lo, in the same month
	lastWeekday                     // 5L: the last Friday
	numberedWeekday                 // 5#2: the second Friday
	hashedValue                     // H: the job's own value in lo…hi; with a step, that one and each step after it
	randomValue                     // R: the same, drawn when the text was parsed
)

// cronPart is a field of a pattern. The numbers are those that the hash needs: see HashField.
type cronPart int

const (
	cronMinute  = cronPart(language.HashMinute)
	cronHour    = cronPart(language.HashHour)
	cronDay     = cronPart(language.HashDay)
	cronMonth   = cronPart(language.HashMonth)
	cronWeekday = cronPart(language.HashWeekday)
	cronSecond  = cronPart(language.HashSecond)
	cronYear    = cronSecond + 1
)

// cronParts holds the properties of each field ("Special Characters and Allowed Values" on Obsidian's page; dsari's
// Schedule Format).
var cronParts = [...]struct {
	name   string
	one    string // the same in a sentence
	values string // description of the allowed values
	lo, hi int
	names  []string // of lo, lo+1 …
}{
	cronMinute:  {"minute", "a minute", "minutes are 0-59", 0, 59, nil},
	cronHour:    {"hour", "an hour", "hours are 0-23", 0, 23, nil},
	cronDay:     {"day of month", "a day of the month", "days of the month are 1-31", 1, 31, nil},
	cronMonth:   {"month", "a month", "months are 1-12 or JAN-DEC", 1, 12, cronMonths},
	cronWeekday: {"day of week", "a day of the week", "days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT", 0, 7, cronWeekdays},
	cronSecond:  {"second", "a second", "seconds are 0-59", 0, 59, nil},
	cronYear:    {"year", "a year", "years are 2010-2999", 2010, 2999, nil},
}

var (
	cronMonths   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	cronWeekdays = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

// most returns the last number that * and a step reach. The 7 of a week is a second name of Sunday, which they have
// had.
func (part cronPart) most() int {
	if part == cronWeekday {
		return 6
	}
	return cronParts[part].hi
}

// free reports whether the field is a bare *, which restricts nothing. Every other way to say the same, such as 1-31 or
// */1, counts as a restriction where cron asks.
func (f cronField) free() bool {
	return len(f) == 0 || len(f) == 1 && f[0].star && !f[0].stepped
}

// has reports whether an item has that form.
func (f cronField) has(form cronForm) bool {
	return slices.ContainsFunc(f, func(item cronItem) bool { return item.form == form })
}

// wild reports whether the field begins with *, as in */5.
func (f cronField) wild() bool { return len(f) == 0 || f[0].star }

// of returns the item with its numbers known, for a job with that hash: lo to hi, step apart.
func (i cronItem) of(part cronPart, h language.Hash) cronItem {
	switch i.form {
	case hashedValue:
	case randomValue:
		h = i.draw
	default:
		return i
	}
	if i.step == 0 {
		i.lo = h.Pick(language.HashField(part), i.lo, i.hi)
		i.hi, i.step = i.lo, 1
	} else {
		i.lo = h.Step(language.HashField(part), i.lo, i.hi, i.step)
	}
	return i
}

// values returns the numbers of the plain and the hashed items, ascending, without repetition.
func (f cronField) values(part cronPart, h language.Hash) []int {
	info := cronParts[part]
	if len(f) == 0 {
		f = cronField{{lo: info.lo, hi: part.most(), step: 1}}
	}
	listed := make([]bool, info.hi-info.lo+1)
	for _, item := range f {
		if item.form == plainValues || item.form == hashedValue || item.form == randomValue {
			item = item.of(part, h)
			for n := item.lo; n <= item.hi; n += item.step {
				listed[n-info.lo] = true
			}
		}
	}
	if part == cronWeekday { // Sunday's second name
		listed[0] = listed[0] || listed[7]
		listed = listed[:7]
	}
	var values []int
	for i, ok := range listed {
		if ok {
			values = append(values, info.lo+i)
		}
	}
	return values
}

// mask returns the values as bits.
func (f cronField) mask(part cronPart, h language.Hash) uint64 {
	return calendar.BitsOf(f.values(part, h))
}

// Location returns the zone that all patterns name.
func (c *Expression) Location() *time.Location {
	zone := c.patterns[0].zone
	if slices.ContainsFunc(c.patterns, func(p cronPattern) bool { return p.zone != zone }) {
		return nil
	}
	return zone
}

// quartz returns the hint for a line of Quartz and its kin, whose first field is the second: the line without it. It
// is "" if the rest is not a pattern either.
func (p *cronParser) quartz(words []cronWord) string {
	if len(words) != 6 && (len(words) != 7 || p.dialect == language.Dsari) {
		return ""
	}
	trial := cronParser{dialect: p.dialect}
	second := fieldParser{cronParser: &trial, part: cronSecond, number: 1, words: words}
	second.field(words[0])
	fields := slices.Clone(words[1:])
	for i := range fields {
		if fields[i].text == "?" {
			fields[i].text = "*"
			fields[4].text = fromQuartz(fields[4].text)
		}
	}
	trial.fields(fields)
	if len(trial.problems) > 0 {
		return ""
	}
	line := textOf(fields)
	if p.dialect == language.Dsari {
		line += " " + words[0].text
	}
	return fmt.Sprintf("this looks like a line of Quartz, whose first field is the second; here it is written %q", line)
}

// fromQuartz names the weekdays of a field that counts them from Sunday, 1.
func fromQuartz(weekdays string) string {
	var b strings.Builder
	for i := range len(weekdays) {
		c := weekdays[i]
		counts := i > 0 && (weekdays[i-1] == '#' || weekdays[i-1] == '/')
		if c >= '1' && c <= '7' && !counts {
			b.WriteString(cronWeekdays[c-'1'])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
