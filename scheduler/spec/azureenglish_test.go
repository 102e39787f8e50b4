package spec_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

var update = flag.Bool("update", false, "write the golden files of descriptions anew")

// TestDescribeAzure compares descriptions of Azure recurrences with testdata/describe_azure.golden: a job's timing in a
// line of its own, its description in the next. The jobs are created on Friday, 2024-03-15 10:30 UTC.
func TestDescribeAzure(t *testing.T) {
	const file = "testdata/describe_azure.golden"
	data := must.Get(os.ReadFile(file))(t)
	var written strings.Builder
	job := ""
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, "{"):
			job = line
			written.WriteString(line)
		case strings.HasPrefix(line, "\t"):
			got := describe(t, job)
			if want := strings.TrimSpace(line); got != want && !*update {
				t.Errorf("%s\n got %s\nwant %s", job, got, want)
			}
			written.WriteString("\t" + got + "\n")
		default:
			written.WriteString(line)
		}
	}
	if *update {
		must.Do(t, os.WriteFile(file, []byte(written.String()), 0o600))
	}
}

func describe(t *testing.T, job string) string {
	t.Helper()
	p, err := planOf([]byte(job), instant(t, "2024-03-15T10:30:00Z"))
	if err != nil {
		t.Fatalf("%s: %v", job, err)
	}
	return p.Describe()
}

// TestPreviewNotes shows what changes of a clock do, in words.
func TestPreviewNotes(t *testing.T) {
	tests := []struct {
		job, after string
		n          int
		want       string
	}{
		{`{"timeZone":"America/New_York","recurrence":{"cron":"30 2 * * *"}}`, "2026-03-07T00:00Z", 3, "2026-03-08 02:30 does not exist in America/New_York: runs at 03:00"},
		{`{"timeZone":"America/New_York","dst":{"gap":"skip"},"recurrence":{"cron":"30 2 * * *"}}`, "2026-03-07T00:00Z", 3, "2026-03-08 02:30 does not exist in America/New_York: does not run"},
		{`{"timeZone":"America/New_York","dst":{"gap":"shift"},"recurrence":{"cron":"30 2 * * *"}}`, "2026-03-07T00:00Z", 3, "2026-03-08 02:30 does not exist in America/New_York: runs at 03:30"},
		{`{"recurrence":{"rrule":"DTSTART;TZID=America/New_York:20260301T023000 RRULE:FREQ=DAILY"}}`, "2026-03-07T00:00Z", 3, "2026-03-08 02:30 does not exist in America/New_York: runs at 03:30"},
		{`{"timeZone":"America/New_York","recurrence":{"cron":"*/20 * * * *"}}`, "2026-03-08T06:00Z", 9, "2026-03-08 02:00 to 02:40 do not exist in America/New_York: do not run"},
		{`{"timeZone":"America/New_York","recurrence":{"cron":"0,30 2 * * *"}}`, "2026-03-07T00:00Z", 9, "2026-03-08 02:00 to 02:30 do not exist in America/New_York: runs once for them, at 03:00"},
		{`{"timeZone":"America/New_York","recurrence":{"cron":"30 1 * * *"}}`, "2026-10-31T00:00Z", 3, "2026-11-01 01:30 occurs twice in America/New_York: runs the first time only"},
		{`{"timeZone":"America/New_York","dst":{"overlap":"both"},"recurrence":{"cron":"30 1 * * *"}}`, "2026-10-31T00:00Z", 4, "2026-11-01 01:30 occurs twice in America/New_York: runs both times"},
		{`{"timeZone":"Pacific/Apia","recurrence":{"cron":"0 12 * * *"}}`, "2011-12-28T00:00Z", 3, "2011-12-30 12:00 does not exist in Pacific/Apia: runs at 2011-12-31 00:00"},
		{`{"timeZone":"Europe/Paris","recurrence":{"frequency":"day"}}`, "2026-03-07T00:00Z", 3, "the recurrence counts in UTC; timeZone Europe/Paris applies to cron and rrule only"},
		{`{"recurrence":{"cron":"0 0 30 2 *"}}`, "2026-03-07T00:00Z", 3, "never runs: no time matches"},
		{`{"recurrence":{"cron":"0 0 * * *","endTime":"2001-01-01"}}`, "", 3, ""},
		{`{"recurrence":{"cron":"0 0 2 1 *","endTime":"2001-01-01T12:00:00Z"}}`, "", 3, "never runs: no time matches until the end, 2001-01-01 12:00 UTC"},
		{`{"recurrence":{"rrule":"DTSTART:20000101T000000Z RRULE:FREQ=DAILY;COUNT=2"}}`, "", 3, "never runs: its last time was 2000-01-02 00:00 UTC"},
		{`{"startTime":"2026-01-02","recurrence":{"cron":"0 0 * * *","endTime":"2026-01-01"}}`, "", 3, "never runs: endTime is before startTime"},
		{`{"timeZone":"Europe/Paris","recurrence":{"cron":"0 0 * * *"}}`, "2026-04-07T00:00Z", 3, ""},
	}
	for _, test := range tests {
		p, err := planOf([]byte(test.job), instant(t, "2001-01-01T00:00:00Z"))
		if err != nil {
			t.Errorf("%s: %v", test.job, err)
			continue
		}
		var v spec.Preview
		if test.after == "" {
			v = p.Preview(time.Time{}, test.n)
		} else {
			v = p.Preview(instant(t, test.after), test.n)
		}
		if got := strings.Join(v.Notes, "\n"); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.job, got, test.want)
		}
	}
}
