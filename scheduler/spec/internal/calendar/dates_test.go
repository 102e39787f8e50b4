package calendar

import (
	"math/rand/v2"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// TestRareDates compares dates that were looked up beforehand with the same dates, searched.
func TestRareDates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	someDays := func() *YearDays {
		days := EveryDay
		if random.IntN(2) == 0 {
			days = days.And(DaysOfWeek(random.Uint64() & (1<<7 - 1)))
		}
		if random.IntN(2) == 0 {
			day := 1 + random.IntN(31)
			days = days.And(NewYearDays(random.Uint64(), NewMonthDays(func(int, int) uint32 { return 1 << day })))
		}
		return days
	}
	const someDay = 20_000
	check := func(d Dates) {
		searched := Dates{Days: d.Days, Cycle: d.Cycle, Unit: d.Unit}
		for range 20 {
			day := int64(random.IntN(lastDay-firstOfAll)) + firstOfAll
			if found, ok := d.Next(nil, day); ok {
				if want, _ := searched.Next(nil, day); found != want || d.rare != nil && !searched.Has(found) {
					t.Fatalf("%v, %v: next(%d) = %d, want %d", d.Cycle, d.rare, day, found, want)
				}
			} else if want, ok := searched.Next(nil, day); ok {
				t.Fatalf("%v, %v: next(%d) is none, want %d", d.Cycle, d.rare, day, want)
			}
			if found, ok := d.Last(nil, day); ok {
				if want, _ := searched.Last(nil, day); found != want {
					t.Fatalf("%v, %v: last(%d) = %d, want %d", d.Cycle, d.rare, day, found, want)
				}
			}
			if n, want := d.Count(nil, someDay, day), searched.Count(nil, someDay, day); n != want {
				t.Fatalf("%v, %v: count to %d = %d, want %d", d.Cycle, d.rare, day, n, want)
			}
		}
	}
	rare := 0
	for range 200 {
		n := int64(1 + random.IntN(20_000))
		cycle := StepCycle(int64(random.IntN(40_000)), n)
		a, b := someDays(), someDays()
		d := NewDates(nil, a, &cycle, dateUnit(1+random.IntN(3)))
		if d.rare != nil {
			rare++
		}
		check(d)
		check(d.Less(nil, a.And(b)))
		other := NewDates(nil, b, d.Cycle, d.Unit)
		check(d.Or(nil, &other))
		for _, d := range EveryNth(nil, a, n, 3, 4, 3+n, 11) {
			check(d)
		}
	}
	if rare < 50 {
		t.Errorf("only %d of 200 dates were rare", rare)
	}
}

// TestRareDatesAreFew bounds what is kept of the days that a rule meets.
func TestRareDatesAreFew(t *testing.T) {
	firstOfMonth := NewYearDays(1<<12-1, NewMonthDays(func(int, int) uint32 { return 1 << 1 }))
	for n := int64(1); n < 2000; n += 7 {
		kept := 0
		for _, d := range EveryNth(nil, firstOfMonth, n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) {
			kept += cap(d.rare)
		}
		if kept > 4*fewDates {
			t.Fatalf("every %d days: %d days are kept", n, kept)
		}
	}
}

// TestCountOfSteppedWeekdays compares counts of certain weekdays among every n-th day with a walk.
func TestCountOfSteppedWeekdays(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		cycle := StepCycle(random.Int64N(1000)-500, 1+random.Int64N(40))
		d := Dates{Days: DaysOfWeek(1<<random.IntN(7) | random.Uint64N(1<<7)), Cycle: &cycle, Unit: ByDay}
		from := random.Int64N(40_000) - 20_000
		to, want := from+random.Int64N(20_000), int64(0)
		for day := from; day <= to; day++ {
			if d.Has(day) {
				want++
			}
		}
		if got := d.Count(nil, from, to); got != want {
			t.Fatalf("every %d days from %d, in %d…%d: %d, want %d", cycle.Step, cycle.Anchor, from, to, got, want)
		}
	}
}

// TestSearchesEndWithTheirMeter shows that no search finds anything with an exhausted meter, so that loops over finds end.
func TestSearchesEndWithTheirMeter(t *testing.T) {
	cycle := StepCycle(0, 3)
	for name, dates := range map[string]Dates{
		"every day":       EveryDate,
		"every third day": {Days: EveryDay, Cycle: &cycle, Unit: ByDay},
		"Mondays":         {Days: DaysOfWeek(1)},
	} {
		m := work.New(10)
		n := 0
		for day, ok := dates.Next(m, 0); ok && n < 100; day, ok = dates.Next(m, day+1) {
			n++
		}
		if n == 0 || n == 100 {
			t.Errorf("%s: %d found", name, n)
		}
	}
}
