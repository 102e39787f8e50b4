package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// offline runs a command line without a server and returns what it prints to stdout.
func offline(t *testing.T, code int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	term := &terminal.Terminal{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Lookup: func(string) (string, bool) { return "", false }}
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
		feed := offline(t, terminal.ExitOK, append(args, "--ics")...)
		text := offline(t, terminal.ExitOK, append(args, "--json")...)
		var told struct {
			UTC         []string `json:"utc"`
			Description string   `json:"description"`
		}
		must.Do(t, json.Unmarshal([]byte(text), &told))
		var starts []string
		uids := map[string]bool{}
		for line := range strings.SplitSeq(strings.ReplaceAll(feed, "\r\n ", ""), "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			switch name {
			case "DTSTART":
				at := must.Get(time.Parse("20060102T150405Z", value))(t)
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
		if again := offline(t, terminal.ExitOK, append(args, "--ics")...); again != feed {
			t.Errorf("%q: two feeds differ", args)
		}
	}
}

// TestPreviewColour shows days and marks in colour.
func TestPreviewColour(t *testing.T) {
	var out bytes.Buffer
	term := &terminal.Terminal{Out: &out, Err: &out, Colour: true, Lookup: func(string) (string, bool) { return "", false }}
	run([]string{"preview", "30 2 * * *", "--tz", "America/New_York", "--now", "2026-03-07", "--count", "2", "--calendar"}, term)
	for _, want := range []string{
		"\x1b[33mDST starts, moved\x1b[0m\n", "\x1b[33mnote:\x1b[0m 2026-03-08", "\n     March 2026\n", " \x1b[7m 7\x1b[0m \x1b[7m 8\x1b[0m\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
}
