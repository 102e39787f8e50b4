package spec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/internal/climb"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// TestClimbTexts looks for the texts of rules and of cron that cost the most to read, well-formed or not.
func TestClimbTexts(t *testing.T) {
	dialects := []spec.Dialect{spec.RFC5545, spec.AWX, spec.Dsari, spec.Obsidian}
	text := climb.Text{Most: 20_000, Tokens: []string{
		"RRULE:", "EXRULE:", "DTSTART:20240101T000000Z", "DTSTART;TZID=America/New_York:", "FREQ=", "MINUTELY", ";", ",", "=", ":", "\n ", "\r\n", " ",
		"INTERVAL=7", "BYDAY=", "1MO", "BYSETPOS=", "-366", "COUNT=9", "UNTIL=20300101T000000Z", "\"", "é", "\x00", "*", "/", "-", "H(0-7)", "@recur ",
		"1-59/2", "L", "15W", "5#2", "@(Asia/Tokyo) ", "Asia/Tokyo", "2024-9999", "0", "59", "EXDATE:", "every ", "TZID",
	}}
	climb.Climb[string]{
		Seeds: []string{
			"DTSTART:20240101T000000Z RRULE:FREQ=DAILY;BYHOUR=9", "DTSTART:20240101T000000Z\n RRULE:FREQ=YEARLY;BYSETPOS=1,2,3",
			"*/15 9-17 * * 1-5", "0 0 L * 5L 2096;1-59/2 * * * *", "H H(0-7) * * *", "RRULE", strings.Repeat("x", 1000), strings.Repeat("RRULE:FREQ=DAILY ", 900),
			"DTSTART:20240101T000000Z" + strings.Repeat("\n RRT:20240101T000000Z", 700),
		},
		Mutate: text.Mutate,
		Do: func(s string) {
			for _, dialect := range dialects[:3] {
				_, _ = spec.ParseRRule(s, dialect)
			}
			for _, dialect := range dialects[2:] {
				_, _ = spec.ParseCron(s, dialect)
			}
		},
	}.Run(t).Check(t, 50*time.Millisecond, 64<<20)
}
