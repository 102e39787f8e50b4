package cron

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// cronShortcuts are the shortcuts by name. Those of Obsidian are fixed times, those of dsari the job's own.
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
	"@reboot":      "it has no time of its own; a job without a recurrence runs once, as soon as it is created",
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
		p.problem(words[1].column, "", fmt.Sprintf("found %q after %s, which stands alone", spelling.Short(words[1].text), name),
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
