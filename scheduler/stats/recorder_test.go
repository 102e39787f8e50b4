package stats

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// attempt is the record of one that ended at a time, and began late by so much.
func attempt(outcome scheduler.Outcome, ended time.Time, late time.Duration) *scheduler.Record {
	const took = 20 * time.Millisecond
	started := ended.Add(-took)
	return &scheduler.Record{
		ID: "c/j@1#1", Outcome: outcome, Due: started.Add(-late), Started: started, Ended: ended, Duration: took, Target: "example.org:443",
	}
}

// shown is what a board has of a recorder alone.
func shown(t *testing.T, r *Recorder, now time.Time) *Board {
	t.Helper()
	b := NewBoard(now)
	r.Periods(func(p Period, data []byte) {
		if err := b.AddPeriod(p, data); err != nil {
			t.Error(err)
		}
	})
	b.Finish()
	return b
}

// TestRecordsAreCounted has each kind of record.
func TestRecordsAreCounted(t *testing.T) {
	now := noon
	var r Recorder
	for _, rec := range []*scheduler.Record{
		attempt(scheduler.OutcomeCompleted, now, time.Millisecond),
		attempt(scheduler.OutcomeFailed, now, time.Millisecond),
		attempt(scheduler.OutcomeFailed, now, time.Second),
		{Outcome: scheduler.OutcomeFaulted, Ended: now.Add(-time.Hour), FaultedAt: now},
		{Outcome: scheduler.OutcomeSkipped, Ended: now, Count: 7},
		{Outcome: scheduler.OutcomePostponed, Ended: now, Count: 1},
	} {
		r.Add(rec, now)
	}
	saved := attempt(scheduler.OutcomeCompleted, now, 0)
	saved.Phase = scheduler.ErrorPhase // an errorAction is no run of its own
	r.Add(saved, now)
	b := shown(t, &r, now)
	got := b.Hour.Steps[minutesShown-1]
	if n := got.Lateness.Count(); n != 4 {
		t.Errorf("the lateness of %d attempts is known", n)
	}
	got.Lateness = Histogram{}
	if diff := cmp.Diff(Minute{Completed: 1, Failed: 1, Attempts: 4, Refused: 2, Skipped: 7, Postponed: 1}, got); diff != "" {
		t.Errorf("the last minute (-want +got):\n%s", diff)
	}
	if day := b.Series(now.Add(-24*time.Hour), now).Steps; b.Last.Completed != 1 || day[len(day)-1].Completed != 1 {
		t.Errorf("the day: %d, its last step: %d", b.Last.Completed, day[len(day)-1].Completed)
	}
}

// TestRecordsCountWhenTheyEnded has records that were stored late.
func TestRecordsCountWhenTheyEnded(t *testing.T) {
	tests := map[string]struct {
		ended time.Duration // before now
		step  int           // of the hour that has it
	}{
		"now":                     {0, 59},
		"a while ago":             {10 * time.Minute, 49},
		"in the hour before":      {55 * time.Minute, 4}, // now is at half past
		"too long ago":            {3 * time.Hour, 59},
		"by a clock that is fast": {-time.Hour, 59},
	}
	now := noon.Add(-29 * time.Minute)
	for name, test := range tests {
		var r Recorder
		r.Add(attempt(scheduler.OutcomeCompleted, now.Add(-test.ended), 0), now)
		for i, m := range shown(t, &r, now).Hour.Steps {
			if want := map[bool]uint64{true: 1}[i == test.step]; m.Completed != want {
				t.Errorf("%s: step %d has %d", name, i, m.Completed)
			}
		}
	}
}

// TestHoursComeAndGo counts a run in each minute of some hours.
func TestHoursComeAndGo(t *testing.T) {
	var r Recorder
	kept := map[Period][]byte{}
	keep := func(p Period, data []byte) bool { kept[p] = data; return true }
	begin := noon.Truncate(time.Hour)
	now := begin
	for ; now.Before(begin.Add(5 * time.Hour)); now = now.Add(time.Minute) {
		r.Add(attempt(scheduler.OutcomeCompleted, now, 0), now)
		r.Changed(keep)
	}
	r.Changed(func(p Period, _ []byte) bool {
		t.Errorf("%v changed although nothing was counted", p)
		return true
	})
	b := NewBoard(now.Add(-time.Second))
	for p, data := range kept {
		if err := b.AddPeriod(p, data); err != nil {
			t.Error(err)
		}
	}
	if len(kept) != 6 || b.Last.Completed != 300 {
		t.Errorf("%d periods have %d runs", len(kept), b.Last.Completed)
	}
	for i, m := range b.Hour.Steps {
		if m.Completed != 1 {
			t.Errorf("minute %d: %d", i, m.Completed)
		}
	}
	if late := NewBoard(now.Add(26 * time.Hour)); late.AddPeriod(HourOf(begin), kept[HourOf(begin)]) != nil || late.Last.Runs() != 0 {
		t.Error("an hour of the day before yesterday counts")
	}
}

// TestWhatIsNotKeptIsOfferedAgain has a store that does not take an hour.
func TestWhatIsNotKeptIsOfferedAgain(t *testing.T) {
	var r Recorder
	r.Add(attempt(scheduler.OutcomeCompleted, noon, 0), noon)
	offered := map[time.Duration]int{}
	for range 3 {
		r.Changed(func(p Period, _ []byte) bool { offered[p.Length]++; return offered[p.Length] == 2 })
	}
	if offered[time.Hour] != 2 || offered[Day] != 2 {
		t.Errorf("offered %v times", offered)
	}
}

// TestTargetsInTrouble has a quick target, a slow one and one that fails, and then nothing for a while.
func TestTargetsInTrouble(t *testing.T) {
	now := noon
	var r Recorder
	add := func(target string, outcome scheduler.Outcome, took time.Duration) {
		rec := attempt(outcome, now, 0)
		rec.Target, rec.Duration = target, took
		r.Add(rec, now)
	}
	for range 3 {
		add("quick:80", scheduler.OutcomeCompleted, time.Millisecond)
		add("slow:80", scheduler.OutcomeCompleted, 2*time.Second)
		add("broken:80", scheduler.OutcomeFailed, time.Millisecond)
		add("", scheduler.OutcomeFailed, time.Hour)
		now = now.Add(2 * time.Minute)
	}
	want := []Target{
		{Name: "broken:80", Attempts: 3, Failed: 3, Mean: time.Millisecond, Longest: time.Millisecond},
		{Name: "slow:80", Attempts: 3, Mean: 2 * time.Second, Longest: 2 * time.Second},
	}
	if diff := cmp.Diff(want, r.Targets(now, 9)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := r.Targets(now, 1); len(got) != 1 || got[0].Name != "broken:80" {
		t.Errorf("the worst: %v", got)
	}
	if got := r.Targets(now.Add(11*time.Minute), 9); len(got) != 0 {
		t.Errorf("after a while: %v", got)
	}
}

// TestManyTargets shows that what is kept of targets is bounded, and that those in trouble are not forgotten.
func TestManyTargets(t *testing.T) {
	var r Recorder
	bad := attempt(scheduler.OutcomeFailed, noon, 0)
	bad.Target = "bad"
	r.Add(bad, noon)
	for i := range 10 * targetsMost {
		good := attempt(scheduler.OutcomeCompleted, noon, 0)
		good.Target = fmt.Sprint("good", i)
		r.Add(good, noon)
	}
	if n := len(r.targets.window[0].tally); n > targetsMost {
		t.Errorf("%d are kept", n)
	}
	if got := r.Targets(noon, 9); len(got) != 1 || got[0].Name != "bad" {
		t.Errorf("got %v", got)
	}
}

// TestRecordTakesNoMemory shows guarantee 1.
func TestRecordTakesNoMemory(t *testing.T) {
	var r Recorder
	rec := attempt(scheduler.OutcomeCompleted, time.Now(), time.Millisecond)
	if n := testing.AllocsPerRun(1000, func() { r.Record(rec) }); n > 0 {
		t.Errorf("%g allocations for a record", n)
	}
}

// BenchmarkRecord is the price of each record.
func BenchmarkRecord(b *testing.B) {
	for name, rec := range map[string]*scheduler.Record{
		"completed": attempt(scheduler.OutcomeCompleted, time.Now(), time.Millisecond), "faulted": faulted("job", 0),
		"failed": failed("job", 0), "unanswered": {
			Outcome: scheduler.OutcomeFailed, Ended: noon, Target: "example.org:443", Summary: strings.Repeat("unknown ", 60),
		},
	} {
		b.Run(name, func(b *testing.B) {
			var r Recorder
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r.Record(rec)
				}
			})
		})
	}
}

// BenchmarkBoard puts a day of three processes together, each of which did something in every minute.
func BenchmarkBoard(b *testing.B) {
	h := &counted{}
	for i := range h.steps {
		h.steps[i].Completed, h.steps[i].Attempts = 30_000, 30_000
		for d := 200 * time.Microsecond; d < 50*time.Millisecond; d += d / 8 {
			h.steps[i].Lateness.Observe(d)
		}
	}
	data := h.encode()
	for b.Loop() {
		board := NewBoard(noon)
		for range 3 {
			for i := range 25 {
				_ = board.AddPeriod(HourOf(noon.Add(-time.Duration(i)*time.Hour)), data)
			}
		}
		board.Finish()
	}
	b.ReportMetric(float64(len(data)), "bytes/hour")
}
