package spec_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// TestAgainstOracle compares random recurrences with the oracle, in a window at or long after their start.
func TestAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecurrence(t)
		start := drawTime(t, "start")
		s, err := r.Compile(start, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		from := start.AddDate(drawAge(t), 0, rapid.IntRange(-3, 40).Draw(t, "days later"))
		to := from.Add(window(r))
		want := oracle{r, start}.walk(from, to)
		got := walk(s, from, to)
		if !slices.Equal(got, want) {
			t.Fatalf("%+v from %v, in %v … %v:\n got %d %v\nwant %d %v", r, start, from, to, len(got), head(got), len(want), head(want))
		}
		if n := s.Count(from, to); n != len(want) {
			t.Fatalf("%+v from %v: Count(%v, %v) = %d, want %d", r, start, from, to, n, len(want))
		}
		for range 20 {
			checkAt(t, s, want, from, to)
		}
	})
}

// checkAt compares Next, Last and Count at a random instant of the window with the runs in it.
func checkAt(t *rapid.T, s *spec.Schedule, runs []time.Time, from, to time.Time) {
	at := from.Add(time.Duration(rapid.Int64Range(0, int64(to.Sub(from))).Draw(t, "at")))
	if len(runs) > 0 && rapid.Bool().Draw(t, "near a run") {
		at = rapid.SampledFrom(runs).Draw(t, "run").Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "nanoseconds off")))
	}
	i, exact := slices.BinarySearchFunc(runs, at, time.Time.Compare)
	after := i // the runs before at, and at it
	if exact {
		after++
	}
	if next, ok := s.Next(at); after < len(runs) && (!ok || !next.Equal(runs[after])) {
		t.Fatalf("Next(%v) = %v, %v; want %v", at, next, ok, runs[after])
	}
	if last, ok := s.Last(at); after > 0 && (!ok || !last.Equal(runs[after-1])) {
		t.Fatalf("Last(%v) = %v, %v; want %v", at, last, ok, runs[after-1])
	}
	if !at.Before(from) {
		if n := s.Count(from, at); n != after {
			t.Fatalf("Count(%v, %v) = %d, want %d", from, at, n, after)
		}
	}
}

func walk(s *spec.Schedule, from, to time.Time) []time.Time {
	var runs []time.Time
	t, ok := s.Next(from.Add(-1))
	for ok && !t.After(to) {
		runs = append(runs, t)
		t, ok = s.Next(t)
	}
	return runs
}

func head(times []time.Time) []time.Time { return times[:min(len(times), 12)] }

// window returns a length of time in which r should run a few times, and that the oracle walks in good time.
func window(r spec.Recurrence) time.Duration {
	const day = 24 * time.Hour
	switch r.Frequency {
	case spec.Second:
		return 6 * time.Hour
	case spec.Minute:
		return 4 * day
	case spec.Hour:
		return 60 * day
	case spec.Day, spec.Week:
		return 400 * day
	default:
		return 1500 * day
	}
}

func drawAge(t *rapid.T) int {
	return rapid.SampledFrom([]int{0, 0, 1, 10, 250}).Draw(t, "years later")
}

func drawTime(t *rapid.T, label string) time.Time {
	start := time.Date(rapid.IntRange(1995, 2105).Draw(t, label), 1, 1, 0, 0, 0, 0, time.UTC).
		Add(time.Duration(rapid.Int64Range(0, 366*24*3600).Draw(t, "seconds")) * time.Second)
	switch rapid.IntRange(0, 5).Draw(t, "shape") {
	case 0: // a month's end
		start = start.AddDate(0, 1, -start.Day())
	case 1:
		start = start.Add(time.Duration(rapid.IntRange(0, 999_999_999).Draw(t, "nanoseconds")))
	case 2:
		start = start.Truncate(time.Hour)
	}
	return start
}

func drawRecurrence(t *rapid.T) spec.Recurrence {
	r := spec.Recurrence{
		Frequency: spec.Frequency(rapid.IntRange(int(spec.Second), int(spec.Year)).Draw(t, "frequency")),
		Interval:  rapid.SampledFrom([]int{0, 1, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 18}).Draw(t, "interval"),
	}
	if r.Frequency < spec.Week && rapid.Bool().Draw(t, "large") {
		r.Interval = rapid.IntRange(1, 548).Draw(t, "interval")
	}
	e := &r.Schedule
	e.Minutes = drawSet(t, "minutes", 0, 59)
	e.Hours = drawSet(t, "hours", 0, 23)
	e.Months = drawSet(t, "months", 1, 12)
	switch r.Frequency {
	case spec.Week:
		for _, n := range drawSet(t, "weekDays", 0, 6) {
			e.WeekDays = append(e.WeekDays, time.Weekday(n))
		}
	case spec.Month:
		e.MonthDays = slices.DeleteFunc(drawSet(t, "monthDays", -31, 31), func(n int) bool { return n == 0 })
		for _, n := range drawSet(t, "monthlyOccurrences", 0, 6) {
			e.MonthlyOccurrences = append(e.MonthlyOccurrences, spec.MonthlyOccurrence{
				Day: time.Weekday(n), Occurrence: rapid.IntRange(-5, 5).Draw(t, "occurrence"),
			})
		}
	default:
	}
	if rapid.IntRange(0, 9).Draw(t, "ends") == 0 {
		r.End = drawTime(t, "end")
	}
	return r
}

// drawSet draws an element of a schedule: mostly none, else a few numbers, else many.
func drawSet(t *rapid.T, label string, low, high int) []int {
	switch rapid.IntRange(0, 7).Draw(t, label+" kind") {
	case 0, 1:
		return rapid.SliceOfN(rapid.IntRange(low, high), 1, 3).Draw(t, label)
	case 2:
		return rapid.SliceOfN(rapid.IntRange(low, high), 1, 7).Draw(t, label)
	}
	return nil
}
