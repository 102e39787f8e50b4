package spec_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// FuzzNext reads any recurrence and asks its plan at any instant: Next is later, Last and Count agree with it, and
// nothing panics.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{
		`{"frequency":"month","interval":7,"schedule":{"monthDays":[29,-31],"months":[2,3]}}`,
		`{"frequency":"week","interval":3,"schedule":{"weekDays":["sunday","monday"],"minutes":[5]}}`,
		`{"frequency":"minute","interval":997,"schedule":{"hours":[9],"minutes":[17],"months":[6]}}`,
		`{"frequency":"second","interval":7,"schedule":{"hours":[23]},"endTime":"2030-01-01"}`,
		`{"frequency":"year","interval":3,"schedule":{"months":[2]}}`,
	} {
		f.Add(seed, int64(1_704_874_837), int64(1_204_874_837), int64(1_804_874_837), uint32(250_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, start, created, at int64, nano uint32) {
		v, err := document.Parse([]byte(text))
		if err != nil {
			return
		}
		r := document.NewReader()
		rec := spec.ReadRecurrence(r.Object(v, ""))
		if r.Err() != nil {
			return
		}
		const edge = 253_402_300_799 // the end of the year 9999
		begin := time.Unix(start%edge, int64(nano)%1e9).UTC()
		if start == 0 {
			begin = time.Time{}
		}
		p, err := spec.NewPlan(spec.Timing{Start: begin, Recurrence: &rec}, time.Unix(created%edge, 0))
		if err != nil {
			t.Fatalf("read without problems, but %v", err)
		}
		checkConsistent(t, p, time.Unix(at, int64(nano)%1e9))
	})
}

func checkConsistent(t *testing.T, p *spec.Plan, at time.Time) {
	t.Helper()
	next, ok := p.Next(at)
	if !ok {
		return
	}
	if !next.After(at) {
		t.Fatalf("Next(%v) = %v", at, next)
	}
	if again, ok := p.Next(next.Add(-1)); !ok || !again.Equal(next) {
		t.Fatalf("Next(%v) = %v, but Next a nanosecond before that = %v, %v", at, next, again, ok)
	}
	if last, ok := p.Last(next); !ok || !last.Equal(next) {
		t.Fatalf("Next(%v) = %v, but Last of that = %v, %v", at, next, last, ok)
	}
	if last, ok := p.Last(next.Add(-1)); ok && last.After(at) {
		t.Fatalf("Next(%v) = %v, but %v is in between", at, next, last)
	}
	if n := p.Count(at.Add(1), next); n != 1 {
		t.Fatalf("Next(%v) = %v, but Count is %d", at, next, n)
	}
}
