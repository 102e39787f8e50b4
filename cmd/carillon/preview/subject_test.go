package preview

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("abcdefghi,", 30)
	for _, test := range []struct {
		text        string
		column      int
		line, caret string
	}{
		{"0 9 32 * *", 5, "0 9 32 * *", "    ^"},
		{"0 9 * *", 8, "0 9 * *", "       ^"}, // behind the end
		{"0 9", 99, "0 9", "   ^"},
		{"", 1, "", "^"},
		{"a\tb x", 5, "a b x", "    ^"},
		{"ä ö x", 5, "ä ö x", "    ^"},
		{"０ x", 3, "０ x", "   ^"},
		{"e\u0301 x", 4, "e\u0301 x", "  ^"},
		{"DTSTART:1\r\nRRULE:x\nEXRULE:y", 18, "RRULE:x", "      ^"},
		{long, 1, long[:100] + "…", "^"},
		{long, 101, "…" + long[50:150] + "…", strings.Repeat(" ", 51) + "^"},
		{long, 300, "…" + long[249:], strings.Repeat(" ", 51) + "^"},
	} {
		line, caret := excerpt(test.text, test.column)
		if line != test.line || caret != test.caret {
			t.Errorf("%q, column %d:\n%s\n%s\nwant\n%s\n%s", test.text, test.column, line, caret, test.line, test.caret)
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, test := range []struct {
		text  string
		asked spec.Dialect
		want  spec.Dialect // "" for a document
	}{
		{"* * * * *", "", spec.Obsidian},
		{"@daily", "", spec.Obsidian},
		{"@recur 3 days 2026-01-01 08:00", "", spec.Obsidian},
		{"jan * * * *", "", spec.Obsidian},
		{"* * * * *", spec.Dsari, spec.Dsari},
		{"RRULE:FREQ=DAILY", "", spec.RFC5545},
		{"  rrule:freq=daily", "", spec.RFC5545},
		{"freq=daily", "", spec.RFC5545},
		{"INTERVAL=2;FREQ=DAILY", "", spec.RFC5545},
		{"dtstart:20260101T000000Z\nrrule:freq=daily", "", spec.RFC5545},
		{"DTSTART;TZID=Europe/Paris:20260101T000000 RRULE:FREQ=DAILY", "", spec.RFC5545},
		{"EXRULE:FREQ=DAILY", "", spec.RFC5545},
		{"FREQ=DAILY", spec.Dsari, spec.Dsari},
		{"FREQ=DAILY", spec.AWX, spec.AWX},
		{"* * * * *", spec.AWX, spec.AWX},
		{`{"frequency": "day"}`, "", ""},
		{"frequency: day", "", ""},
		{`"frequency": day`, "", ""},
		{"# a comment\n# and one more\nrecurrence:\n  cron: x", "", ""},
		{"---\nname: x", "", ""},
		{"DTSTART: 20260101T000000Z", "", spec.RFC5545},
	} {
		var got spec.Dialect
		if !isDocument("", test.text) {
			got, _ = languageOf(test.text, test.asked)
		}
		if got != test.want {
			t.Errorf("%q, asked for %q: %q, want %q", test.text, test.asked, got, test.want)
		}
	}
}
