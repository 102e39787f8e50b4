package localtime

import (
	"math/rand/v2"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

func TestDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 12 {
		var plus, minus []Tile
		for range 1 + r.IntN(4) {
			plus = append(plus, someTile(r))
		}
		for range r.IntN(4) {
			minus = append(minus, someTile(r))
		}
		if r.IntN(3) == 0 { // the minus tiles leave little
			minus = append(minus, Tile{calendar.Dates{Days: calendar.DaysOfWeek(1<<6 - 1)}, calendar.Times{Hours: calendar.AllHours, Minutes: calendar.AllMinutes, Seconds: calendar.AllMinutes}})
		}
		some := func(tiles []Tile, w int64) bool {
			for i := range tiles {
				if tiles[i].holds(w) {
					return true
				}
			}
			return false
		}
		has := func(w int64) bool { return some(plus, w) && !some(minus, w) }
		from, to := someDays(r)
		checkSet(t, NewDifference(nil, plus, minus), has, from, to)
	}
}

// TestDifferenceCount compares a count over many years, which is made by years, with one made by days.
func TestDifferenceCount(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		a, b, c := someTile(r), someTile(r), someTile(r)
		for _, part := range []*Tile{&a, &b, &c} {
			part.Dates.Unit = calendar.EachDay
		}
		m, ok := NewDifference(nil, []Tile{a, b}, []Tile{c}).(*Difference)
		if !ok {
			continue
		}
		first := r.Int64N(20_000)
		final := first + r.Int64N(6000)
		if got, want := m.days(nil, first, final), m.walk(nil, first, final, map[layers]int64{}); got != want {
			t.Errorf("%d days from %d: %d, want %d", final-first+1, first, got, want)
		}
	}
}
