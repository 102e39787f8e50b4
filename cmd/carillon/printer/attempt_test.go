package printer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// TestAttempt prints a failed retry and a run of skipped instants whole.
func TestAttempt(t *testing.T) {
	at := time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	second, quick := scheduler.Seconds(time.Second), scheduler.Seconds(1500*time.Microsecond)
	for _, test := range []struct {
		form    scheduler.RecordForm
		request string
		want    string
	}{
		{
			scheduler.RecordForm{
				Status: "Failed", StatusCode: 429, Occurrence: "default/job@2026-03-08T09:00:00Z", Attempt: "a#2", Action: "MainAction", ActionType: "Http",
				Trace: "4bf92f3577b34da6a3ce929d0e0e4736",
				Retry: 1, Target: "a.example:443", Nominal: at, Started: at.Add(time.Second), Lateness: &second, Duration: &quick, RetryAfter: scheduler.Seconds(time.Minute),
				Message: "Http Action - …", Summary: "Too Many Requests", Headers: "Content-Length: 5\r\nRetry-After: 60\r\nX-Request-Id: 7\r\n",
				Response: "two\nlines",
			},
			"Http GET https://a.example/b",
			`Outcome:      failed, status 429
Occurrence:   default/job@2026-03-08T09:00:00Z
Action:       MainAction Http, retry 1
Request:      Http GET https://a.example/b
Target:       a.example:443
Planned:      2026-03-08 09:00:00.000 Z
Started:      2026-03-08 09:00:01.000 Z, 1000.0 ms after it was due
Duration:     1.5 ms
Retry after:  1m0s, as the target asks
Message:      Too Many Requests
Header:       Retry-After: 60
Header:       X-Request-Id: 7
Trace:        4bf92f3577b34da6a3ce929d0e0e4736
Response:     two
              lines
Hint:         the target requests fewer calls: set a rate in the targets of the collection
`,
		},
		{
			scheduler.RecordForm{
				Status: "Skipped", Action: "MainAction", Reason: scheduler.ReasonDisabled, Nominal: at, From: at, To: at.Add(time.Hour), Count: 61, Ended: at,
			},
			"",
			`Outcome:      skipped
Action:       MainAction
Planned:      2026-03-08 09:00:00.000 Z
Reason:       disabled
Instants:     61 instants from 2026-03-08 09:00:00.000 Z to 2026-03-08 10:00:00.000 Z
Hint:         the job was disabled: "carillon enable" enables it
`,
		},
	} {
		var out strings.Builder
		Attempt(&terminal.Terminal{Out: &out, UTC: true}, &client.Record{RecordForm: test.form}, test.request)
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestHint: what to do about a record, where something can be done.
func TestHint(t *testing.T) {
	for _, test := range []struct {
		status string
		code   int
		want   string // part of the hint
	}{
		{"Completed", 200, ""},
		{"Postponed", 0, ""},
		{"Faulted", 0, ""},
		{"Failed", 0, "did not respond"},
		{"Failed", 200, "requires another response"},
		{"Failed", 302, "has moved"},
		{"Failed", 503, "the target failed"},
	} {
		r := &client.Record{RecordForm: scheduler.RecordForm{Status: test.status, StatusCode: test.code}}
		if test.status == "Failed" {
			r.Attempt = "a#1"
		}
		if got := Hint(r); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s %d: got %q, want %q", test.status, test.code, got, test.want)
		}
	}
}
