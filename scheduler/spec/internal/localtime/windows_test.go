package localtime

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// TestMetWindows compares with trying.
func TestMetWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 3000 {
		m := 1 + r.Int64N(50)
		a, s, n := r.Int64N(200)-100, r.Int64N(200)-100, r.Int64N(100)
		var w windows
		in := map[int64]bool{}
		for x := range m {
			if r.IntN(3) == 0 {
				w = w.with(x, x)
				in[x] = true
			}
		}
		want := int64(0)
		for k := range n {
			if in[calendar.Mod(a+k*s, m)] {
				want++
			}
		}
		if got := w.met(a, s, m, n); got != want {
			t.Fatalf("%d + k·%d modulo %d, %d times, in %v: %d, want %d", a, s, m, n, w, got, want)
		}
	}
}

// TestWindowsOf compares with a walk through the day.
func TestWindowsOf(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	mask := func(size int) uint64 {
		switch all := uint64(1)<<size - 1; r.IntN(3) {
		case 0:
			return all
		case 1:
			return 1 | 1<<(size-1) | r.Uint64()&all
		default:
			return r.Uint64() & r.Uint64() & r.Uint64() & all
		}
	}
	for range 300 {
		times := calendar.Times{Hours: uint32(mask(24)), Minutes: mask(60), Seconds: mask(60)}
		for _, unit := range []int64{1, 60, 3600} {
			var want windows
			for x := range calendar.DayLength / unit {
				hour, minute, second := x*unit/3600, x*unit/60%60, x*unit%60
				if times.Hours>>hour&1 == 1 && (unit > 60 || times.Minutes>>minute&1 == 1) && (unit > 1 || times.Seconds>>second&1 == 1) {
					want = want.with(x, x)
				}
			}
			if len(want) > mostWindows {
				want = nil
			}
			if got := windowsOf(times, unit); !slices.Equal(got, want) {
				t.Fatalf("%+v in units of %d s: %d windows, want %d", times, unit, len(got), len(want))
			}
		}
	}
	tens := calendar.Times{Hours: calendar.AllHours, Minutes: calendar.AllMinutes, Seconds: 1 | 1<<10 | 1<<20 | 1<<30 | 1<<40 | 1<<50}
	if allocs := testing.AllocsPerRun(10, func() { windowsOf(tens, 1) }); allocs > 0 {
		t.Errorf("%v allocations for windows that are too many", allocs)
	}
}

// stepped is a layer with a stride, looked at step by step.
type stepped struct {
	unit, anchor, step int64
	layer              Layer
}

// list returns all seconds in from…to.
func (s stepped) list(from, to int64) []int64 {
	var list []int64
	number, _ := calendar.Divide(from, s.unit)
	for number = s.anchor + calendar.DivideUp(number-s.anchor, s.step)*s.step - s.step; number*s.unit <= to; number += s.step {
		for w := max(from, number*s.unit); w <= min(to, number*s.unit+s.unit-1); w++ {
			if s.layer.holds(w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// TestStrideByArithmetic compares strides of weekdays, which are computed, and of other days, which are looked for, with
// all their steps of some weeks or, of long ones, of centuries.
func TestStrideByArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	computed := 0
	for range 30 {
		unit := []int64{1, 60, 3600}[r.IntN(3)]
		want := stepped{unit, r.Int64N(1e6) - 5e5, 1 + r.Int64N(3*weekLength/unit), someLayer(r)}
		if r.IntN(2) == 0 {
			want.step = 1 + r.Int64N(100)
		}
		want.layer.Dates = calendar.Dates{Days: calendar.DaysOfWeek(1<<r.IntN(7) | r.Uint64N(1<<7))}
		switch r.IntN(6) {
		case 0, 1:
			want.layer.Dates = calendar.EveryDate
		case 2:
			want.layer.Dates.Days = calendar.NewYearDays(r.Uint64(), calendar.NewMonthDays(func(_, _ int) uint32 { return r.Uint32() & r.Uint32() }))
		}
		s := strided(unit, want.anchor, want.step, want.layer)
		if s.round != nil && s.arithmetic() {
			computed++
		}
		from := (r.Int64N(60_000)-20_000)*calendar.DayLength + r.Int64N(calendar.DayLength)
		to := from + max(20*calendar.DayLength, min(60*want.step*unit, 100_000*calendar.DayLength)) + r.Int64N(calendar.DayLength)
		list := want.list(from, to)
		if got := s.count(nil, from, to); got != int64(len(list)) {
			t.Fatalf("%+v: count(%d, %d) = %d, want %d", want, from, to, got, len(list))
		}
		for range 20 {
			checkPlace(t, &s, list, from+r.Int64N(to-from+1), to)
		}
		for k := range min(20, len(list)) {
			i := r.IntN(len(list))
			checkPlace(t, &s, list, list[i], to)
			if n := int64(i) + 1; k < 5 {
				if got := Of(nil, s).Nth(nil, from, n); got != list[i] {
					t.Fatalf("%+v: number %d from %d is %d, want %d", want, n, from, got, list[i])
				}
			}
		}
	}
	if computed < 6 {
		t.Errorf("%d of 30 strides were computed", computed)
	}
}

// checkPlace compares what a set says about a second with the list of all its seconds from somewhere before it up to one.
func checkPlace(t *testing.T, s *Layer, list []int64, w, to int64) {
	t.Helper()
	before, after := int64(-1<<62), int64(-1<<62)
	i, found := slices.BinarySearch(list, w)
	if i < len(list) {
		after = list[i]
	}
	switch {
	case found:
		before = w
	case i > 0:
		before = list[i-1]
	}
	next, ok := s.next(nil, w)
	if after == -1<<62 && ok && next <= to || after != -1<<62 && (!ok || next != after) {
		t.Fatalf("every %d units of %d s, %v: next(%d) = %d %v, want %d", s.grid.Step, s.unit, s.Times, w, next, ok, after)
	}
	if before == -1<<62 {
		return
	}
	if last, ok := s.last(nil, w); !ok || last != before {
		t.Fatalf("every %d units of %d s, %v: last(%d) = %d %v, want %d", s.grid.Step, s.unit, s.Times, w, last, ok, before)
	}
}
