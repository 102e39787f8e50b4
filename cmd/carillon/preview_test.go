package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// offline runs a command line without a server and returns what it prints to stdout.
func offline(t *testing.T, code int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	term := &terminal{in: strings.NewReader(""), out: &stdout, err: &stderr, lookup: func(string) (string, bool) { return "", false }}
	if got := run(args, term); got != code {
		t.Fatalf("carillon %s: exit code %d, want %d: %s", strings.Join(args, " "), got, code, stderr.String())
	}
	return stdout.String()
}

// TestPreviewFeed compares the events of a feed with what --json tells of the same expression.
func TestPreviewFeed(t *testing.T) {
	for _, args := range [][]string{
		{"*/7 9-17 * * 1-5", "--tz", "America/New_York", "--name", "often", "--count", "1000"},
		{"0 9 * * 1-5", "--tz", "Europe/Paris"},
		{"H H * * *", "--dialect", "dsari", "--name", "nightly; all, of \\them"},
		{"DTSTART;TZID=Australia/Lord_Howe:20260101T021500 RRULE:FREQ=DAILY;COUNT=300", "--count", "400"},
		{`{"frequency": "day", "interval": 3}`},
		{"0 0 30 2 *"},
	} {
		args = append([]string{"preview", "--now", "2026-03-01T00:00:30Z"}, args...)
		feed := offline(t, exitOK, append(args, "--ics")...)
		text := offline(t, exitOK, append(args, "--json")...)
		var told struct {
			UTC         []string `json:"utc"`
			Description string   `json:"description"`
		}
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			t.Fatal(err)
		}
		var starts []string
		uids := map[string]bool{}
		for line := range strings.SplitSeq(strings.ReplaceAll(feed, "\r\n ", ""), "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			switch name {
			case "DTSTART":
				at, err := time.Parse("20060102T150405Z", value)
				if err != nil {
					t.Fatal(err)
				}
				starts = append(starts, at.Format(time.RFC3339))
			case "UID":
				uids[value] = true
			case "DESCRIPTION":
				if got := strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n").Replace(value); got != told.Description {
					t.Errorf("%q, want %q", got, told.Description)
				}
			}
		}
		if !slices.Equal(starts, told.UTC) || len(uids) != len(starts) {
			t.Errorf("%q: %d UIDs, (-json +ics):\n%s", args, len(uids), cmp.Diff(told.UTC, starts))
		}
		if again := offline(t, exitOK, append(args, "--ics")...); again != feed {
			t.Errorf("%q: two feeds differ", args)
		}
	}
}

// TestPreviewColour shows days and marks in colour.
func TestPreviewColour(t *testing.T) {
	var out bytes.Buffer
	term := &terminal{out: &out, err: &out, colour: true, lookup: func(string) (string, bool) { return "", false }}
	run([]string{"preview", "30 2 * * *", "--tz", "America/New_York", "--now", "2026-03-07", "--count", "2", "--calendar"}, term)
	for _, want := range []string{
		"\x1b[33mDST starts, moved\x1b[0m\n", "\x1b[33mnote:\x1b[0m 2026-03-08", "\n     March 2026\n", " \x1b[7m 7\x1b[0m \x1b[7m 8\x1b[0m\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
}

func TestWidth(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "132": 132, "wide": 80, "-1": 80} {
		term := &terminal{out: &bytes.Buffer{}, lookup: func(string) (string, bool) { return columns, columns != "" }}
		if got := term.width(); got != want {
			t.Errorf("COLUMNS=%s: %d, want %d", columns, got, want)
		}
	}
}

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
