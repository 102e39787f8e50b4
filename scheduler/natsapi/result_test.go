package natsapi

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// TestEventIsWrittenAsByReflection compares events with what encoding/json
// writes.
func TestEventIsWrittenAsByReflection(t *testing.T) {
	at, yes := time.Date(2026, 3, 1, 9, 30, 0, 120, time.UTC), true
	for name, e := range map[string]event{
		"nothing":    {},
		"put":        {accepted, "put", "default/a", "alice", v1.Created, &yes, "", "", false, "enabled", 7, `"u-1"`, at, "", nil, nil, nil, 0, 12, at},
		"duplicate":  {Verdict: accepted, Verb: "run", DuplicateOf: 3, SpecSequence: 4, Time: at},
		"run":        {Verdict: accepted, Verb: "run", Job: "default/a", Occurrence: "20260301T093000Z", SpecSequence: 1, Time: at},
		"superseded": {Verdict: accepted, Verb: "enable", Job: "default/a", Superseded: true, State: "disabled", Revision: 1<<64 - 1, Time: at},
		"over":       {Verdict: accepted, Verb: "put", Job: "default/a", State: "completed", Message: "\u2028 <over>", Time: at},
		"dry run":    {Verdict: accepted, Verb: "patch", DryRun: &v1.DryRun{NextRuns: []time.Time{at}}, Time: at},
		"warning":    {Verdict: accepted, Verb: "put", Warnings: []spec.Warning{{Path: "a", Message: "b"}}, Time: at},
		"rejected":   {Verdict: rejected, Verb: "\u2028<", Error: &v1.Error{Code: "BadRequest", Message: "no"}, Time: at},
	} {
		if got, want := string(e.encode()), string(v1.JSON(e)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// FuzzResultName checks that whatever the subject of a spec was, its result
// has a subject that can be published to.
func FuzzResultName(f *testing.F) {
	for _, name := range []string{"", "default.job", "a..b", ".", "a.", "*.>", "a b\r\nc", "\xff", strings.Repeat("ä", 300)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := resultName(name)
		if (got == "") != (name == "") || len(got) > 3*longestName || !utf8.ValidString(got) {
			t.Errorf("%q: got %q", name, got)
		}
		if got != "" && strings.Contains("."+got+".", "..") || strings.ContainsAny(got, "*> \t\r\n\x00") {
			t.Errorf("%q: got %q", name, got)
		}
	})
}
