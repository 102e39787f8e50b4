package localtime

import (
	"math/rand/v2"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

func TestDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 12 {
		var plus, minus []Layer
		for range 1 + r.IntN(4) {
			plus = append(plus, someLayer(r))
		}
		for range r.IntN(4) {
			minus = append(minus, someLayer(r))
		}
		if r.IntN(3) == 0 { // the minus layers leave little
			minus = append(minus, Layer{Dates: calendar.Dates{Days: calendar.DaysOfWeek(1<<6 - 1)}, Times: calendar.AllDay})
		}
		some := func(layers []Layer, w int64) bool {
			for i := range layers {
				if layers[i].holds(w) {
					return true
				}
			}
			return false
		}
		has := func(w int64) bool { return some(plus, w) && !some(minus, w) }
		from, to := someDays(r)
		checkSet(t, New(nil, plus, minus, -calendar.Forever, calendar.Forever), has, from, to)
	}
}

// TestDifferenceCount compares a count over years, in which days are known by their layers, with one made by times.
func TestDifferenceCount(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		plus := []Layer{someLayer(r), someLayer(r)}
		minus := []Layer{someLayer(r)}
		s := New(nil, plus, minus, -calendar.Forever, calendar.Forever)
		first := r.Int64N(20_000) * calendar.DayLength
		final := first + r.Int64N(1000*calendar.DayLength)
		want := int64(0)
		for w, ok := s.Next(nil, first); ok && w <= final; w, ok = s.Next(nil, w+1) {
			want++
			if want == 200_000 {
				final = w
			}
		}
		if got := s.Count(nil, first, final); got != want {
			t.Errorf("%d seconds from %d: %d, want %d", final-first+1, first, got, want)
		}
	}
}
