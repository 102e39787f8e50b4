package job

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
)

var (
	aKey = scheduler.Key{Collection: "default", Job: "report"}
	noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
)

// of is a record of an occurrence that many minutes after noon.
func of(minute int, sequence uint64, outcome scheduler.Outcome, change ...func(*scheduler.Record)) *scheduler.Record {
	nominal := noon.Add(time.Duration(minute) * time.Minute)
	r := &scheduler.Record{
		Sequence: sequence, Job: aKey, Occurrence: scheduler.OccurrenceID(aKey, nominal), Outcome: outcome, Nominal: nominal, Due: nominal,
	}
	for _, f := range change {
		f(r)
	}
	return r
}

// try makes a record one of an attempt, n seconds after its occurrence was due.
func try(n int, phase scheduler.Phase) func(*scheduler.Record) {
	return func(r *scheduler.Record) {
		r.ID, r.Try, r.Phase = fmt.Sprintf("%s#%d", r.Occurrence, n), n, phase
		if phase == scheduler.MainPhase {
			r.Attempt = n - 1
		}
		r.Due = r.Nominal.Add(time.Duration(n-1) * 10 * time.Second)
		r.Started = r.Due
		r.Duration = 2 * time.Second
		r.Ended = r.Started.Add(r.Duration)
	}
}

func late(d time.Duration) func(*scheduler.Record) {
	return func(r *scheduler.Record) { r.Started, r.Ended = r.Started.Add(d), r.Ended.Add(d) }
}

// TestRuns groups records by occurrence, and says how each of these ended.
func TestRuns(t *testing.T) {
	const main, rescue = scheduler.MainPhase, scheduler.ErrorPhase
	for name, c := range map[string]struct {
		records []*scheduler.Record // the newest first
		want    string
	}{
		"completed": {[]*scheduler.Record{of(0, 1, scheduler.OutcomeCompleted, try(1, main))}, "completed tried=1 retries=0 took=2s"},
		"late": {
			[]*scheduler.Record{of(0, 1, scheduler.OutcomeCompleted, try(1, main), late(3*time.Second))},
			"completed tried=1 retries=0 took=2s late=3s",
		},
		"retried": {[]*scheduler.Record{
			of(0, 2, scheduler.OutcomeCompleted, try(2, main)), of(0, 1, scheduler.OutcomeFailed, try(1, main)),
		}, "completed tried=2 retries=1 took=12s pause=8s"},
		"failing": {[]*scheduler.Record{of(0, 1, scheduler.OutcomeFailed, try(1, main))}, "failed tried=1 retries=0 took=2s again"},
		"given up, and rescued": {[]*scheduler.Record{
			of(0, 3, scheduler.OutcomeFaulted), of(0, 2, scheduler.OutcomeCompleted, try(2, rescue)), of(0, 1, scheduler.OutcomeFailed, try(1, main)),
		}, "faulted tried=2 retries=0 took=12s pause=8s again"},
		"the rescue alone, as a filter has it": {
			[]*scheduler.Record{of(0, 2, scheduler.OutcomeCompleted, try(2, rescue))}, "completed tried=2 retries=0 took=2s missing=1",
		},
		"skipped":   {[]*scheduler.Record{of(0, 1, scheduler.OutcomeSkipped)}, "skipped tried=0 retries=0 took=0s again"},
		"postponed": {[]*scheduler.Record{of(0, 1, scheduler.OutcomePostponed)}, "postponed tried=0 retries=0 took=0s again"},
		"put off, and run": {[]*scheduler.Record{
			of(0, 2, scheduler.OutcomeCompleted, try(1, main)),
			of(0, 1, scheduler.OutcomePostponed, func(r *scheduler.Record) { r.ID = "put off" }),
		}, "completed tried=1 retries=0 took=2s"},
		"no occurrence": {[]*scheduler.Record{of(0, 1, scheduler.OutcomeSkipped, func(r *scheduler.Record) {
			r.Occurrence, r.Reason = "", scheduler.ReasonDST
		})}, "skipped tried=0 retries=0 took=0s"},
		"two that overlap": {[]*scheduler.Record{
			of(1, 4, scheduler.OutcomeCompleted, try(2, main)), of(0, 3, scheduler.OutcomeCompleted, try(2, main)),
			of(1, 2, scheduler.OutcomeFailed, try(1, main)), of(0, 1, scheduler.OutcomeFailed, try(1, main)),
		}, "completed tried=2 retries=1 took=12s pause=8s|completed tried=2 retries=1 took=12s pause=8s"},
	} {
		var told []string
		for _, one := range runsOf(c.records, 100) {
			text := fmt.Sprintf("%s tried=%d retries=%d took=%v", one.State, one.Tried(), one.Retries, one.Took)
			if one.Late > 0 {
				text += fmt.Sprintf(" late=%v", one.Late)
			}
			if one.Missing > 0 {
				text += fmt.Sprintf(" missing=%d", one.Missing)
			}
			if n := len(one.Attempts); n > 0 && one.Attempts[n-1].Pause > 0 {
				text += fmt.Sprintf(" pause=%v", one.Attempts[n-1].Pause)
			}
			if one.Resubmittable() {
				text += " again"
			}
			told = append(told, text)
		}
		if got := strings.Join(told, "|"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestSteps shows the periods of a run to scale, each with its reason.
func TestSteps(t *testing.T) {
	const main, rescue = scheduler.MainPhase, scheduler.ErrorPhase
	stored := func(r *scheduler.Record) { r.Stored = r.Ended.Add(50 * time.Millisecond) }
	held := func(r *scheduler.Record) {
		r.ID, r.Try, r.Ended, r.Message = "held", 1, r.Due.Add(time.Second), "the circuit breaker is open"
	}
	for name, c := range map[string]struct {
		records []*scheduler.Record // the newest first
		want    string
	}{
		"in time": {
			[]*scheduler.Record{of(0, 1, scheduler.OutcomeCompleted, try(1, main), stored)},
			"Due 0s+0s schedule|Attempt 1 0s+2s |Recorded 2s+50ms ",
		},
		"jitter, and no slot": {
			[]*scheduler.Record{of(0, 1, scheduler.OutcomeCompleted, try(1, main), func(r *scheduler.Record) { r.Due = r.Due.Add(time.Second) }, late(3*time.Second))},
			"Due 0s+0s schedule|Delayed 0s+1s jitter, or the end of a pause|Waited for a slot 1s+2s until a worker and the target had a free slot|Attempt 1 3s+2s ",
		},
		"retried": {
			[]*scheduler.Record{
				of(0, 2, scheduler.OutcomeCompleted, try(2, rescue)),
				of(0, 1, scheduler.OutcomeFailed, try(1, main), func(r *scheduler.Record) { r.Status, r.Summary, r.RetryAfter = 503, "Unavailable", time.Second }),
			},
			"Due 0s+0s schedule|Attempt 1 0s+2s 503 Unavailable|Waited to retry 2s+8s the target asked for it (Retry-After)|Error action 10s+2s ",
		},
		"held": {
			[]*scheduler.Record{of(0, 2, scheduler.OutcomeCompleted, try(1, main), late(time.Minute)), of(0, 1, scheduler.OutcomePostponed, held)},
			"Due 0s+0s schedule|Held 0s+1m0s the circuit breaker is open|Attempt 1 1m0s+2s ",
		},
		"still held": {
			[]*scheduler.Record{of(0, 1, scheduler.OutcomePostponed, held)}, "Due 0s+0s schedule|Held 0s+1s the circuit breaker is open",
		},
		"its beginning has expired": {
			[]*scheduler.Record{of(0, 2, scheduler.OutcomeCompleted, try(2, main))}, "Due 0s+0s schedule|Attempt 2 0s+2s ",
		},
		"skipped": {[]*scheduler.Record{of(0, 1, scheduler.OutcomeSkipped)}, ""},
	} {
		var told []string
		for _, s := range runsOf(c.records, wholeLength)[0].Steps() {
			told = append(told, fmt.Sprintf("%s %v+%v %s", s.Name, s.At, s.Took, s.Why))
			if s.X < 0 || s.Width < 5 || s.X+s.Width > 1000 {
				t.Errorf("%s: %s has a bar from %d, %d wide", name, s.Name, s.X, s.Width)
			}
		}
		if got := strings.Join(told, "|"); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestFold folds JSON responses, within limits, and nothing else.
func TestFold(t *testing.T) {
	deep := strings.Repeat("[", foldDepth+2) + strings.Repeat("]", foldDepth+2)
	many := "[" + strings.Repeat("1,", mostFolds) + "1]"
	var text func(f *fold) string
	text = func(f *fold) string {
		var out strings.Builder
		out.WriteString(f.Name + f.Text)
		for i := range f.Parts {
			out.WriteString("(" + text(&f.Parts[i]) + ")")
		}
		return out.String()
	}
	for response, want := range map[string]string{
		`{"a": [1, {"b": null}], "c": "x"}`: `{2}(a[2](01)(1{1}(bnull)))(c"x")`,
		deep:                                "[1](0[1](0[1](0[1](0[1](0[1](0[[]]))))))", many: "", "[]": "", "hello": "", `{"a": `: "", "a: 1": "",
	} {
		got := ""
		if f := foldedJSON(excerptOf(response, wholeLength)); f != nil {
			got = text(f)
		}
		if got != want {
			t.Errorf("%.40s: %s, want %s", response, got, want)
		}
	}
	if f := foldedJSON(excerptOf(`{"a": 1}`, 3)); f != nil {
		t.Errorf("a part of a response is folded: %+v", f)
	}
}

// TestWhole leaves the beginning of an occurrence to the page that has the rest of it.
func TestWhole(t *testing.T) {
	a2, a1 := of(1, 5, scheduler.OutcomeFailed, try(3, scheduler.MainPhase)), of(1, 4, scheduler.OutcomeFailed, try(2, scheduler.MainPhase))
	b := of(2, 6, scheduler.OutcomeCompleted, try(1, scheduler.MainPhase))
	for name, c := range map[string]struct {
		records []*scheduler.Record
		next    uint64
		want    int
		then    uint64
	}{
		"nothing":                   {nil, 0, 0, 0},
		"the last page":             {[]*scheduler.Record{b, a2, a1}, 0, 3, 0},
		"cut":                       {[]*scheduler.Record{b, a2, a1}, 4, 1, 6},
		"an end":                    {[]*scheduler.Record{a2, a1, of(0, 3, scheduler.OutcomeCompleted, try(1, scheduler.MainPhase))}, 3, 3, 3},
		"it fills the page":         {[]*scheduler.Record{a2, a1}, 4, 2, 4},
		"another one lies between":  {[]*scheduler.Record{a2, b, a1}, 4, 3, 4},
		"what is of no occurrence":  {[]*scheduler.Record{b, {Sequence: 2, Job: aKey}}, 2, 2, 2},
		"skipped, which is not cut": {[]*scheduler.Record{b, of(1, 2, scheduler.OutcomeSkipped)}, 2, 2, 2},
	} {
		got, then := whole(c.records, c.next)
		if len(got) != c.want || then != c.then {
			t.Errorf("%s: %d records and then %d, want %d and %d", name, len(got), then, c.want, c.then)
		}
	}
}

// TestWords has a text for whatever a record or a definition may have.
func TestWords(t *testing.T) {
	var keys []string
	for _, o := range scheduler.Outcomes {
		keys = append(keys, "job.outcome."+string(o), "job.legend."+string(o))
	}
	for _, r := range scheduler.Reasons {
		keys = append(keys, "job.reason."+string(r))
	}
	for _, o := range []scheduler.Overlap{scheduler.OverlapSkip, scheduler.OverlapAllow} {
		keys = append(keys, "job.overlap."+string(o))
	}
	for _, p := range []scheduler.CatchUpPolicy{scheduler.CatchUpOnce, scheduler.CatchUpAll, scheduler.CatchUpSkip} {
		keys = append(keys, "job.catchup."+string(p))
	}
	for _, key := range keys {
		if !words.Has(key) {
			t.Errorf("there is no text %s", key)
		}
	}
}

// TestExcerpt cuts no letter in two.
func TestExcerpt(t *testing.T) {
	for text, want := range map[string]string{"": "", "abc": "abc", "abcd": "abc", "שלום": "ש", "a🙂b": "a", "🙂": ""} {
		if got := excerptOf(text, 3); got.Text != want || got.Cut != (text != want) || got.Size != int64(len(text)) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestCause names the events that started a run, and links the run of the other job.
func TestCause(t *testing.T) {
	for _, c := range []struct {
		cause      scheduler.Cause
		text, path string
	}{
		{scheduler.Cause{Event: "sales.order", Sequence: 12, Count: 1}, "the event sales.order (sequence 12)", ""},
		{scheduler.Cause{Event: "sales.order", Sequence: 12, Count: 3, Key: "a"}, "3 events, the last: sales.order (sequence 12), key a", ""},
		{scheduler.Cause{Upstream: "sales/extract@2026-03-02T12:00:00Z", Count: 1}, "the end of sales/extract@2026-03-02T12:00:00Z", "/console/jobs/sales/extract/runs/2026-03-02T12:00:00Z"},
	} {
		runs := runsOf([]*scheduler.Record{of(6, 9, scheduler.OutcomeCompleted, try(1, scheduler.MainPhase), func(r *scheduler.Record) { r.Cause = &c.cause })}, excerptLength)
		if got := runs[0]; got.Cause.Describe() != c.text || got.CausePath() != c.path {
			t.Errorf("%q %q, want %q %q", got.Cause.Describe(), got.CausePath(), c.text, c.path)
		}
	}
}

// TestStanding says of every kind of job how it is.
func TestStanding(t *testing.T) {
	in := func(state scheduler.State, s v1.Status) *v1.Job {
		return &v1.Job{Job: &scheduler.Job{Key: aKey, State: state}, Status: s}
	}
	next := noon
	for name, c := range map[string]struct {
		v      *v1.Job
		beside []control.DetachedRun
		want   string // state, class and the beginning of the text
	}{
		"enabled":       {in(scheduler.Enabled, v1.Status{Next: next}), nil, "enabled  Waits for its next run"},
		"running":       {in(scheduler.Enabled, v1.Status{Next: next, Running: true}), nil, "running  Running."},
		"running again": {in(scheduler.Enabled, v1.Status{Next: next, Running: true, Retry: 2}), nil, "running  Running: retry 2"},
		"failing":       {in(scheduler.Enabled, v1.Status{Next: next, Occurrences: 3, Faults: 3}), nil, "failing  Enabled, but every run so far has failed"},
		"failed once":   {in(scheduler.Enabled, v1.Status{Next: next, Occurrences: 3, Faults: 1}), nil, "enabled  Waits for its next run"},
		"retrying":      {in(scheduler.Enabled, v1.Status{Next: next, Retry: 1}), nil, "retrying  The last attempt failed. One retry"},
		"paused": {
			&v1.Job{Job: &scheduler.Job{Key: aKey, State: scheduler.Enabled, PausedUntil: noon.Add(time.Hour)}, Status: v1.Status{Next: next}}, nil,
			"paused warning Paused until Mon 2026-03-02 13:00:00 UTC",
		},
		"its pause is over": {
			&v1.Job{Job: &scheduler.Job{Key: aKey, State: scheduler.Enabled, PausedUntil: noon}, Status: v1.Status{Next: next}}, nil,
			"enabled  Waits for its next run",
		},
		"disabled":          {in(scheduler.Disabled, v1.Status{}), nil, "disabled warning Disabled"},
		"collection closed": {in(scheduler.Enabled, v1.Status{WaitsFor: "collection x, which is disabled"}), nil, "postponed warning Not running: it waits for collection x"},
		"completed":         {in(scheduler.Completed, v1.Status{Message: "it ran already"}), nil, "completed note It ran already."},
		"faulted":           {in(scheduler.Faulted, v1.Status{Message: "its last run failed"}), nil, "faulted problem Its last run failed."},
		"damaged":           {in(scheduler.Damaged, v1.Status{Message: "it cannot be read"}), nil, "damaged problem it cannot be read"},
		"stranded":          {in(scheduler.Enabled, v1.Status{}), nil, "enabled warning No run is scheduled"},
		"disabled, and a run by hand goes on": {
			in(scheduler.Disabled, v1.Status{}), []control.DetachedRun{{Running: true, Manual: true}}, "running warning Disabled",
		},
		"overlapping": {
			in(scheduler.Enabled, v1.Status{Next: next}), []control.DetachedRun{{Running: true}, {}}, "running  Waits for its next run. 2 concurrent runs are active.",
		},
	} {
		s := standingOf(c.v, c.beside, noon)
		if got := s.State + " " + s.Class + " " + s.Text; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTimeline draws each outcome in its shape, and tells the same in words.
func TestTimeline(t *testing.T) {
	records := []*scheduler.Record{
		of(6, 9, scheduler.OutcomeCompleted, try(1, scheduler.MainPhase), func(r *scheduler.Record) { r.Kind = scheduler.Manual }),
		of(5, 8, scheduler.OutcomePostponed), of(4, 7, scheduler.OutcomeSkipped, func(r *scheduler.Record) { r.Reason = scheduler.ReasonOverlap }),
		of(3, 6, scheduler.OutcomeFailed, try(1, scheduler.MainPhase)),
		of(2, 5, scheduler.OutcomeFaulted), of(2, 4, scheduler.OutcomeFailed, try(2, scheduler.MainPhase)), of(2, 3, scheduler.OutcomeFailed, try(1, scheduler.MainPhase)),
		of(1, 2, scheduler.OutcomeCompleted, try(1, scheduler.MainPhase), late(time.Minute)),
	}
	next := &coming{Times: []comingRun{{At: noon.Add(time.Hour), Job: "13:00"}, {Change: "the clock"}, {At: noon.Add(2 * time.Hour), Job: "14:00"}}}
	changes := []*audit.Entry{
		{Time: noon.Add(5*time.Minute + 30*time.Second), Op: "put", Changed: []string{"description", "\u202ejitter"}},
		{Time: noon.Add(4*time.Minute + 30*time.Second), Op: "run", Occurrence: "default/a@x"},
		{Time: noon.Add(4*time.Minute + 20*time.Second), Op: "disable"},
		{Time: noon.Add(time.Minute + time.Second), Op: "enable"},
		{Time: noon.Add(-time.Hour), Op: "put"},
	}
	d := timelineOf(recent{runs: runsOf(records, 0), changes: changes}, next, time.UTC)
	want := "The last 6 runs. 2 completed. 1 failed. 1 faulted. 1 skipped. 1 postponed. 1 late. 1 retried. 2 are planned."
	if d.Summary != want {
		t.Errorf("%s\nwant %s", d.Summary, want)
	}
	var out strings.Builder
	must.Do(t, page().ExecuteTemplate(&out, "job-timeline", d))
	for _, one := range []string{
		`class="t-completed"`, `class="t-failed"`, `class="t-faulted"`, `class="t-skipped"`, `class="t-postponed"`, `class="t-late"`, `class="t-next"`,
		`class="t-manual"`, "×1", "an earlier run was still active", "60 s late", "manual", "13:00: planned",
	} {
		if !strings.Contains(out.String(), one) {
			t.Errorf("the drawing has no %s: %s", one, out.String())
		}
	}
	if f := d.Failure; f == nil || f.State != "failed" || f.Since || !strings.HasSuffix(f.Link, "/runs/2026-03-02T12:03:00Z?before=7") {
		t.Errorf("the last failure is %+v", f)
	}
	if f := failureOf(runsOf(records[3:], 0)); f == nil || !f.Since {
		t.Errorf("nothing has succeeded since, of %+v", f)
	}
	// Six runs, the present and two planned runs are nine columns.
	if first, last := d.Columns[0].At, d.Columns[7].At; first != "5.56%" || d.Now != "72.22%" || last != "94.44%" || d.Width != 9*columnWidth {
		t.Errorf("the columns are from %s to %s, now is at %s", first, last, d.Now)
	}
	// The first edit is between the runs five and six and has the one before it, the other one is after the first run.
	if c := d.Changes; len(c) != 2 || c[0].At != "55.56%" || strings.Count(c[0].Title, "\n") != 1 || strings.Contains(c[0].Title, "\u202e") || c[1].At != "11.11%" {
		t.Errorf("the edits are %+v", c)
	}
}

// TestLastMonth summarizes what was read of the last 30 days, and says how much that is.
func TestLastMonth(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	past := recent{next: 1} // there are earlier ones
	add := func(state string, ago, took time.Duration) {
		past.runs = append(past.runs, &run{State: state, Nominal: now.Add(-ago), Took: took})
	}
	if m := lastMonthOf(past, now); m != nil {
		t.Errorf("without runs: %+v", m)
	}
	const daily = 24 * time.Hour
	add("completed", time.Hour, time.Second)
	add("skipped", 2*time.Hour, 0)
	add("faulted", 3*time.Hour, 3*time.Second)
	if m := lastMonthOf(past, now); m.Days != nil || m.Part != "50" || m.Half != time.Second || m.Most != 3*time.Second || !m.Since.Equal(now.Add(-3*time.Hour)) {
		t.Errorf("of a day: %+v", m)
	}
	add("completed", 10*daily, 2*time.Second)
	m := lastMonthOf(past, now)
	if len(m.Days) != 30 || m.Part != "66" || m.Half != 2*time.Second || !m.Since.Equal(now.Add(-10*daily)) {
		t.Errorf("of ten days: %+v", m)
	}
	for at, want := range map[int]day{
		29: {290, 50, 50, "31 Mar: 1 completed, 1 faulted"}, 28: {280, 0, 0, "30 Mar: 0 runs"}, 19: {190, 100, 0, "21 Mar: 1 completed, 0 faulted"},
		18: {180, 0, 0, "20 Mar: not read"},
	} {
		if m.Days[at] != want {
			t.Errorf("day %d: %+v, want %+v", at, m.Days[at], want)
		}
	}
	past.next = 0
	if m := lastMonthOf(past, now); !m.Since.IsZero() || m.Days[18].Title != "20 Mar: 0 runs" {
		t.Errorf("of all: %+v", m)
	}
	past.next = 1
	add("faulted", 40*daily, time.Hour)
	if m := lastMonthOf(past, now); !m.Since.IsZero() || m.Runs != 3 {
		t.Errorf("of more than a month: %+v", m)
	}
}

// TestTimelineOfNothing draws a job that has neither run nor will.
func TestTimelineOfNothing(t *testing.T) {
	if d := timelineOf(recent{}, nil, time.UTC); len(d.Columns) > 0 {
		t.Errorf("%+v", d)
	}
}

// TestClockChanges finds what lies between two runs.
func TestClockChanges(t *testing.T) {
	berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 12, 0, 0, 0, time.UTC) }
	forward := words.Text("job.next.forward", "Sun 2026-03-29", "02:00", "03:00")
	back := words.Text("job.next.back", "Sun 2026-10-25", "03:00", "02:00")
	for _, c := range []struct {
		after, until time.Time
		want         string
	}{
		{day(2026, 3, 28), day(2026, 3, 29), forward},
		{day(2026, 10, 24), day(2026, 10, 25), back},
		{day(2026, 6, 1), day(2026, 7, 1), ""},
		{day(2026, 1, 1), day(2030, 1, 1), forward + back},
	} {
		if got := strings.Join(clockChanges(berlin, c.after, c.until), ""); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.after, c.until, got, c.want)
		}
	}
	if all := clockChanges(time.UTC, day(2000, 1, 1), day(2100, 1, 1)); len(all) > 0 {
		t.Errorf("UTC changes: %v", all)
	}
}
