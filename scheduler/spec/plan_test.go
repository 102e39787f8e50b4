package spec_test

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

func instants(t *testing.T, texts ...string) []time.Time {
	t.Helper()
	times := make([]time.Time, len(texts))
	for i, text := range texts {
		times[i] = must.Get(document.ParseTime(text))(t)
	}
	return times
}

// The table of startTime, with what the vectors leave open.
func TestPlan(t *testing.T) {
	const created = "2024-03-15T10:30:00Z" // a Friday
	tests := []struct {
		name, job string
		want      []string // all runs, or as many as are given
		complete  bool     // as Upcoming(len(want)+1) has it
	}{
		{"once, at once", `{}`, []string{created}, true},
		{"once, start past", `{"startTime":"2020-01-01"}`, []string{created}, true},
		{"once, start now", `{"startTime":"2024-03-15T10:30Z"}`, []string{created}, true},
		{"once, start later", `{"startTime":"2024-03-15T10:30:00.000000001Z"}`, []string{"2024-03-15T10:30:00.000000001Z"}, true},
		{"at once, then by the schedule", `{"recurrence":{"frequency":"day","schedule":{"hours":[6,18],"minutes":[0]}}}`, []string{created, "2024-03-15T18:00:00Z", "2024-03-16T06:00:00Z"}, false},
		{"at once on another weekday", `{"recurrence":{"frequency":"week","schedule":{"weekDays":["monday"]}}}`, []string{created, "2024-03-18T10:30:00Z"}, false},
		{"at once counts", `{"recurrence":{"frequency":"day","count":2,"schedule":{"hours":[18],"minutes":[0]}}}`, []string{created, "2024-03-15T18:00:00Z"}, true},
		{"at once alone, if the schedule never fires", `{"recurrence":{"frequency":"month","schedule":{"months":[2],"monthDays":[30]}}}`, []string{created}, true},
		{"at once is not after the end", `{"recurrence":{"frequency":"day","endTime":"2024-03-15T10:29:59Z"}}`, nil, true},
		{"but at it", `{"recurrence":{"frequency":"day","endTime":"2024-03-15T10:30:00Z"}}`, []string{created}, true},
		{"at once, then the schedule ends", `{"recurrence":{"frequency":"day","endTime":"2024-03-16T06:00Z","schedule":{"hours":[6,18],"minutes":[0]}}}`, []string{created, "2024-03-15T18:00:00Z", "2024-03-16T06:00:00Z"}, true},
		{"past start stays on the grid", `{"startTime":"2015-07-13T00:00Z","recurrence":{"frequency":"week"}}`, []string{"2024-03-18T00:00:00Z", "2024-03-25T00:00:00Z"}, false},
		{"past start, a run now", `{"startTime":"2024-03-08T10:30Z","recurrence":{"frequency":"week","count":2}}`, []string{created, "2024-03-22T10:30:00Z"}, true},
		{"start and end past", `{"startTime":"2020-01-01","recurrence":{"frequency":"day","endTime":"2021-01-01"}}`, nil, true},
		{"end before start", `{"startTime":"2025-01-01","recurrence":{"frequency":"day","endTime":"2024-12-31"}}`, nil, true},
		{"count and end, the end first", `{"startTime":"2025-01-01","recurrence":{"frequency":"day","count":5,"endTime":"2025-01-02"}}`, []string{"2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z"}, true},
	}
	for _, test := range tests {
		p, err := planOf([]byte(test.job), instant(t, created))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		want := instants(t, test.want...)
		got, complete := p.Upcoming(len(want) + 1)
		if !complete {
			got = got[:len(want)]
		}
		if !slices.Equal(got, want) || complete != test.complete {
			t.Errorf("%s: got %v, %v; want %v, %v", test.name, got, complete, want, test.complete)
		}
		checkPlan(t, test.name, p, want)
	}
}

// checkPlan compares the plan's answers around its first runs with those runs.
func checkPlan(t *testing.T, name string, p *spec.Plan, runs []time.Time) {
	t.Helper()
	if first, ok := p.First(); ok != (len(runs) > 0) || ok && !first.Equal(runs[0]) {
		t.Errorf("%s: First() = %v, %v", name, first, ok)
	}
	for i, run := range runs {
		if next, ok := p.Next(run.Add(-1)); !ok || !next.Equal(run) {
			t.Errorf("%s: Next(%v-1ns) = %v, %v", name, run, next, ok)
		}
		if last, ok := p.Last(run); !ok || !last.Equal(run) {
			t.Errorf("%s: Last(%v) = %v, %v", name, run, last, ok)
		}
		if last, ok := p.Last(run.Add(-1)); ok != (i > 0) || ok && !last.Equal(runs[i-1]) {
			t.Errorf("%s: Last(%v-1ns) = %v, %v", name, run, last, ok)
		}
		if n := p.Count(time.Time{}, run); n != i+1 {
			t.Errorf("%s: Count(…, %v) = %d, want %d", name, run, n, i+1)
		}
		if n := p.Count(runs[0].Add(1), run); n != i {
			t.Errorf("%s: Count after the first run … %v = %d, want %d", name, run, n, i)
		}
	}
	if last, ok := p.Last(time.Time{}); ok {
		t.Errorf("%s: Last at the beginning = %v", name, last)
	}
}

func TestPlanAnchors(t *testing.T) {
	tests := []struct{ recurrence, nominal, started, want string }{
		{`{"frequency":"minute"}`, "2024-01-01T00:10:00Z", "2024-01-01T00:10:01.5Z", "2024-01-01T00:11:00Z"},
		{`{"frequency":"minute","anchor":"grid"}`, "2024-01-01T00:10:00Z", "2024-01-01T00:30:01.5Z", "2024-01-01T00:11:00Z"},
		{`{"frequency":"minute","anchor":"LASTEXECUTION"}`, "2024-01-01T00:10:00Z", "2024-01-01T00:10:01.5Z", "2024-01-01T00:11:01.5Z"},
		{`{"frequency":"day","interval":2,"anchor":"lastExecution"}`, "2024-01-03", "2024-01-03T00:00:07Z", "2024-01-05T00:00:07Z"},
		{`{"frequency":"month","anchor":"lastExecution"}`, "2024-01-31", "2024-01-31T00:00:07Z", "2024-02-29T00:00:07Z"},
		{`{"frequency":"year","interval":2,"anchor":"lastExecution"}`, "2024-02-29", "2024-02-29T00:00:07Z", "2026-02-28T00:00:07Z"},
		{`{"frequency":"day","anchor":"lastExecution"}`, "2024-01-03", "2024-01-01", "2024-01-04T00:00:00Z"}, // a clock that lags
		{`{"frequency":"day","anchor":"lastExecution","endTime":"2024-01-04T00:00:06Z"}`, "2024-01-03", "2024-01-03T00:00:07Z", ""},
		{`{"frequency":"year","interval":9000,"anchor":"lastExecution"}`, "2024-01-01", "2024-01-01", ""},
		{`{"cron":"@recur 10 min"}`, "2024-01-01T00:10:00Z", "2024-01-01T00:10:00.9Z", "2024-01-01T00:20:00Z"},
		{`{"cron":"@recur 10 min"}`, "2024-01-01T00:10:00Z", "2024-01-01T00:10:09.5Z", "2024-01-01T00:20:09.5Z"},
		{`{"cron":"@recur 10 min","anchor":"lastexecution"}`, "2024-01-01T00:10:00Z", "2024-01-01T00:15:00Z", "2024-01-01T00:25:00Z"},
		{`{"cron":"@recur 10 min","anchor":"grid"}`, "2024-01-01T00:10:00Z", "2024-01-01T00:15:00Z", "2024-01-01T00:20:00Z"},
	}
	for _, test := range tests {
		p := must.Get(planOf([]byte(`{"startTime":"2024-01-01","recurrence":`+test.recurrence+`}`), instant(t, "2024-01-01")))(t)
		next, ok := afterRun(p, instant(t, test.nominal), instant(t, test.started))
		if got := next.Format(time.RFC3339Nano); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%s: the run after %s, started %s, is %s, %v; want %s", test.recurrence, test.nominal, test.started, got, ok, test.want)
		}
	}
}

// afterRun returns the run after a planned one that started then.
func afterRun(p *spec.Plan, nominal, started time.Time) (time.Time, bool) {
	base, _ := p.Base(nominal, started, false)
	return p.Moved(base).Next(nominal)
}

func TestPlanIntervals(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		recurrence string
		want       time.Duration
	}{
		{`{"frequency":"minute","interval":20}`, 20 * time.Minute},
		{`{"frequency":"day","schedule":{"hours":[9,17]}}`, 8 * time.Hour},
		{`{"frequency":"day","schedule":{"minutes":[0,1]}}`, time.Minute},
		{`{"frequency":"week","interval":2}`, 14 * day},
		{`{"frequency":"month"}`, 29 * day},
		{`{"frequency":"month","interval":12}`, 365 * day},
		{`{"frequency":"year"}`, 365 * day},
		{`{"frequency":"year","interval":1000}`, spec.Forever},
		{`{"frequency":"day","endTime":"2024-01-01"}`, spec.Forever},
		{`{"frequency":"day","endTime":"2023-01-01"}`, spec.Forever},
		{`null`, spec.Forever},
	}
	for _, test := range tests {
		p := must.Get(planOf([]byte(`{"startTime":"2024-01-01","recurrence":`+test.recurrence+`}`), instant(t, "2024-01-01")))(t)
		if p.Interval() != test.want {
			t.Errorf("%s: interval is %v, want %v", test.recurrence, p.Interval(), test.want)
		}
	}
}

// A run at once shortly before the schedule's first instant does not make the job look frequent.
func TestPlanIntervalIgnoresRunAtOnce(t *testing.T) {
	p := must.Get(planOf([]byte(`{"recurrence":{"frequency":"day","schedule":{"hours":[11],"minutes":[0]}}}`), instant(t, "2024-01-01T10:59:59Z")))(t)
	if p.Interval() != 24*time.Hour {
		t.Errorf("interval is %v", p.Interval())
	}
}

// TestMoved shows that what is moved once is counted from where it was moved to, for ever: not from the last day of a
// short month, nor from the hour to which a change of the clock moved one run.
func TestMoved(t *testing.T) {
	tests := []struct {
		job, base string
		want      []string
	}{
		{
			`{"startTime":"2026-01-10T10:00Z","recurrence":{"cron":"@recur 1 month"}}`, "2026-01-31T12:07:30.5Z",
			[]string{"2026-02-28T12:07:30.5Z", "2026-03-31T12:07:30.5Z", "2026-04-30T12:07:30.5Z"},
		},
		{
			`{"startTime":"2026-01-10T10:00Z","timeZone":"America/New_York","recurrence":{"cron":"@recur 1 day"}}`, "2026-03-06T07:30:00Z",
			[]string{"2026-03-07T07:30:00Z", "2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"},
		},
		{
			`{"startTime":"2026-01-10T10:00Z","recurrence":{"cron":"@recur 7 minutes","endTime":"2026-01-10T12:10Z"}}`, "2026-01-10T12:01:00Z",
			[]string{"2026-01-10T12:08:00Z"},
		},
	}
	for _, test := range tests {
		p := must.Get(planOf([]byte(test.job), instant(t, "2026-01-01T00:00:00Z")))(t)
		moved := p.Moved(instant(t, test.base))
		var got []time.Time
		for at, ok := moved.First(); ok && len(got) < 3; at, ok = moved.Next(at) {
			got = append(got, at)
		}
		if want := instants(t, test.want...); !slices.Equal(got, want) {
			t.Errorf("%s moved to %s:\n got %v\nwant %v", test.job, test.base, got, want)
		}
		if p.Moved(time.Time{}) != p {
			t.Error("a zero time moves the plan")
		}
	}
}
