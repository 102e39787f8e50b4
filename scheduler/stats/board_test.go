package stats

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// TestBoardsDoNotDependOnOrder adds hours and reports in two orders.
func TestBoardsDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type part struct {
			period Period
			data   []byte
			report *Report
		}
		var parts []part
		for range rapid.IntRange(0, 6).Draw(t, "hours") {
			p := HourOf(noon.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "ago")) * time.Hour))
			if rapid.Bool().Draw(t, "day") {
				p = Period{Day, p.Number / 24}
			}
			parts = append(parts, part{period: p, data: hours.Draw(t, "hour").encode()})
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "reports") {
			ago := time.Duration(rapid.IntRange(0, 60).Draw(t, "ago")) * time.Second
			parts = append(parts, part{report: &Report{
				ID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"), At: noon.Add(-ago - time.Duration(i)), InFlight: i,
				Running: []Running{{Job: rapid.SampledFrom([]string{"c/x", "c/y"}).Draw(t, "job"), Since: noon.Add(-ago)}},
				Targets: []Target{{Name: rapid.SampledFrom([]string{"t", "u"}).Draw(t, "target"), Failed: uint64(i)}},
			}})
		}
		board := func(parts []part) *Board {
			b := NewBoard(noon)
			for _, p := range parts {
				if p.report != nil {
					b.AddReport(*p.report)
				} else if err := b.AddPeriod(p.period, p.data); err != nil {
					t.Fatal(err)
				}
			}
			b.Finish()
			return b
		}
		one := board(parts)
		two := board(rapid.Permutation(parts).Draw(t, "order"))
		if !slices.Equal(one.Hour.Steps, two.Hour.Steps) || !slices.Equal(month(one), month(two)) || one.Last != two.Last {
			t.Fatal("other counts in another order")
		}
		if diff := cmp.Diff(one, two, cmpopts.IgnoreFields(Board{}, "Hour", "Last"), cmpopts.IgnoreUnexported(Board{})); diff != "" {
			t.Fatalf("another order:\n%s", diff)
		}
	})
}

func month(b *Board) []Minute { return b.Series(b.Now.Add(-30*Day), b.Now).Steps }

// TestSeries runs something every minute for three days, in two processes, one after the other.
func TestSeries(t *testing.T) {
	begin := noon.Truncate(Day)
	now, kept := begin, map[string][]byte{}
	for _, process := range []string{"a", "b"} {
		var r Recorder
		for range 36 * 60 {
			r.Add(attempt(scheduler.OutcomeCompleted, now, time.Millisecond), now)
			if now = now.Add(time.Minute); now.Minute()%15 == 0 {
				r.Changed(func(p Period, data []byte) bool { kept[p.Name(process)] = data; return true })
			}
		}
	}
	b := NewBoard(now)
	for name, data := range kept {
		p, ok := ParsePeriod(name)
		if err := b.AddPeriod(p, data); !ok || err != nil {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
	for _, test := range []struct {
		from, to time.Duration // before now
		step     time.Duration
		steps    int
		runs     uint64
	}{
		{15 * time.Minute, 0, time.Minute, 15, 15},
		{time.Hour, -time.Hour, time.Minute, 60, 60},
		{6 * time.Hour, 0, 5 * time.Minute, 72, 360},
		{24 * time.Hour, 0, 10 * time.Minute, 144, 1440},
		{10*time.Hour + 30*time.Second, 10 * time.Hour, time.Minute, 1, 1},
		{40 * time.Hour, 34 * time.Hour, time.Hour, 6, 360}, // of both processes
		{7 * Day, 0, time.Hour, 168, 3 * 1440},
		{30 * Day, 0, 6 * time.Hour, 120, 3 * 1440},
		{300 * Day, 0, 6 * time.Hour, 120, 3 * 1440},
		{0, 0, time.Minute, 1, 1},
	} {
		s := b.Series(now.Add(-test.from), now.Add(-test.to))
		var sum Minute
		for i := range s.Steps {
			sum.Add(&s.Steps[i])
		}
		if s.Step != test.step || len(s.Steps) != test.steps || sum.Completed != test.runs || sum.Lateness.Count() != test.runs {
			t.Errorf("from %v to %v ago: %d steps of %v with %d runs", test.from, test.to, len(s.Steps), s.Step, sum.Completed)
		}
		if s != b.Series(now.Add(-test.from), now.Add(-test.to)) {
			t.Errorf("from %v to %v ago: computed twice", test.from, test.to)
		}
	}
}

// TestPeriodNames reads what is no name of a period.
func TestPeriodNames(t *testing.T) {
	for _, name := range []string{"", "hour", "hour.a", "hour.a.x", "week.a.1", "days.a.1"} {
		if p, ok := ParsePeriod(name); ok {
			t.Errorf("%q is %v", name, p)
		}
	}
	if p, ok := ParsePeriod("hour.a.5"); !ok || p.Name("a") != "hour.a.5" || !p.Start().Equal(time.Unix(5*3600, 0)) {
		t.Errorf("got %v", p)
	}
}

// TestAdditionIsWhatItSays adds the same hour of two processes.
func TestAdditionIsWhatItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := hours.Draw(t, "a"), hours.Draw(t, "b")
		board := NewBoard(noon)
		for _, h := range []*counted{a, b} {
			if err := board.AddPeriod(h.Period, h.encode()); err != nil {
				t.Fatal(err)
			}
		}
		for i := range board.Hour.Steps {
			want := a.steps[i]
			want.Add(&b.steps[i])
			if board.Hour.Steps[i] != want {
				t.Fatalf("minute %d is not the sum of both", i)
			}
		}
	})
}

// TestReplicas has processes that are there, that stopped and that are silent.
func TestReplicas(t *testing.T) {
	b := NewBoard(noon)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	for _, r := range []Report{
		{ID: "1", Name: "b", At: ago(time.Second), InFlight: 2, Queued: 1, Running: []Running{{Job: "c/later", Since: ago(time.Second)}}},
		{ID: "2", Name: "a", At: ago(9 * time.Second), InFlight: 3, Running: []Running{{Job: "c/first", Since: ago(time.Minute)}}},
		{ID: "2", Name: "a", At: ago(19 * time.Second), InFlight: 9},
		{ID: "3", Name: "c", At: ago(time.Minute), InFlight: 9, Audit: &Audit{At: ago(2 * time.Minute), Jobs: 7}},
		{ID: "4", Name: "d", At: ago(time.Second), Stopped: true, Audit: &Audit{At: ago(time.Hour)}},
	} {
		b.AddReport(r)
	}
	b.Finish()
	var names, jobs []string
	for _, r := range b.Replicas {
		names = append(names, r.Name)
	}
	for _, r := range b.Running {
		jobs = append(jobs, r.Job)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("replicas (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c/first", "c/later"}, jobs); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if b.InFlight() != 5 || b.Waiting() != 1 || b.Audit == nil || b.Audit.Jobs != 7 {
		t.Errorf("%d run, %d wait, the last audit is %+v", b.InFlight(), b.Waiting(), b.Audit)
	}
}

// TestTargetsOfSeveral adds what two processes know of the same targets.
func TestTargetsOfSeveral(t *testing.T) {
	b := NewBoard(noon)
	until := noon.Add(time.Minute)
	b.AddReport(Report{ID: "1", At: noon, Targets: []Target{
		{Name: "t", Attempts: 1, Failed: 1, Mean: 4 * time.Second, Longest: 4 * time.Second}, {Name: "t", Collection: "c", State: TargetSlow},
	}})
	b.AddReport(Report{ID: "2", At: noon, Targets: []Target{
		{Name: "t", Attempts: 3, Mean: 0, InFlight: 2}, {Name: "t", Collection: "c", State: TargetOpen, Until: until, Queued: 4},
	}})
	b.Finish()
	want := []Target{
		{Name: "t", Collection: "c", State: TargetOpen, Until: until, Queued: 4},
		{Name: "t", Attempts: 4, Failed: 1, Mean: time.Second, Longest: 4 * time.Second, InFlight: 2},
	}
	if diff := cmp.Diff(want, b.Targets); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMergeTargets joins what limits say and what attempts came to.
func TestMergeTargets(t *testing.T) {
	limited := []Target{{Name: "quiet", InFlight: 3}, {Name: "t", Collection: "c", State: TargetLimited, Queued: 2}}
	tried := []Target{{Name: "t", Attempts: 5, Failed: 1}, {Name: "u", Attempts: 1, Failed: 1}}
	want := []Target{{Name: "t", Collection: "c", State: TargetLimited, Queued: 2, Attempts: 5, Failed: 1}, {Name: "u", Attempts: 1, Failed: 1}}
	if diff := cmp.Diff(want, MergeTargets(limited, tried)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestReportsAreBounded has a process with many attempts and targets.
func TestReportsAreBounded(t *testing.T) {
	r := Report{Sources: map[string]source.Status{}}
	for i := range SourcesMost + 50 {
		r.Sources[strconv.Itoa(i)] = source.Status{Received: 1, LastEvent: noon, ErrorTime: noon.Add(time.Duration(i) * time.Second)}
	}
	for i := range 100 {
		r.Running = append(r.Running, Running{Job: "c/j", Since: noon.Add(-time.Duration(i) * time.Second)})
		r.Targets = append(r.Targets, Target{Name: "t", Failed: uint64(i)})
	}
	r.Bound()
	if len(r.Running) != RunningMost || !r.Running[0].Since.Equal(noon.Add(-99*time.Second)) {
		t.Errorf("%d attempts, the first since %s", len(r.Running), r.Running[0].Since)
	}
	if len(r.Targets) != TargetsMost || r.Targets[0].Failed != 99 {
		t.Errorf("%d targets, the first with %d", len(r.Targets), r.Targets[0].Failed)
	}
	if _, quiet := r.Sources["49"]; len(r.Sources) != SourcesMost || quiet || r.Sources["50"].Received != 1 {
		t.Errorf("%d sources: %+v", len(r.Sources), r.Sources)
	}
	again := r
	again.At = noon
	if !r.Same(&again) {
		t.Error("a report is not the same as one that says the same later")
	}
	again.InFlight++
	if r.Same(&again) {
		t.Error("a report is the same as one that says something else")
	}
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if read, err := ReadReport(data); err != nil || !slices.Equal(read.Targets, r.Targets) || !cmp.Equal(read.Sources, r.Sources) {
		t.Errorf("read %+v, %v", read, err)
	}
}

// TestActivity has the counts of two minutes and of the hour, and the targets in trouble.
func TestActivity(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 30, 0, time.UTC)
	b := NewBoard(now)
	b.Hour.Steps[0].Completed, b.Hour.Steps[minutesShown-2].Completed = 100, 10
	m := &b.Hour.Steps[minutesShown-1]
	m.Completed, m.Failed, m.Attempts, m.Refused, m.Skipped, m.Postponed = 5, 1, 9, 3, 2, 4
	m.Lateness.Observe(time.Second)
	b.AddReport(Report{ID: "a", At: now, InFlight: 2, Queued: 1, Targets: []Target{{Name: "a:1", State: TargetOpen, Failed: 3}}})
	b.AddReport(Report{ID: "b", At: now, InFlight: 1})
	b.Finish()
	a := b.Activity()
	late := a.Recent.LatenessP99
	if d := time.Duration(late); d < 900*time.Millisecond || d > 1100*time.Millisecond {
		t.Errorf("the attempt was %v late", d)
	}
	want := &v1.Activity{
		At: now, Schedulers: 2, InFlight: 3, Waiting: 1, Targets: []v1.ActivityTarget{{Target: "a:1", State: "open", Failed: 3}},
		Recent: v1.ActivityCounts{
			Since: now.Add(-90 * time.Second), Completed: 15, Faulted: 1, Attempts: 9, FailedAttempts: 3, Skipped: 2, Postponed: 4,
			LatenessP50: late, LatenessP99: late,
		},
	}
	want.Hour = want.Recent
	want.Hour.Since, want.Hour.Completed = now.Add(-59*time.Minute-30*time.Second), 115
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
