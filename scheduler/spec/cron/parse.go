package cron

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// maxCronText is the longest expression, in characters. It holds more patterns than a person can follow.
const maxCronText = 4096

// maxCronProblems limits the reported problems of a text.
const maxCronProblems = 10

// Parse parses a cron expression or, in the Obsidian dialect, an @recur. The rule is a [*Expression] or a [*Recur]. The
// error is a *[language.SyntaxError] or several of them, joined.
func Parse(text string, dialect language.Dialect) (language.Rule, error) {
	p := cronParser{dialect: dialect}
	words := splitCron([]rune(text))
	switch {
	case dialect != language.Obsidian && dialect != language.Dsari:
		p.problem(0, "",
			fmt.Sprintf("%q is not a dialect of cron; those are %q and %q", dialect, language.Obsidian, language.Dsari), "")
	case utf8.RuneCountInString(text) > maxCronText:
		p.problem(0, "", fmt.Sprintf("the expression is longer than %d characters", maxCronText), "")
	case dialect == language.Obsidian && isRecur(words):
		return parseRecur(words)
	case isRRule(words):
		p.problem(words[0].column, "", "found an RRULE; "+p.layout(),
			fmt.Sprintf("it belongs into recurrence.rrule, with its dialect: %s, %s or %s",
				language.RFC5545, language.AWX, language.Dsari))
	}
	if len(p.problems) > 0 {
		return nil, language.Join(p.problems, maxCronProblems)
	}
	rule := &Expression{}
	rule.patterns = rule.one[:0]
	for _, pattern := range p.split(words) {
		rule.patterns = append(rule.patterns, p.pattern(pattern))
	}
	for i := range rule.patterns {
		rule.patterns[i].gather()
	}
	if len(p.problems) > 0 {
		return nil, language.Join(p.problems, maxCronProblems)
	}
	return rule, nil
}

// cronWord is a part of the text without blanks, and where it begins.
type cronWord struct {
	text   string
	column int
}

// splitCron returns the words of a text. A semicolon is a separate word.
func splitCron(text []rune) []cronWord {
	var words []cronWord
	for i := 0; i < len(text); {
		end := i + 1
		switch {
		case unicode.IsSpace(text[i]):
			i++
			continue
		case text[i] != ';':
			for end < len(text) && text[end] != ';' && !unicode.IsSpace(text[end]) {
				end++
			}
		}
		words = append(words, cronWord{string(text[i:end]), i + 1})
		i = end
	}
	return words
}

// cronParser parses patterns and collects their errors.
type cronParser struct {
	dialect  language.Dialect
	problems []*language.SyntaxError
	doubts   []string // of the pattern
}

func (p *cronParser) problem(column int, field, message, hint string) {
	p.problems = append(p.problems, &language.SyntaxError{Column: column, Field: field, Message: message, Hint: hint})
}

// split returns the words of each pattern. Only Obsidian unites patterns.
func (p *cronParser) split(words []cronWord) [][]cronWord {
	patterns, ends := [][]cronWord{nil}, []int(nil)
	for _, word := range words {
		if word.text != ";" {
			patterns[len(patterns)-1] = append(patterns[len(patterns)-1], word)
			continue
		}
		if p.dialect != language.Obsidian {
			p.problem(word.column, "", "found \";\", which dsari does not have",
				"the dialect obsidian unites patterns with semicolons; in dsari, make a job of each")
			return nil
		}
		patterns, ends = append(patterns, nil), append(ends, word.column)
	}
	for i, pattern := range patterns {
		switch {
		case len(pattern) > 0:
		case len(patterns) == 1:
			p.problem(0, "", "the expression is empty; "+p.layout(), "")
		default:
			p.problem(ends[max(i-1, 0)], "", fmt.Sprintf("pattern %d of %d is empty", i+1, len(patterns)),
				"separate patterns by one semicolon")
		}
	}
	if len(p.problems) > 0 {
		return nil
	}
	return patterns
}

// layout lists the fields of an expression.
func (p *cronParser) layout() string {
	const five = "a cron expression has 5 fields (minute hour day-of-month month day-of-week)"
	if p.dialect == language.Dsari {
		return five + " and optionally a second"
	}
	return five + " and optionally a year and a time zone"
}

// order returns the fields of the dialect.
func (p *cronParser) order() []cronPart {
	order := []cronPart{cronMinute, cronHour, cronDay, cronMonth, cronWeekday, cronYear}
	if p.dialect == language.Dsari {
		order[5] = cronSecond
	}
	return order
}

// pattern reads one pattern.
func (p *cronParser) pattern(words []cronWord) cronPattern {
	if strings.HasPrefix(words[0].text, "@") {
		return p.shortcut(words)
	}
	before := len(p.problems)
	pattern := p.fields(words)
	if found := p.problems[before:]; len(found) > 0 {
		if line := p.quartz(words); line != "" {
			found[0].Hint = line
			p.problems = p.problems[:before+1]
		}
	}
	return pattern
}

// fields reads the fields of a pattern. An Obsidian pattern has the second 0; a dsari pattern without one has the job's
// own (dsari's Schedule Format: "it is assumed to be H").
func (p *cronParser) fields(words []cronWord) cronPattern {
	var pattern cronPattern
	most := 7
	if p.dialect == language.Dsari {
		most = 6
	}
	if p.sentence(words) {
		return pattern
	}
	if len(words) < 5 || len(words) > most {
		p.problem(words[min(len(words)-1, most)].column, "", english.Count(len(words), "field")+" found; "+p.layout(),
			p.countHint(len(words)))
		return pattern
	}
	p.doubts = nil
	pattern.fields[cronSecond] = cronField{{step: 1}}
	if p.dialect == language.Dsari {
		pattern.fields[cronSecond] = cronField{{form: hashedValue, hi: 59}}
	}
	for i, part := range p.order() {
		if i < len(words) {
			f := fieldParser{cronParser: p, part: part, number: i + 1, words: words}
			pattern.fields[part] = f.field(words[i])
		}
	}
	pattern.doubts = p.doubts
	if doubt := p.secondsFirst(words); doubt != "" {
		pattern.doubts = append(pattern.doubts, doubt)
	}
	if len(words) == 7 {
		zone, err := tz.Load(words[6].text)
		if err != nil {
			p.problem(words[6].column, "field 7 (time zone)", err.Error(), "")
		}
		pattern.zone = zone
	}
	return pattern
}

// countHint returns the hint for a wrong number of fields.
func (p *cronParser) countHint(n int) string {
	switch {
	case n < 5:
		return cronExamples
	case p.dialect == language.Dsari:
		return "dsari has neither year nor zone; the dialect obsidian has both"
	}
	return ""
}

const cronExamples = "for example, 30 19 * * 5 is 19:30 on every Friday, and */15 9-17 * * 1-5 is every 15 minutes of a working day"

// isRecur reports whether the text is an @recur.
func isRecur(words []cronWord) bool {
	return len(words) > 0 && strings.EqualFold(words[0].text, "@recur")
}

// isRRule reports whether the text is an iCalendar recurrence.
func isRRule(words []cronWord) bool {
	if len(words) == 0 {
		return false
	}
	name, _, _ := strings.Cut(strings.Replace(words[0].text, "=", ":", 1), ":")
	return oneOf(name, "RRULE", "EXRULE", "DTSTART", "FREQ")
}

// textOf returns words as one text.
func textOf(words []cronWord) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = word.text
	}
	return strings.Join(texts, " ")
}

// oneOf reports whether the word, in any case, is one of the listed.
func oneOf(word string, list ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
}

// special parses the items of Obsidian's two day fields: L, 15W, 5L and 5#2. special reports whether the item looks
// like one of them, ok whether it is valid.
func (f *fieldParser) special(w cronWord, listed bool) (item cronItem, special, ok bool) {
	if f.part == cronDay {
		return f.specialDay(w, listed)
	}
	return f.specialWeekday(w)
}

// specialDay reads L and 15W.
func (f *fieldParser) specialDay(w cronWord, listed bool) (item cronItem, special, ok bool) {
	day, found := strings.CutSuffix(w.text, "W")
	_, number := digits(day)
	switch {
	case len(strings.Trim(w.text, "0123456789-/#*")) > 2: // a name, such as JUL or WED
		return item, false, false
	case w.text == "L":
		return cronItem{form: lastOfMonth}, true, true
	case strings.Contains(w.text, "L") && strings.Contains(w.text, "W"):
		f.wrong(w.column, "LW is not a day of the month",
			"the last weekday of a month cannot be said here; an RRULE can: FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1")
	case strings.HasPrefix(w.text, "L-"):
		f.wrong(w.column, f.quote(w)+" is not a day of the month; L alone is the last day",
			"an RRULE counts days from the end: FREQ=MONTHLY;BYMONTHDAY=-3")
	case strings.HasPrefix(w.text, "L/"), strings.HasSuffix(w.text, "-L"):
		f.wrong(w.column, f.quote(w)+": L must be alone or in a list, not in a range or before a step",
			"it is the last day of the month: 15,L")
	case strings.HasSuffix(w.text, "L"):
		f.wrong(w.column, f.quote(w)+" is not a day of the month; L alone is the last day",
			"the last of a weekday belongs in field 5 (day of week): 5L is the last Friday")
	case strings.Contains(w.text, "#"):
		f.wrong(w.column, f.quote(w)+" is not a day of the month",
			"# belongs in field 5 (day of week): 5#2 is the second Friday")
	case w.text == "W":
		f.wrong(w.column, "W needs a day before it", "15W is the weekday nearest to the 15th")
	case listed && strings.Contains(w.text, "W"), !number && strings.Contains(w.text, "W"):
		f.wrong(w.column, f.quote(w)+": W goes with a single day, not with a list, a range or a step",
			"unite several patterns with semicolons")
	case found:
		item = cronItem{form: nearestWeekday}
		item.lo, ok = f.value(cronWord{day, w.column})
		return item, true, ok
	default:
		return item, false, false
	}
	return item, true, false
}

// specialWeekday reads 5L and 5#2, and FRIL and FRI#2, which are not on Obsidian's page and can mean nothing else.
func (f *fieldParser) specialWeekday(w cronWord) (item cronItem, special, ok bool) {
	weekday, nth, numbered := strings.Cut(w.text, "#")
	last, ended := strings.CutSuffix(w.text, "L")
	switch {
	case numbered && weekday == "":
		f.wrong(w.column, "# needs a day of the week before it", "5#2 is the second Friday of the month")
	case numbered:
		item.form = numberedWeekday
		if item.lo, ok = f.value(cronWord{weekday, w.column}); !ok {
			return item, true, false
		}
		if item.nth, ok = digits(nth); ok && item.nth >= 1 && item.nth <= 5 {
			return item, true, true
		}
		number := cronWord{nth, w.column + len(weekday) + 1}
		f.wrong(number.column, f.quote(number)+" after # is not in 1-5; a month has up to 5 of a weekday", "")
	case w.text == "L":
		f.wrong(w.column, "L needs a day of the week before it",
			"5L is the last Friday of the month; the last day of the month is L in field 3 (day of month); Saturday is 6 or SAT")
	case strings.HasSuffix(w.text, "W"):
		f.wrong(w.column, f.quote(w)+" is not a day of the week",
			"W belongs in field 3 (day of month): 15W is the weekday nearest to the 15th")
	case ended && isWeekday(last):
		item.form = lastWeekday
		item.lo, ok = f.value(cronWord{last, w.column})
		return item, true, ok
	default:
		return item, false, false
	}
	return item, true, false
}

// isWeekday reports whether a text is a weekday's number, right or wrong, or its name.
func isWeekday(text string) bool {
	_, number := digits(text)
	return number || oneOf(text, cronWeekdays...)
}

// cronShortcuts are the shortcuts by name. Obsidian's are fixed times; dsari's are hashed by job.
var cronShortcuts = map[language.Dialect]map[string]string{
	language.Obsidian: {
		"@yearly":   "0 0 1 1 *",
		"@annually": "0 0 1 1 *",
		"@monthly":  "0 0 1 * *",
		"@weekly":   "0 0 * * 0",
		"@daily":    "0 0 * * *",
		"@midnight": "0 0 * * *",
		"@hourly":   "0 * * * *",
	},
	language.Dsari: {
		"@yearly":   "H H H H *", //nolint:dupword // fields
		"@annually": "H H H H *", //nolint:dupword // fields
		"@monthly":  "H H H * *", //nolint:dupword // fields
		"@weekly":   "H H * * H", //nolint:dupword // fields
		"@daily":    "H H * * *", //nolint:dupword // fields
		"@midnight": "H H(0-2) * * *",
		"@hourly":   "H * * * *",
	},
}

// cronShortcutNames are the shortcuts of both dialects.
var cronShortcutNames = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// otherShortcuts are hints for shortcuts of other schedulers.
var otherShortcuts = map[string]string{
	"@reboot":      "it names no time; a job without a recurrence runs once, as soon as it is created",
	"@fortnightly": "every two weeks is @recur 2 weeks",
	"@biweekly":    "every two weeks is @recur 2 weeks",
	"@quarterly":   "every quarter of a year is 0 0 1 */3 *",
	"@weekdays":    "from Monday to Friday is 0 0 * * 1-5",
	"@weekends":    "Saturdays and Sundays are 0 0 * * 0,6",
	"@noon":        "every noon is 0 12 * * *",
	"@minutely":    "every minute is * * * * *",
}

// shortcut reads a pattern that begins with @.
func (p *cronParser) shortcut(words []cronWord) cronPattern {
	name := strings.ToLower(words[0].text)
	expansion, known := cronShortcuts[p.dialect][name]
	switch {
	case name == "@recur" && p.dialect == language.Obsidian:
		p.problem(words[0].column, "", "@recur cannot be united with other patterns", "make a job of it")
	case !known:
		p.problem(words[0].column, "", fmt.Sprintf("%q is not a shortcut; those are %s", spelling.Short(words[0].text),
			english.List(cronShortcutNames, "and")+p.recurName()), p.shortcutHint(name, words))
	case len(words) > 1:
		p.problem(words[1].column, "", fmt.Sprintf("found %q after %s, which must be alone", spelling.Short(words[1].text), name),
			fmt.Sprintf("%s is %q", name, expansion))
	default:
		return p.fields(splitCron([]rune(expansion)))
	}
	return cronPattern{}
}

// recurName adds @recur to the shortcuts of the dialect that has it.
func (p *cronParser) recurName() string {
	if p.dialect == language.Obsidian {
		return ", and @recur with an interval"
	}
	return ""
}

func (p *cronParser) shortcutHint(name string, words []cronWord) string {
	switch name {
	case "@recur":
		return "@recur belongs to the dialect obsidian"
	case "@every":
		return p.interval(textOf(words)[1:])
	}
	if hint, ok := otherShortcuts[name]; ok {
		if p.dialect == language.Dsari && strings.Contains(hint, "@recur") {
			return "the dialect obsidian has @recur 2 weeks"
		}
		return hint
	}
	return spelling.DidYouMean(name, append([]string{"@recur"}, cronShortcutNames...))
}
