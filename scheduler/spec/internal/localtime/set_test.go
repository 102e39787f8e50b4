package localtime

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// member is the definition of a set of local times: whether a second belongs to it.
type member func(w int64) bool

// checkSet compares a set with its definition over every second of from…to.
func checkSet(t *testing.T, set *Set, has member, from, to int64) {
	t.Helper()
	checkList(t, set, listed(has, from, to), from, to)
}

// listed returns all seconds of from…to that belong to a set.
func listed(has member, from, to int64) []int64 {
	var list []int64
	for w := from; w <= to; w++ {
		if has(w) {
			list = append(list, w)
		}
	}
	return list
}

// checkList compares a set with all its seconds of from…to, at random places.
func checkList(t *testing.T, set *Set, list []int64, from, to int64) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(from), 7))
	for range 100 {
		w := from + r.Int64N(to-from+1)
		i, found := slices.BinarySearch(list, w)
		next, ok := set.Next(nil, w)
		if want := i < len(list); want && (!ok || next != list[i]) || !want && ok && next <= to {
			t.Fatalf("next(%d) = %d %v, want %v", w, next, ok, list[i:])
		}
		before := i
		if found {
			before++
		}
		last, ok := set.Last(nil, w)
		if want := before > 0; want && (!ok || last != list[before-1]) || !want && ok && last >= from {
			t.Fatalf("last(%d) = %d %v, want %v", w, last, ok, list[:before])
		}
		if got := set.Count(nil, w, to); got != int64(len(list)-i) {
			t.Fatalf("count(%d, %d) = %d, want %d", w, to, got, len(list)-i)
		}
	}
}

// someLayer returns a layer with random dates and times, dense or sparse.
func someLayer(r *rand.Rand) Layer {
	days := calendar.DaysOfWeek(r.Uint64N(1<<7) | 1<<r.IntN(7))
	if r.IntN(2) == 0 {
		days = days.Or(calendar.NewYearDays(r.Uint64(), calendar.NewMonthDays(func(_, _ int) uint32 { return r.Uint32() & r.Uint32() })))
	}
	d := calendar.Dates{Days: days}
	switch c := calendar.StepCycle(r.Int64N(50), 1+r.Int64N(9)); r.IntN(5) {
	case 0:
		d.Cycle, d.Unit = &c, calendar.ByDay
	case 1:
		d.Cycle, d.Unit = &c, calendar.ByMonth
	default:
	}
	t := calendar.Times{Hours: 1 << r.IntN(24), Minutes: 1 << r.IntN(60), Seconds: 1 << r.IntN(60)}
	for range r.IntN(6) {
		t.Hours |= 1 << r.IntN(24)
		t.Minutes |= 1 << r.IntN(60)
		t.Seconds |= 1 << r.IntN(60)
	}
	if r.IntN(3) == 0 {
		t.Minutes = calendar.AllMinutes
	}
	if r.IntN(3) == 0 {
		t.Hours = calendar.AllHours
	}
	return Layer{Dates: d, Times: t}
}

// holds is the definition of a layer without a stride.
func (l *Layer) holds(w int64) bool {
	day, second := calendar.Divide(w, calendar.DayLength)
	if !l.Dates.Days.Has(day) || !l.Times.At(second) {
		return false
	}
	if l.Dates.Unit == calendar.EachDay {
		return true
	}
	number := day
	if l.Dates.Unit == calendar.ByMonth {
		number, _ = calendar.MonthOf(day)
	}
	return calendar.Mod(number-l.Dates.Cycle.Anchor, l.Dates.Cycle.Step) == 0
}

func someDays(r *rand.Rand) (from, to int64) {
	const days = 3
	from = (r.Int64N(60_000) - 20_000) * calendar.DayLength
	return from, from + days*calendar.DayLength - 1
}

func TestLayer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		l := someLayer(r)
		from, to := someDays(r)
		checkSet(t, Of(nil, l), l.holds, from, to)
	}
}

func TestSets(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 12 {
		a, b, c := someLayer(r), someLayer(r), someLayer(r)
		from, to := someDays(r)
		low, high := from+r.Int64N(4*calendar.DayLength), to-r.Int64N(4*calendar.DayLength)
		var parts []*Set // a from low to high, b all the time
		for _, era := range []struct {
			plus         []Layer
			first, final int64
		}{{[]Layer{b}, -calendar.Forever, low - 1}, {[]Layer{a, b}, low, high}, {[]Layer{b}, max(low, high+1), calendar.Forever}} {
			if era.first <= era.final {
				parts = append(parts, New(nil, era.plus, []Layer{c}, era.first, era.final))
			}
		}
		set := Concat(parts...)
		has := func(w int64) bool { return (a.holds(w) && w >= low && w <= high || b.holds(w)) && !c.holds(w) }
		checkSet(t, set, has, from, to)
	}
}
