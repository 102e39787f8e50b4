package cron

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// recurLayout is the date and time of an @recur: yyyy-MM-dd HH:mm on Obsidian's page.
const recurLayout = "2006-01-02 15:04"

const recurForm = "@recur is followed by a number, a unit and optionally a date and time (yyyy-MM-dd HH:mm)"

// parseRecur reads "@recur N unit [yyyy-MM-dd HH:mm]".
func parseRecur(words []cronWord) (language.Rule, error) {
	p := cronParser{dialect: language.Obsidian}
	for i, word := range words {
		if word.text == ";" {
			p.problem(word.column, "", "found \";\"; @recur cannot be united with other patterns", "make a job of each")
			return nil, language.Join(p.problems, maxCronProblems)
		}
		if i == 5 {
			p.problem(word.column, "", fmt.Sprintf("found %q after the date and time; %s", spelling.Short(word.text), recurForm), "")
		}
	}
	rule := &Recur{}
	if len(words) < 3 {
		p.problem(words[len(words)-1].column, "", fmt.Sprintf("%q is not complete; %s", spelling.Short(textOf(words)), recurForm),
			p.recurHint(words))
		return nil, language.Join(p.problems, maxCronProblems)
	}
	rule.unit = p.recurUnit(words)
	rule.n = p.recurNumber(words[1], rule.unit)
	if len(words) > 3 {
		rule.start = p.recurStart(words[3:min(len(words), 5)])
	}
	if len(p.problems) > 0 {
		return nil, language.Join(p.problems, maxCronProblems)
	}
	return rule, nil
}

// recurHint returns the hint for an @recur without unit: the number and the unit may be written in one.
func (p *cronParser) recurHint(words []cronWord) string {
	if len(words) > 1 {
		unit := strings.TrimLeft(words[1].text, "0123456789")
		if number := strings.TrimSuffix(words[1].text, unit); number != "" && recurUnitOf(unit) > 0 {
			return fmt.Sprintf("a blank stands between the two: @recur %s %s", number, unit)
		}
	}
	return "for example, @recur 3 weeks"
}

// recurUnit reads the unit.
func (p *cronParser) recurUnit(words []cronWord) recurUnit {
	word := words[2]
	unit := recurUnitOf(word.text)
	if unit > 0 {
		return unit
	}
	names, hint := make([]string, 0, 5), ""
	for u := recurMinutes; u <= recurMonths; u++ {
		names = append(names, strings.Join(recurUnits[u].words, ", "))
	}
	n, number := digits(words[1].text)
	switch lower := strings.ToLower(word.text); {
	case lower == "m":
		hint = "write min for minutes, mon for months"
	case strings.HasPrefix(lower, "s"):
		hint = "the shortest unit is the minute"
	case strings.HasPrefix(lower, "y") && number && n < 1000:
		hint = fmt.Sprintf("%s are @recur %d months", english.Count(n, "year"), 12*n)
	default:
		for u := recurMinutes; u <= recurMonths; u++ {
			if near := spelling.Nearest(lower, recurUnits[u].words); near != "" || lower[0] == recurUnits[u].words[0][0] {
				hint = fmt.Sprintf("did you mean %ss?", u.name())
				break
			}
		}
	}
	p.problem(word.column, "unit",
		fmt.Sprintf("%q is not a unit; those are %s", spelling.Short(word.text), strings.Join(names, "; ")), hint)
	return 0
}

// recurNumber reads the number of units.
func (p *cronParser) recurNumber(word cronWord, unit recurUnit) int {
	n, ok := digits(word.text)
	switch {
	case !ok:
		p.problem(word.column, "interval", fmt.Sprintf("%q is not a whole number from 1 on", spelling.Short(word.text)), "")
	case n == 0:
		p.problem(word.column, "interval", "the interval is 0; it is at least 1", "")
	case unit > 0 && n > recurUnits[unit].most:
		p.problem(word.column, "interval", fmt.Sprintf("%s is too large; at most %d %ss", spelling.Short(word.text),
			recurUnits[unit].most, unit.name()), "")
	}
	return n
}

// recurStart reads the date and time.
func (p *cronParser) recurStart(words []cronWord) time.Time {
	text := textOf(words)
	start, err := time.Parse(recurLayout, text)
	right := err == nil && len(text) == len(recurLayout)
	if right && start.Year() >= 1900 && start.Year() <= 2999 {
		return start
	}
	hint := "for example, 2026-01-31 08:00"
	switch {
	case right:
		hint = "its year is in 1900-2999"
	case strings.Contains(words[0].text, "T"):
		hint = "a blank stands between date and time; their zone is that of the job"
	case strings.Contains(text, "24:0"):
		hint = "midnight is 00:00, at the beginning of a day"
	case len(words) == 2 && len(words[0].text) == 10 && len(words[1].text) == 5 && strings.Contains(fmt.Sprint(err), "out of range"):
		hint = "there is no such date or time"
	}
	p.problem(words[0].column, "start",
		fmt.Sprintf("%q is not a date and time in the form yyyy-MM-dd HH:mm", spelling.Short(text)), hint)
	return time.Time{}
}
