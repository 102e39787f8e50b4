package scheduler_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestDefinitionWarnings checks the warnings for settings without effect, and their paths.
func TestDefinitionWarnings(t *testing.T) {
	const zero = "is the zero of .NET, which stands for none: the job has no startTime"
	const untried = "has no effect: retryType none makes no retries"
	for _, row := range []struct{ document, want string }{
		{`{"action": {"type": "None"}}`, ""},
		{`{"action": {"type": "None", "retryPolicy": {"retryType": "none"}}}`, ""},
		{`{"action": {"type": "None", "retryPolicy": {"retryType": "none", "retryCount": 0}}}`, ""},
		{`{"action": {"type": "None", "retryPolicy": {"retryType": "None", "retryCount": 3}}}`, "action.retryPolicy.retryCount: " + untried},
		{`{"action": {"type": "None", "errorAction": {"type": "None", "retryPolicy": {"retryType": "none", "retryCount": 3}}}}`, "action.errorAction.retryPolicy.retryCount: " + untried},
		{
			`{"properties": {"action": {"type": "None", "retryPolicy": {"retryType": "none", "retryCount": 3}}, "recurrence": {"cron": "0 9 31 2 *"}}}`,
			"properties.action.retryPolicy.retryCount: " + untried + "\nproperties.recurrence.cron: never runs: no time matches",
		},
		{`{"startTime": "0001-01-01T00:00:00Z", "action": {"type": "None"}}`, "startTime: " + zero},
		{`{"startTime": "0001-01-01T00:00:00", "action": {"type": "None"}}`, "startTime: " + zero},
		{`{"startTime": null, "action": {"type": "None"}}`, ""},
		{
			`{"timeZone": "Europe/Paris", "recurrence": {"frequency": "day"}, "action": {"type": "None"}}`,
			"timeZone: the recurrence counts in UTC; timeZone Europe/Paris applies to cron and rrule only",
		},
	} {
		def := read(t, row.document)
		j := must.Get(scheduler.NewJob(key, uid, def, at("08:00:00"), 0))(t)
		var got []string
		for _, w := range def.Warnings(j.Plan) {
			got = append(got, w.Path+": "+w.Message)
		}
		mustSay(t, row.document, strings.Join(got, "\n"), row.want)
	}
}

// read parses a whole document.
func read(t *testing.T, text string) *scheduler.Definition {
	t.Helper()
	return must.Get(decoder("08:00:00").Document(parseDocument(t, text)).Definition())(t)
}

// TestZeroStartIsNone checks that .NET's zero time is equivalent to an absent startTime.
func TestZeroStartIsNone(t *testing.T) {
	const rest = `"action": {"type": "None"}, "recurrence": {"frequency": "day", "schedule": {"hours": [9]}}}`
	none, zero := read(t, `{`+rest), read(t, `{"startTime": "0001-01-01T00:00:00Z", `+rest)
	j := must.Get(scheduler.NewJob(key, uid, none, at("08:00:00"), 0))(t)
	if !j.Equals(zero) || strings.Contains(string(zero.Properties()), "startTime") {
		t.Errorf("it is another definition: %s", zero.Properties())
	}
}

// TestAnswersMayBePutBack checks that a document ignores the status fields of an API response.
func TestAnswersMayBePutBack(t *testing.T) {
	const answer = `"result": "updated", "warnings": [{"path": "timeZone", "message": "x"}], "dryRun": {"nextRuns": []}, `
	plain := read(t, `{"action": {"type": "None"}}`)
	for _, text := range []string{
		`{` + answer + `"action": {"type": "None"}}`,
		`{` + answer + `"properties": {"action": {"type": "None"}, "status": {"message": "it has ended after its last run"}}}`,
	} {
		if got := read(t, text); !bytes.Equal(got.Properties(), plain.Properties()) {
			t.Errorf("%s: %s", text, got.Properties())
		}
	}
	v := parseDocument(t, `{`+answer+`"timeout": "PT5S"}`)
	if patch, err := scheduler.ReadPatch(key, v); err != nil || patch.String() != `{"timeout":"PT5S"}` {
		t.Errorf("as a patch: %s, %v", patch, err)
	}
}
