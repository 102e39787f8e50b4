package localtime

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

func TestStride(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 12 {
		unit := []int64{1, 60, 3600}[r.IntN(3)]
		step := 1 + r.Int64N(100)
		anchor, set := r.Int64N(1000), someLayer(r)
		has := func(w int64) bool {
			number, _ := calendar.Divide(w, unit)
			return calendar.Mod(number-anchor, step) == 0 && set.holds(w)
		}
		from, to := someDays(r)
		if r.IntN(3) == 0 {
			step = 80_000/unit + r.Int64N(10_000/unit+10)
		}
		s := strided(unit, anchor, step, set)
		list := listed(has, from, to)
		if set.Dates.Unit == calendar.EachDay { // as the languages have it
			checkList(t, Of(nil, s.byDays(nil)...), list, from, to)
		}
		checkList(t, Of(nil, s), list, from, to)
		minus := someLayer(r)
		left := slices.DeleteFunc(list, minus.holds)
		checkList(t, New(nil, []Layer{s}, []Layer{minus}, -calendar.Forever, calendar.Forever), left, from, to)
	}
}

// TestStrideCount compares a count over years with one made second by second.
func TestStrideCount(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 12 {
		unit := []int64{1, 60, 3600}[r.IntN(3)]
		set := someLayer(r)
		set.Dates = calendar.EveryDate
		s := strided(unit, r.Int64N(1000), 7+r.Int64N(30), set)
		from := r.Int64N(300 * calendar.DayLength)
		to := from + r.Int64N(200*calendar.DayLength)
		want := int64(0)
		for w, ok := s.next(nil, from); ok && w <= to; w, ok = s.next(nil, w+1) {
			want++
		}
		if got := s.count(nil, from, to); got != want {
			t.Errorf("every %d of %d s: %d, want %d", s.grid.Step, unit, got, want)
		}
	}
}

// TestStridesOfADay compares layers whose steps come back every day with the layers that stand for them.
func TestStridesOfADay(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	said := map[int64]int{}
	for _, unit := range []int64{1, 60, 3600} {
		for step := int64(1); step*unit <= calendar.DayLength/2; step++ {
			if step > 200 && calendar.DayLength%(step*unit) != 0 {
				continue
			}
			times := calendar.Times{Hours: random.Uint32() & calendar.AllHours, Minutes: random.Uint64() & calendar.AllMinutes, Seconds: random.Uint64() & calendar.AllMinutes}
			s := strided(unit, random.Int64N(1e6), step, Layer{Dates: calendar.EveryDate, Times: times})
			layers, ok := s.daily(nil)
			if !ok {
				continue
			}
			said[unit]++
			if calendar.DayLength%(step*unit) != 0 {
				t.Fatalf("every %d units of %d s are not the same every day", step, unit)
			}
			for range 4000 {
				second := random.Int64N(calendar.DayLength)
				in := 0
				for _, l := range layers {
					if l.Times.At(second) {
						in++
					}
				}
				if _, want := s.within(nil, second, second); (in == 1) != want || in > 1 {
					t.Fatalf("every %d units of %d s: second %d is in %d layers, but in the strided one: %t", step, unit, second, in, want)
				}
			}
		}
	}
	if said[60] < 20 || said[1] < 40 || said[3600] != 0 {
		t.Errorf("said without a stride: %v", said)
	}
}

// TestFirstMultiple compares with trying.
func TestFirstMultiple(t *testing.T) {
	for m := int64(1); m < 40; m++ {
		for s := range m {
			for low := range m {
				for high := low; high < low+m; high++ {
					want := int64(-1)
					for k := int64(0); k < m && want < 0; k++ {
						if at := k * s % m; at >= low && at <= high || at+m >= low && at+m <= high {
							want = k
						}
					}
					if got := firstMultiple(s, m, low, high); got != want {
						t.Fatalf("multiples of %d modulo %d in %d…%d: %d, want %d", s, m, low, high, got, want)
					}
				}
			}
		}
	}
}
