package cron

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// quartz returns the hint for a line of Quartz and its kin, whose first field is the second: the line without it. It is
// "" if the rest is no better.
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
