package cron

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// sentence reports a pattern that is no pattern at all: English, or a setting of another scheduler.
func (p *cronParser) sentence(words []cronWord) bool {
	first := strings.ToLower(words[0].text)
	text := textOf(words)
	switch {
	case oneOf(first, "every", "each", "at", "on", "in", "once", "twice", "daily", "hourly", "weekly", "monthly", "yearly",
		"annually", "never", "noon", "midnight", "weekdays", "recur", "reboot"):
		p.problem(words[0].column, "", fmt.Sprintf("found %q; %s", spelling.Short(text), p.layout()), p.interval(text))
	case strings.HasPrefix(first, "tz="), strings.HasPrefix(first, "cron_tz="):
		p.problem(words[0].column, "", fmt.Sprintf("found %q; %s", spelling.Short(words[0].text), p.layout()),
			"the job's timeZone is the zone of its schedule"+
				map[language.Dialect]string{language.Obsidian: ", and field 7 of a pattern is its own"}[p.dialect])
	default:
		return false
	}
	return true
}

var intervalText = regexp.MustCompile(`^(?i)(?:every|each|recur)\s+(\d{1,4})?\s*([a-z]+)$`)

// otherUnits are short forms that Obsidian does not have.
var otherUnits = map[string]recurUnit{"m": recurMinutes, "mins": recurMinutes, "hr": recurHours, "hrs": recurHours}

// interval returns how to write an interval that is said in English.
func (p *cronParser) interval(text string) string {
	if oneOf("@"+text, cronShortcutNames...) {
		return fmt.Sprintf("write @%s", strings.ToLower(text))
	}
	if oneOf(text, "noon") {
		return otherShortcuts["@noon"]
	}
	if match := intervalText.FindStringSubmatch(text); match != nil {
		word := strings.ToLower(match[2])
		n, unit := 1, recurUnitOf(word)
		if unit == 0 {
			unit = otherUnits[word]
		}
		if match[1] != "" {
			n, _ = strconv.Atoi(match[1])
		}
		if hint := p.everyText(n, unit); hint != "" {
			return hint
		}
	}
	return cronExamples
}

// everyText returns how an interval is written.
func (p *cronParser) everyText(n int, unit recurUnit) string {
	var cron string
	switch {
	case n < 1 || unit == 0:
		return ""
	case unit == recurMinutes && 60%n == 0:
		cron = stepText(n) + " * * * *"
	case unit == recurHours && 24%n == 0:
		cron = "0 " + stepText(n) + " * * *"
	case unit == recurDays && n == 1:
		cron = "0 0 * * *"
	case unit == recurWeeks && n == 1:
		cron = "0 0 * * 1"
	case unit == recurMonths && 12%n == 0:
		cron = "0 0 1 " + stepText(n) + " *"
	case p.dialect != language.Obsidian:
		return ""
	default:
		return fmt.Sprintf("write @recur %s", english.Count(n, unit.name()))
	}
	return fmt.Sprintf("%s is %s", english.Every(n, unit.name()), cron)
}

// stepText returns "*" or "*/5".
func stepText(n int) string {
	if n == 1 {
		return "*"
	}
	return fmt.Sprintf("*/%d", n)
}
