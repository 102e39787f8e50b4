package cron

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// Doubts returns what is right in the expression and may not be meant so: a step that is longer than its field, and six
// fields that look like those of a language which begins with the second.
func (c *Expression) Doubts(language.Setting, *instant.Schedule) []string {
	var doubts []string
	for _, p := range c.patterns {
		doubts = append(doubts, p.doubts...)
	}
	return doubts
}

// doubt notes an item of several values of which its step leaves the first.
func (f *fieldParser) doubt(item cronItem, text string) {
	if item.form == plainValues && item.stepped && item.lo < item.hi && item.step > item.hi-item.lo {
		f.doubts = append(f.doubts, fmt.Sprintf("%s: %s steps beyond %d, which leaves %d only",
			cronParts[f.part].name, spelling.Short(text), item.hi, item.lo))
	}
}

// secondsFirst returns the doubt about a pattern of six fields that reads as well as one of a language in which the first
// is the second, as it is in Quartz and Spring; "" for none.
func (p *cronParser) secondsFirst(words []cronWord) string {
	first := words[0].text
	second := first == "0" || strings.HasPrefix(first, "*") || strings.HasPrefix(first, "0/")
	five := len(words) == 6 && words[5].text == "*"
	if !five || !second || textOf(words) == "* * * * * *" {
		return ""
	}
	sixth, instead, end := "the year", "this one has no seconds", ""
	if p.dialect == language.Dsari {
		sixth, instead, end = "the second, and * every one of a minute", "this one ends with it", " "+first
	}
	if first == "0" || end != "" {
		instead = fmt.Sprintf("write %q for that", textOf(words[1:5])+" *"+end)
	}
	return fmt.Sprintf("%q has six fields, and the sixth is %s; it looks like a language that begins with the second: %s",
		spelling.Short(textOf(words)), sixth, instead)
}
