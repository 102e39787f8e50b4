package cron

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// zoneNamed returns the zone of that name.
func zoneNamed(tb testing.TB, name string) *time.Location {
	tb.Helper()
	return must.Get(tz.Load(name))(tb)
}

// compiled compiles a rule.
func compiled(tb testing.TB, rule language.Rule, s language.Context) *instant.Schedule {
	tb.Helper()
	return must.Get(rule.Compile(s))(tb)
}

// nexts returns up to n instants after t.
func nexts(s *instant.Schedule, t time.Time, n int) []time.Time {
	var list []time.Time
	for len(list) < n {
		var ok bool
		if t, ok = s.Next(t); !ok {
			break
		}
		list = append(list, t)
	}
	return list
}

// consistent checks that Last and Count agree with the instants that Next has listed.
func consistent(tb testing.TB, s *instant.Schedule, after time.Time, list []time.Time) {
	tb.Helper()
	for i, at := range list {
		if !at.After(after) || i > 0 && !at.After(list[i-1]) {
			tb.Fatalf("%v does not come after %v", at, list[max(i-1, 0)])
		}
		if last, ok := s.Last(at); !ok || !last.Equal(at) {
			tb.Fatalf("Last(%v) = %v, %v", at, last, ok)
		}
		if i > 0 {
			if last, ok := s.Last(at.Add(-1)); !ok || !last.Equal(list[i-1]) {
				tb.Fatalf("Last just before %v = %v, %v, not %v", at, last, ok, list[i-1])
			}
		}
		if n := s.Count(after.Add(1), at); n != i+1 {
			tb.Fatalf("Count after %v to %v = %d, not %d", after, at, n, i+1)
		}
	}
}
