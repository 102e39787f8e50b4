package spec_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// benchmarks are recurrences that started ten years before they are asked.
var benchmarks = []struct {
	name string
	r    spec.Recurrence
}{
	{"minute", spec.Recurrence{Frequency: spec.Minute}},
	{"days", spec.Recurrence{Frequency: spec.Day, Interval: 2}},
	{"month", spec.Recurrence{Frequency: spec.Month}},
	{"quarters", spec.Recurrence{Frequency: spec.Day, Schedule: spec.Elements{Minutes: []int{0, 15, 30, 45}}}},
	{"weekdays", spec.Recurrence{Frequency: spec.Week, Interval: 2, Schedule: spec.Elements{Hours: []int{9, 17}, WeekDays: []time.Weekday{1, 3, 5}}}},
	{"lastFriday", spec.Recurrence{Frequency: spec.Month, Schedule: spec.Elements{MonthlyOccurrences: []spec.MonthlyOccurrence{{Day: time.Friday, Occurrence: -1}}}}},
	{"leapDay", spec.Recurrence{Frequency: spec.Month, Schedule: spec.Elements{MonthDays: []int{29}, Months: []int{2}}}},
	{"leapFriday", spec.Recurrence{Frequency: spec.Month, Schedule: spec.Elements{
		MonthDays: []int{29}, Months: []int{2}, MonthlyOccurrences: []spec.MonthlyOccurrence{{Day: time.Friday}},
	}}},
	{"minuteGrid", spec.Recurrence{Frequency: spec.Minute, Interval: 20, Schedule: spec.Elements{Hours: []int{9}}}},
	{"oddGrid", spec.Recurrence{Frequency: spec.Minute, Interval: 997, Schedule: spec.Elements{Hours: []int{9}, Minutes: []int{17}}}},
	{"secondsOfJune", spec.Recurrence{Frequency: spec.Second, Interval: 7, Schedule: spec.Elements{Hours: []int{9}, Months: []int{6}}}},
	{"never", spec.Recurrence{Frequency: spec.Month, Schedule: spec.Elements{MonthDays: []int{30}, Months: []int{2}}}},
}

func BenchmarkNext(b *testing.B) {
	start := time.Date(2014, 1, 10, 8, 20, 37, 0, time.UTC)
	at := start.AddDate(10, 0, 0)
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			s, err := bench.r.Compile(start, time.Time{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s.Next(at.Add(time.Duration(i%1000) * 8 * time.Hour))
				i++
			}
		})
	}
	b.Run("timeDate", func(b *testing.B) { // the baseline: one date, taken apart and put together
		i := 0
		for b.Loop() {
			year, month, day := at.Add(time.Duration(i%1000) * 8 * time.Hour).Date()
			_ = time.Date(year, month, day+1, 9, 0, 0, 0, time.UTC)
			i++
		}
	})
}

func BenchmarkCountTenYears(b *testing.B) {
	start := time.Date(2004, 1, 10, 8, 20, 37, 0, time.UTC)
	from, to := start.AddDate(10, 0, 0), start.AddDate(20, 0, 0)
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			s, err := bench.r.Compile(start, time.Time{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Count(from, to)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	start := time.Date(2014, 1, 10, 8, 20, 37, 0, time.UTC)
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.r.Compile(start, time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	start := time.Date(2014, 1, 10, 8, 20, 37, 0, time.UTC)
	for _, bench := range benchmarks {
		p, err := spec.NewPlan(spec.Timing{Start: start, Recurrence: &bench.r}, start)
		if err != nil {
			t.Fatal(err)
		}
		at := start.AddDate(10, 0, 0)
		// A sync.Pool loses every fourth object under the race detector. An allocation of every run shows each time.
		allocs := 1.0
		for tries := 0; allocs != 0 && tries < 5; tries++ {
			allocs = testing.AllocsPerRun(100, func() {
				next, _ := p.Next(at)
				p.Last(next)
				p.Count(at, next)
			})
		}
		if allocs != 0 {
			t.Errorf("%s: %v allocations", bench.name, allocs)
		}
	}
}
