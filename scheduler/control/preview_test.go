package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// previewed is a preview as it is answered.
type previewed struct {
	UTC         []time.Time `json:"utc"`
	Local       []time.Time `json:"local"`
	Complete    bool        `json:"complete"`
	Description string      `json:"description"`
	Notes       []string    `json:"notes"`
	TimeZone    string      `json:"timeZone"`
}

// preview asks a service without a store.
func preview(t *testing.T, body string) (string, error) {
	t.Helper()
	p, err := control.Previewer{}.Preview(t.Context(), []byte(body))
	if err != nil {
		return "", err
	}
	return string(v1.JSON(v1.Preview(p))), nil
}

// TestPreview checks what is answered. The present is 1 January 2000, the
// beginning of a bubble's time.
func TestPreview(t *testing.T) {
	daily := `"recurrence": {"frequency": "day", "schedule": {"hours": [5], "minutes": [15]}}`
	for _, test := range []struct{ name, body, want string }{ // want: parts of the answer, separated by |
		{"one run, at once", `{}`, `{"utc":["2000-01-01T00:00:00Z"],"local":["2000-01-01T00:00:00Z"],"complete":true,"description":"|"notes":[],"timeZone":"UTC"}`},
		{"one run, later", `{"startTime": "2030-01-02"}`, `{"utc":["2030-01-02T00:00:00Z"]|"complete":true`},
		{"one run, passed", `{"startTime": "2030-01-02", "after": "2030-01-02"}`, `{"utc":[],"local":[],"complete":true,|"notes":[]`},
		{"first run at once", `{` + daily + `, "count": 2}`, `"utc":["2000-01-01T00:00:00Z","2000-01-01T05:15:00Z"]|"complete":false`},
		{"strictly after", `{` + daily + `, "count": 2, "after": "2000-01-01T05:15:00Z"}`, `"utc":["2000-01-02T05:15:00Z","2000-01-03T05:15:00Z"]`},
		{"after before now", `{` + daily + `, "count": 1, "after": "1999-01-01", "now": "2000-01-01"}`, `"utc":["2000-01-01T00:00:00Z"]`},
		{"in the past", `{"recurrence": {"cron": "0 9 * * *"}, "count": 1, "after": "1990-01-01T09:00:00Z"}`, `"utc":["1990-01-02T09:00:00Z"]`},
		{"now with decimals", `{"recurrence": {"frequency": "hour"}, "now": "2030-01-02T03:04:05.5+01:00", "count": 2}`, `"utc":["2030-01-02T02:04:05.5Z","2030-01-02T03:04:05.5Z"]`},
		{"in an envelope", `{"name": "default/job", "type": "x", "id": "y", "properties": {` + daily + `}, "now": "2030-01-01T06:00:00Z", "count": 2}`, `"utc":["2030-01-01T06:00:00Z","2030-01-02T05:15:00Z"]`},
		{"a job as it is stored", `{"id": "y", "collection": "c", "properties": {"startTime": "2030-01-01", "action": {"type": "new"}, "state": "completed", "status": {"x": 1},
			"jitter": "?", "timeout": "?", "overlap": "?", "catchUp": 1, "labels": [], "description": "d"}}`, `"utc":["2030-01-01T00:00:00Z"]`},
		{"YAML", "recurrence:\n  cron: 0 9 * * MON\ntimeZone: Europe/Berlin\nnow: '2030-07-01'\ncount: 1\n", `"utc":["2030-07-01T07:00:00Z"],"local":["2030-07-01T09:00:00+02:00"]|"timeZone":"Europe/Berlin"`},
		{"names in any letter case", `{"Properties": {"StartTime": "2030-01-02"}, "Count": 1}`, `"utc":["2030-01-02T00:00:00Z"]`},
		{
			"a gap of the clock", `{"recurrence": {"cron": "30 2 * * *"}, "timeZone": "America/New_York", "now": "2026-03-07T12:00:00Z", "count": 2}`,
			`"utc":["2026-03-08T07:00:00Z","2026-03-09T06:30:00Z"],"local":["2026-03-08T03:00:00-04:00","2026-03-09T02:30:00-04:00"]|"notes":["2026-03-08 02:30 does not exist in America/New_York: runs at 03:00"]`,
		},
		{"a gap left out", `{"recurrence": {"cron": "30 2 * * *"}, "timeZone": "America/New_York", "dst": {"gap": "skip"}, "now": "2026-03-07T12:00:00Z", "count": 1}`, `"utc":["2026-03-09T06:30:00Z"]`},
		{"the zone of the rule", `{"recurrence": {"rrule": "DTSTART;TZID=Asia/Tokyo:20300101T090000 RRULE:FREQ=DAILY;COUNT=2"}}`, `"local":["2030-01-01T09:00:00+09:00","2030-01-02T09:00:00+09:00"],"complete":true|"timeZone":"Asia/Tokyo"`},
		{"never", `{"recurrence": {"cron": "0 0 30 2 *"}}`, `"utc":[],"local":[],"complete":true|"notes":["never runs`},
		{"ends before it starts", `{"startTime": "2030-01-02", "recurrence": {"frequency": "day", "endTime": "2030-01-01"}}`, `"utc":[],"local":[],"complete":true|"notes":["never runs: endTime is before startTime"]`},
		{"a count", `{"recurrence": {"frequency": "day", "count": 3}}`, `"2000-01-03T00:00:00Z"],"local"|"complete":true`},
		{"paused", `{"recurrence": {"frequency": "day"}, "startTime": "2000-01-01T05:00:00Z", "pausedUntil": "2000-01-03T05:00:00Z", "count": 2}`, `"utc":["2000-01-03T05:00:00Z","2000-01-04T05:00:00Z"]|"notes":["paused until 2000-01-03T05:00:00Z: runs due before that are skipped"]`},
		{"paused, after that", `{"recurrence": {"frequency": "day"}, "pausedUntil": "2000-01-03T05:00:00Z", "after": "2000-01-05", "count": 1}`, `"utc":["2000-01-06T00:00:00Z"]|"notes":[]`},
		{"paused, and runs once", `{"properties": {"startTime": "2000-01-02", "pausedUntil": "2000-01-03T05:00:00Z"}}`, `"utc":["2000-01-03T05:00:00Z"]|it runs then`},
		{"not paused", `{"startTime": "2000-01-02", "pausedUntil": null}`, `"utc":["2000-01-02T00:00:00Z"]|"notes":[]`},
		{"a count, partly passed", `{"recurrence": {"frequency": "day", "count": 3}, "after": "2000-01-02"}`, `{"utc":["2000-01-03T00:00:00Z"],|"complete":true`},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				got := must.Get(preview(t, test.body))(t)
				for part := range strings.SplitSeq(test.want, "|") {
					if !strings.Contains(got, part) {
						t.Errorf("%s\n got %s\nwant %s", test.body, got, part)
					}
				}
			})
		})
	}
}

// TestPreviewCounts asks for the default number of runs, and for the most.
func TestPreviewCounts(t *testing.T) {
	for count, want := range map[string]int{``: 10, `, "count": 1000`: 1000, `, "count": null`: 10} {
		text := must.Get(preview(t, `{"recurrence": {"frequency": "minute"}`+count+`}`))(t)
		var got previewed
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.UTC) != want || len(got.Local) != want {
			t.Errorf("%s: %d and %d times, want %d: %v", count, len(got.UTC), len(got.Local), want, err)
		}
	}
}

// TestPreviewName shows what hashes are made from: the name as it is, but of a
// whole job the job's alone, as when it is put.
func TestPreviewName(t *testing.T) {
	of := func(members string) string {
		t.Helper()
		return must.Get(preview(t, `{`+members+`"properties": {"recurrence": {"cron": "H H * * *", "dialect": "dsari"}}, "now": "2030-01-01"}`))(t)
	}
	ofJob := func(name string) string {
		t.Helper()
		return must.Get(preview(t, `{"name": "`+name+`", "recurrence": {"cron": "H H * * *", "dialect": "dsari"}, "now": "2030-01-01", `+action+`}`))(t)
	}
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{of(`"name": "job1", `), of(`"name": "job2", `), false},
		{of(`"name": "", `), of(``), true},
		{of(`"name": "job1", `), ofJob("job1"), true},
		{of(`"name": "job1", `), ofJob("nightly/job1"), true},
		{of(`"name": "job1", `), of(`"name": "nightly/job1", `), false},
		{of(`"name": "jöb 1", `), ofJob("jöb 1"), true},
	} {
		if (test.a == test.b) != test.same {
			t.Errorf("%s\n%s\nsame: %t", test.a, test.b, test.same)
		}
	}
}

// TestPreviewOfWrongInput checks that every problem is told, with its path.
func TestPreviewOfWrongInput(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{ // want: all problems
		{"empty", "", "the document is empty"},
		{"blank", " \n", "the document is empty"},
		{"array", "[]", "the document must be an object, not an array"},
		{"text", "hello", "the document must be an object, not a string"},
		{"no JSON", `{"count": 1,}`, "1:13: expected a field name in double quotes; JSON has no comma before }"},
		{"two documents", "count: 1\n---\ncount: 2\n", "holds 2 documents; one is expected"},
		{"count 0", `{"count": 0}`, "count: 0 is not in 1-1000"},
		{"count 1001", `{"count": 1001}`, "count: 1001 is not in 1-1000"},
		{"count as text", `{"count": "10"}`, "count: must be a whole number, not a string"},
		{"unknown field", `{"cont": 5}`, `cont: unknown field; did you mean "count"?`},
		{"unknown property", `{"properties": {"timeZones": "UTC", "recurence": {}}}`, `properties.timeZones: unknown field; did you mean "timeZone"?` + "\n" + `properties.recurence: unknown field; did you mean "recurrence"?`},
		{"a property beside the envelope", `{"properties": {}, "startTime": "2030-01-01"}`, "startTime: unknown field"},
		{"properties as text", `{"properties": "x"}`, "properties: must be an object, not a string"},
		{"number for text", `{"name": 7, "now": 8, "timeZone": 9}`, "timeZone: must be a string, not a number\nname: must be a string, not a number\nnow: must be a string, not a number"},
		{"unknown zone", `{"timeZone": "europe/berlin"}`, `timeZone: "europe/berlin" is not a time zone; did you mean "Europe/Berlin"?`},
		{"dst", `{"dst": {"gap": "later", "overlap": "bot"}}`, `dst.gap: "later" is not one of next, shift, skip` + "\n" + `dst.overlap: "bot" is not one of first, both; did you mean "both"?`},
		{"too large", `{"description": "` + strings.Repeat("x", 16<<10) + `"}`, "the document is 16403 bytes long, at most 16384 (16 KB) are allowed"},
	} {
		_, err := preview(t, test.body)
		if !errors.Is(err, scheduler.ErrInvalid) || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.name, err, test.want)
		}
	}
}

// TestPreviewPaths checks the places of problems, whose words are the
// schedule languages' own.
func TestPreviewPaths(t *testing.T) {
	for _, test := range []struct{ body, want string }{ // want: the beginnings of the problems, separated by |
		{`{"recurrence": {"cron": "0 0 32 * *"}}`, `recurrence.cron: column 5, field 3`},
		{`{"properties": {"recurrence": {"cron": "0 0 32 * *"}}}`, `properties.recurrence.cron: column 5, field 3`},
		{`{"properties": {"recurrence": {"cron": "@reboot"}}}`, `properties.recurrence.cron: column 1`},
		{`{"properties": {"recurrence": {"cron": "0 * * * *", "rrule": "FREQ=DAILY"}}, "count": 0}`, `properties.recurrence.rrule: cannot be used together with cron|count: 0`},
		{`{"properties": {"recurrence": {"rrule": "RRULE:FREQ=DAILY"}}, "count": 0}`, `count: 0|properties.recurrence.rrule: DTSTART is missing`},
		{`{"properties": {"recurrence": {"rrule": "RRULE:FREQ=DAILYY;BYHOUR=24", "dialect": "rfc"}}}`, `properties.recurrence.dialect: |properties.recurrence.rrule: column|properties.recurrence.rrule: column`},
		{
			`{"properties": {"recurrence": {"frequency": "day", "interval": 0, "schedule": {"hours": [24, 1, 25]}}}}`,
			`properties.recurrence.interval: 0|properties.recurrence.schedule.hours[0]: 24|properties.recurrence.schedule.hours[2]: 25`,
		},
		{`{"properties": {"recurrence": {"frequency": "day", "schedule": {"weekDays": ["Monday"]}}}}`, `properties.recurrence.schedule.weekDays: `},
		{`{"properties": {"startTime": "09:00"}, "now": "2030-01-01T09", "after": "tomorrow"}`, `properties.startTime: "09:00"|now: "2030-01-01T09"|after: "tomorrow"`},
		{`{"properties": {"recurrence": {}}}`, `properties.recurrence.frequency: is required; or cron, or rrule`},
		{`{"properties": {"recurrence": {"rrule": "DTSTART:20300101T000000Z RRULE:FREQ=SECONDLY", "dialect": "awx"}}}`, `properties.recurrence.rrule: `},
	} {
		_, err := preview(t, test.body)
		if !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%s: got %v", test.body, err)
			continue
		}
		got, want := strings.Split(err.Error(), "\n"), strings.Split(test.want, "|")
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s:\n got %q\nwant %q", test.body, got, want)
		}
	}
}

const action = `"action": {"type": "Http", "request": {"uri": "http://target.example/hook", "method": "POST", "body": "x"}}`

// TestPreviewsTakeTurns shows that no more previews are computed at once than two for each processor, that who waits gets
// a turn when one is done, and that a wait ends with its context.
func TestPreviewsTakeTurns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := control.NewPreviewer()
		var leave []func()
		for range 2 * runtime.GOMAXPROCS(0) {
			done := must.Get(p.Turn(t.Context()))(t)
			leave = append(leave, done)
		}
		body := []byte(`{"recurrence":{"frequency":"day"},"count":2}`)
		gone, cancel := context.WithCancelCause(t.Context())
		over, answered := make(chan error), make(chan error)
		go func() {
			_, err := p.Preview(gone, body)
			over <- err
		}()
		go func() {
			_, err := p.PreviewAWX(t.Context(), "DTSTART:20310101T000000Z RRULE:FREQ=DAILY;INTERVAL=1")
			answered <- err
		}()
		synctest.Wait()
		select {
		case err := <-over:
			t.Fatal("a preview was computed beside all others:", err)
		case err := <-answered:
			t.Fatal("a preview was computed beside all others:", err)
		default:
		}
		hungUp := errors.New("hung up")
		cancel(hungUp)
		if err := <-over; !errors.Is(err, hungUp) {
			t.Errorf("who has gone waits for: %v", err)
		}
		leave[0]()
		if err := <-answered; err != nil {
			t.Error(err)
		}
	})
}

// TestPreviewKnowsEveryField previews a job with each field of the schema.
func TestPreviewKnowsEveryField(t *testing.T) {
	var written struct {
		Defs struct {
			Job struct {
				Properties map[string]any `json:"properties"`
			} `json:"job"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema.JobText, &written); err != nil || len(written.Defs.Job.Properties) < 15 {
		t.Fatalf("%d fields, %v", len(written.Defs.Job.Properties), err)
	}
	for name := range written.Defs.Job.Properties {
		_, err := preview(t, fmt.Sprintf(`{%q: 1, "recurrence": {"frequency": "minute"}}`, name))
		if err != nil && strings.Contains(err.Error(), "unknown field") {
			t.Errorf("%v: add it to IgnoreUnscheduled in scheduler/definition.go, unless it decides when the job runs", err)
		}
	}
}
