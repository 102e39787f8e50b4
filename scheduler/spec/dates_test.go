package spec

import (
	"math/rand/v2"
	"testing"
)

// TestRareDates compares dates that were looked up beforehand with the same dates, searched.
func TestRareDates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	someDays := func() *yearDays {
		days := everyDay
		if random.IntN(2) == 0 {
			days = days.and(daysOfWeek(random.Uint64() & (1<<7 - 1)))
		}
		if random.IntN(2) == 0 {
			day := 1 + random.IntN(31)
			days = days.and(newYearDays(random.Uint64(), newMonthDays(func(int, int) uint32 { return 1 << day })))
		}
		return days
	}
	const someDay = 20_000
	check := func(d dates) {
		searched := dates{days: d.days, cycle: d.cycle, unit: d.unit}
		for range 20 {
			day := int64(random.IntN(lastDay-firstOfAll)) + firstOfAll
			if found, ok := d.next(day); ok {
				if want, _ := searched.next(day); found != want || d.rare != nil && !searched.has(found) {
					t.Fatalf("%v, %v: next(%d) = %d, want %d", d.cycle, d.rare, day, found, want)
				}
			} else if want, ok := searched.next(day); ok {
				t.Fatalf("%v, %v: next(%d) is none, want %d", d.cycle, d.rare, day, want)
			}
			if found, ok := d.last(day); ok {
				if want, _ := searched.last(day); found != want {
					t.Fatalf("%v, %v: last(%d) = %d, want %d", d.cycle, d.rare, day, found, want)
				}
			}
			if n, want := d.count(someDay, day), searched.count(someDay, day); n != want {
				t.Fatalf("%v, %v: count to %d = %d, want %d", d.cycle, d.rare, day, n, want)
			}
		}
	}
	rare := 0
	for range 200 {
		n := int64(1 + random.IntN(20_000))
		cycle := stepCycle(int64(random.IntN(40_000)), n)
		a, b := someDays(), someDays()
		d := newDates(a, &cycle, dateUnit(1+random.IntN(3)))
		if d.rare != nil {
			rare++
		}
		check(d)
		check(d.less(a.and(b)))
		other := newDates(b, d.cycle, d.unit)
		check(d.or(&other))
		for _, d := range everyNth(a, n, 3, 4, 3+n, 11) {
			check(d)
		}
	}
	if rare < 50 {
		t.Errorf("only %d of 200 dates were rare", rare)
	}
}

// TestRareDatesAreFew bounds what is kept of the days that a rule meets.
func TestRareDatesAreFew(t *testing.T) {
	firstOfMonth := newYearDays(1<<12-1, newMonthDays(func(int, int) uint32 { return 1 << 1 }))
	for n := int64(1); n < 2000; n += 7 {
		kept := 0
		for _, d := range everyNth(firstOfMonth, n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) {
			kept += cap(d.rare)
		}
		if kept > 4*fewDates {
			t.Fatalf("every %d days: %d days are kept", n, kept)
		}
	}
}
