package cron

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// maxCronText is the longest expression, in characters. It holds more patterns than a person can follow.
const maxCronText = 4096

// maxCronProblems is how many problems of one text are reported.
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
	for _, pattern := range p.split(words) {
		rule.patterns = append(rule.patterns, p.pattern(pattern))
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

// splitCron returns the words of a text. A semicolon is a word of its own.
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

// cronParser reads patterns and collects what is wrong with them.
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
				"a semicolon stands between two patterns")
		}
	}
	if len(p.problems) > 0 {
		return nil
	}
	return patterns
}

// layout says what fields an expression has.
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
