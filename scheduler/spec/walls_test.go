package spec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// member is the definition of a set of wall-clock seconds: whether a second belongs to it.
type member func(w int64) bool

// checkWalls compares a set with its definition over every second of from…to, and at random places.
func checkWalls(t *testing.T, set walls, has member, from, to int64) {
	t.Helper()
	var list []int64
	for w := from; w <= to; w++ {
		if has(w) {
			list = append(list, w)
		}
	}
	r := rand.New(rand.NewPCG(uint64(from), 7))
	for range 300 {
		w := from + r.Int64N(to-from+1)
		i, found := slices.BinarySearch(list, w)
		next, ok := set.next(w)
		if want := i < len(list); want && (!ok || next != list[i]) || !want && ok && next <= to {
			t.Fatalf("next(%d) = %d %v, want %v", w, next, ok, list[i:])
		}
		before := i
		if found {
			before++
		}
		last, ok := set.last(w)
		if want := before > 0; want && (!ok || last != list[before-1]) || !want && ok && last >= from {
			t.Fatalf("last(%d) = %d %v, want %v", w, last, ok, list[:before])
		}
		if got := set.count(w, to); got != int64(len(list)-i) {
			t.Fatalf("count(%d, %d) = %d, want %d", w, to, got, len(list)-i)
		}
	}
}

// someTile returns a tile with random dates and times, dense or sparse.
func someTile(r *rand.Rand) tile {
	days := daysOfWeek(r.Uint64N(1<<7) | 1<<r.IntN(7))
	if r.IntN(2) == 0 {
		days = days.or(newYearDays(r.Uint64(), newMonthDays(func(_, _ int) uint32 { return r.Uint32() & r.Uint32() })))
	}
	d := dates{days: days}
	switch c := stepCycle(r.Int64N(50), 1+r.Int64N(9)); r.IntN(5) {
	case 0:
		d.cycle, d.unit = &c, byDay
	case 1:
		d.cycle, d.unit = &c, byMonth
	default:
	}
	t := times{1 << r.IntN(24), 1 << r.IntN(60), 1 << r.IntN(60)}
	for range r.IntN(6) {
		t.hours |= 1 << r.IntN(24)
		t.minutes |= 1 << r.IntN(60)
		t.seconds |= 1 << r.IntN(60)
	}
	if r.IntN(3) == 0 {
		t.minutes = allMinutes
	}
	if r.IntN(3) == 0 {
		t.hours = allHours
	}
	return tile{d, t}
}

// holds is the definition of a tile.
func (t *tile) holds(w int64) bool {
	day, second := divide(w, dayLength)
	if !t.dates.days.has(day) || !t.times.at(second) {
		return false
	}
	if t.dates.unit == eachDay {
		return true
	}
	number := day
	if t.dates.unit == byMonth {
		number, _ = monthOf(day)
	}
	return mod(number-t.dates.cycle.anchor, t.dates.cycle.stride) == 0
}

func someDays(r *rand.Rand) (from, to int64) {
	const days = 3
	from = (r.Int64N(60_000) - 20_000) * dayLength
	return from, from + days*dayLength - 1
}

func TestTile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		set := someTile(r)
		from, to := someDays(r)
		checkWalls(t, &set, set.holds, from, to)
	}
}

func TestMosaic(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 12 {
		var plus, minus []tile
		for range 1 + r.IntN(4) {
			plus = append(plus, someTile(r))
		}
		for range r.IntN(4) {
			minus = append(minus, someTile(r))
		}
		if r.IntN(3) == 0 { // the minus tiles leave little
			minus = append(minus, tile{dates{days: daysOfWeek(1<<6 - 1)}, times{allHours, allMinutes, allMinutes}})
		}
		some := func(tiles []tile, w int64) bool {
			for i := range tiles {
				if tiles[i].holds(w) {
					return true
				}
			}
			return false
		}
		has := func(w int64) bool { return some(plus, w) && !some(minus, w) }
		from, to := someDays(r)
		checkWalls(t, newMosaic(plus, minus), has, from, to)
	}
}

func TestStride(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 12 {
		unit := []int64{1, 60, 3600}[r.IntN(3)]
		step := 1 + r.Int64N(100)
		anchor, set := r.Int64N(1000), someTile(r)
		has := func(w int64) bool {
			number, _ := divide(w, unit)
			return mod(number-anchor, step) == 0 && set.holds(w)
		}
		from, to := someDays(r)
		if r.IntN(3) == 0 {
			step = 80_000/unit + r.Int64N(10_000/unit+10)
		}
		s := newStride(unit, anchor, step, set)
		if set.dates.unit == eachDay { // as the languages have it
			checkWalls(t, patchwork(s.tiles(), nil), has, from, to)
		}
		if s.reach() {
			checkWalls(t, s, has, from, to)
		} else {
			checkWalls(t, nothing{}, has, from, to)
		}
		minus := someTile(r)
		checkWalls(t, s.without([]tile{minus}, nil), func(w int64) bool { return has(w) && !minus.holds(w) }, from, to)
	}
}

func TestWallSets(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 12 {
		a, b, c := someTile(r), someTile(r), someTile(r)
		from, to := someDays(r)
		low, high := from+r.Int64N(4*dayLength), to-r.Int64N(4*dayLength)
		set := newExcept(anyOf{&span{&a, low, high}, &b}, anyOf{&c})
		has := func(w int64) bool { return (a.holds(w) && w >= low && w <= high || b.holds(w)) && !c.holds(w) }
		checkWalls(t, set, has, from, to)
	}
}

// TestYearDays compares the shape of each year of a whole cycle of the calendar with the calendar itself.
func TestYearDays(t *testing.T) {
	days := newYearDays(1<<1|1<<11, newMonthDays(func(weekday, length int) uint32 {
		return 1<<length | 1<<29 | 1<<(1+weekday)
	}))
	has := func(day int64) bool {
		month, dayOfMonth := monthOf(day)
		_, m := divide(month, 12)
		first := weekdayOf(firstDay(month))
		return (m == 1 || m == 11) && (dayOfMonth == monthLength(month) || dayOfMonth == 29 || dayOfMonth == 1+first)
	}
	n, last := int64(0), int64(-1)
	begin, end := firstDay(1900*12), firstDay(2300*12)
	for day := begin; day < end; day++ {
		if days.has(day) != has(day) {
			t.Fatalf("day %d: %v", day, !has(day))
		}
		if has(day) {
			if next, ok := days.next(last + 1); last >= 0 && (!ok || next != day) {
				t.Fatalf("next(%d) = %d, want %d", last+1, next, day)
			}
			if before, ok := days.last(day - 1); last >= 0 && (!ok || before != last) {
				t.Fatalf("last(%d) = %d, want %d", day-1, before, last)
			}
			last = day
			n++
		}
	}
	if got := days.count(begin, end-1); got != n {
		t.Errorf("count = %d, want %d", got, n)
	}
}

func TestYearOf(t *testing.T) {
	for year := int64(-5); year < 10_010; year++ {
		first := firstDay(year * 12)
		for _, offset := range []int64{0, 58, 59, 60, 364} {
			if got, dayOfYear := yearOf(first + offset); got != year || dayOfYear != offset {
				t.Fatalf("day %d of %d: %d, %d", offset, year, got, dayOfYear)
			}
		}
	}
}

// TestMosaicCount compares a count over many years, which is made by years, with one made by days.
func TestMosaicCount(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		a, b, c := someTile(r), someTile(r), someTile(r)
		for _, part := range []*tile{&a, &b, &c} {
			part.dates.unit = eachDay
		}
		m, ok := newMosaic([]tile{a, b}, []tile{c}).(*mosaic)
		if !ok {
			continue
		}
		first := r.Int64N(20_000)
		final := first + r.Int64N(6000)
		if got, want := m.days(first, final), m.walk(first, final, map[layers]int64{}); got != want {
			t.Errorf("%d days from %d: %d, want %d", final-first+1, first, got, want)
		}
	}
}

// TestStrideCount compares a count over years with one made second by second.
func TestStrideCount(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 12 {
		unit := []int64{1, 60, 3600}[r.IntN(3)]
		set := someTile(r)
		set.dates = everyDate
		s := newStride(unit, r.Int64N(1000), 7+r.Int64N(30), set)
		from := r.Int64N(300 * dayLength)
		to := from + r.Int64N(200*dayLength)
		want := int64(0)
		for w, ok := s.next(from); ok && w <= to; w, ok = s.next(w + 1) {
			want++
		}
		if got := s.count(from, to); got != want {
			t.Errorf("every %d of %d s: %d, want %d", s.grid.stride, unit, got, want)
		}
	}
}
