// Package spectest is what the tests of several schedule languages have in common.
package spectest

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// Awkward are zones whose clocks do unusual things: half-hour and two-hour changes, changes at midnight, a day left
// out, winter time that is "daylight saving", Ramadan, one change a year.
var Awkward = []string{
	"America/New_York", "Europe/London", "Europe/Dublin", "Australia/Lord_Howe", "Antarctica/Troll", "America/Sao_Paulo",
	"America/Havana", "Asia/Beirut", "Pacific/Apia", "Africa/Casablanca", "Asia/Kathmandu", "America/St_Johns",
	"Pacific/Chatham", "Asia/Gaza", "America/Godthab", "Africa/Monrovia", "Europe/Volgograd", "Antarctica/Casey", "UTC",
}

// Rows reads a file of JSON lines.
func Rows[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list
}

// ZoneNamed returns the zone of that name.
func ZoneNamed(tb testing.TB, name string) *time.Location {
	tb.Helper()
	zone, err := tz.Load(name)
	if err != nil {
		tb.Fatal(err)
	}
	return zone
}

// Compiled compiles a rule.
func Compiled[Setting, Schedule any](tb testing.TB, rule interface {
	Compile(s Setting) (Schedule, error)
}, s Setting,
) Schedule {
	tb.Helper()
	schedule, err := rule.Compile(s)
	if err != nil {
		tb.Fatal(err)
	}
	return schedule
}

// schedule is what the helpers need of a schedule.
type schedule interface {
	Next(after time.Time) (time.Time, bool)
	Last(notAfter time.Time) (time.Time, bool)
	Count(from, to time.Time) int
}

// Nexts returns up to n instants after t.
func Nexts(s schedule, t time.Time, n int) []time.Time {
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

// Consistent checks that Last and Count agree with the instants that Next has listed.
func Consistent(tb testing.TB, s schedule, after time.Time, list []time.Time) {
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
