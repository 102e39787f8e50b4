package stats

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// faulted is the record of a run of a job that was given up so long before noon.
func faulted(job string, ago time.Duration) *scheduler.Record {
	k := scheduler.Key{Collection: "c", Job: job}
	return &scheduler.Record{
		Job: k, Outcome: scheduler.OutcomeFaulted, Occurrence: scheduler.OccurrenceID(k, noon.Add(-ago)), FaultedAt: noon.Add(-ago),
		Status: 503, Message: "503 Service Unavailable",
	}
}

// jobsOf are the jobs of failures.
func jobsOf(all []Failure) (names []string) {
	for _, f := range all {
		names = append(names, f.Job)
	}
	return names
}

// TestLastFailures has more runs that fail than are kept, of two processes, in any order.
func TestLastFailures(t *testing.T) {
	var one, other Recorder
	for i := range 2 * FailuresMost {
		ago := time.Duration(2*FailuresMost-i) * time.Minute
		one.Add(faulted("a"+string(rune('a'+i)), ago), noon)
		if i%2 == 0 {
			other.Add(faulted("b"+string(rune('a'+i)), ago-time.Second), noon)
		}
	}
	one.Add(attempt(scheduler.OutcomeFailed, noon, 0), noon) // is tried again
	if n := len(one.Failures()); n != FailuresMost {
		t.Errorf("%d failures are kept", n)
	}
	shown := func(parts ...[]Failure) *Board {
		b := NewBoard(noon)
		for _, p := range parts {
			b.AddFailures(p)
		}
		b.Finish()
		return b
	}
	old := []Failure{{Job: "c/old", At: noon.Add(-25 * time.Hour)}}
	b := shown(one.Failures(), other.Failures(), other.Failures(), old)
	want := []string{"c/at", "c/bs", "c/as", "c/ar", "c/bq", "c/aq", "c/ap", "c/bo", "c/ao", "c/an"}
	if diff := cmp.Diff(want, jobsOf(b.Failures)); diff != "" {
		t.Errorf("the last failures (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(b.Failures, shown(old, other.Failures(), one.Failures()).Failures); diff != "" {
		t.Errorf("another order:\n%s", diff)
	}
	if got := b.Failures[0]; got.Why != "503 Service Unavailable" || !got.At.Equal(noon.Add(-time.Minute)) {
		t.Errorf("%+v", got)
	}
}

// TestFailuresAreTold writes failures when there are others, and reads them.
func TestFailuresAreTold(t *testing.T) {
	var r Recorder
	var told [][]byte
	tell := func(ok bool) {
		r.ChangedFailures(func(data []byte) bool {
			told = append(told, data)
			return ok
		})
	}
	tell(true)
	rec := faulted("job", time.Minute)
	rec.Response = strings.Repeat("long\n\u202eü ", 1000)
	r.Record(rec)
	tell(false)
	tell(true)
	tell(true)
	if len(told) != 2 {
		t.Fatalf("they were told %d times", len(told))
	}
	got, err := ReadFailures(told[1])
	if diff := cmp.Diff(r.Failures(), got); err != nil || diff != "" {
		t.Errorf("%v, read (-want +got):\n%s", err, diff)
	}
	if why := got[0].Why; len(why) > whyMost+len("…") || !utf8.ValidString(why) || strings.Contains(why, "\n") || !strings.HasPrefix(why, "503 Service Unavailable: long") {
		t.Errorf("%d bytes: %q", len(why), why)
	}
	if _, err := ReadFailures([]byte("[{")); err == nil {
		t.Error("half of it is read")
	}
}
