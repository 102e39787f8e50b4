package jobs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// TestNextRuns: the scheduler's word comes first, and what this program cannot
// know is left out.
func TestNextRuns(t *testing.T) {
	next := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		properties string
		status     v1.Status
		want       string // hours and minutes
	}{
		"none":                       {`{"recurrence": {"frequency": "hour"}}`, v1.Status{}, ""},
		"once":                       {`{"startTime": "2026-03-02T09:30Z"}`, v1.Status{Next: next}, "09:30"},
		"from its start":             {`{"startTime": "2026-03-01T00:30Z", "recurrence": {"frequency": "hour", "interval": 3}}`, v1.Status{Next: next}, "09:30 12:30 15:30 18:30 21:30"},
		"from when it was put":       {`{"recurrence": {"frequency": "minute", "interval": 20}}`, v1.Status{Next: next}, "09:30 09:50 10:10 10:30 10:50"},
		"a retry moves nothing":      {`{"recurrence": {"frequency": "minute", "interval": 20}}`, v1.Status{Next: next, Retry: 1}, "09:30"},
		"jitter hides where it was":  {`{"recurrence": {"frequency": "hour"}, "jitter": "PT1M"}`, v1.Status{Next: next}, "09:30"},
		"a count hides the end":      {`{"recurrence": {"frequency": "hour", "count": 3}}`, v1.Status{Next: next}, "09:30"},
		"a count from its start":     {`{"startTime": "2026-03-02T08:30Z", "recurrence": {"frequency": "hour", "count": 3}}`, v1.Status{Next: next}, "09:30"},
		"from its last execution":    {`{"startTime": "2026-03-01T00:00Z", "recurrence": {"frequency": "hour", "interval": 3, "anchor": "lastExecution"}}`, v1.Status{Next: next}, "09:30 12:30 15:30 18:30 21:30"},
		"@recur":                     {`{"recurrence": {"cron": "@recur 3 h 2026-03-01 00:00"}}`, v1.Status{Next: next}, "09:30 12:30 15:30 18:30 21:30"},
		"@recur on the grid":         {`{"recurrence": {"cron": "@recur 3 h 2026-03-01 00:30", "anchor": "grid"}}`, v1.Status{Next: next}, "09:30 12:30 15:30 18:30 21:30"},
		"a schedule nobody knows of": {`{"recurrence": {"frequency": "fortnight"}}`, v1.Status{Next: next}, "09:30"},
	} {
		j := &client.Job{Name: "default/job", Status: test.status, Properties: json.RawMessage(test.properties)}
		var got []string
		for _, at := range nextRuns(t.Context(), j) {
			got = append(got, at.Format("15:04"))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: got %s, want %s", name, s, test.want)
		}
	}
}

// TestRetriesOf: a policy in words, also when it is the default's.
func TestRetriesOf(t *testing.T) {
	for policy, want := range map[string]string{
		"":                      "fixed, PT30S, at most 4",
		`{"retryType": "none"}`: "none",
		`{"retryType": "Exponential", "retryInterval": "PT1M", "retryCount": 2}`: "exponential, PT1M, at most 2",
		`"?"`: `"?"`,
	} {
		if got := retriesOf(json.RawMessage(policy)); got != want {
			t.Errorf("%s: got %s, want %s", policy, got, want)
		}
	}
}
