package localtime

import (
	"math/bits"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Difference is a union of tiles without another union of tiles. Which tiles lie on a day decides what times it has, so
// the work for a day does not depend on how many seconds are taken out of it.
type Difference struct {
	plus, minus []Tile
	live        *calendar.YearDays // no time is left on any other day
}

// MaxTiles bounds the tiles of one kind in a set difference: they are numbered by bits.
const MaxTiles = 64

// NewDifference returns the seconds of the plus tiles that are in none of the minus tiles. There are at most MaxTiles
// of each.
func NewDifference(m *work.Meter, plus, minus []Tile) Set {
	plus, minus = subtract(m, Merge(m, plus), Merge(m, minus))
	switch {
	case len(plus) == 0:
		return Nothing{}
	case len(plus) == 1 && len(minus) == 0:
		return &plus[0]
	}
	d := &Difference{plus: plus, minus: minus, live: plus[0].Dates.Days}
	for _, t := range plus[1:] {
		m.Spend(calendar.JoinWork)
		d.live = d.live.Or(t.Dates.Days)
	}
	if len(minus) > 0 {
		d.prune(m)
	}
	if d.live.Empty() {
		return Nothing{}
	}
	return d
}

// layers says which tiles lie on a day, by their numbers.
type layers struct{ plus, minus uint64 }

// prune removes days from live on which the minus tiles leave nothing, as far as the shape of the year shows.
func (d *Difference) prune(m *work.Meter) {
	left := map[layers]bool{}
	m.Spend(calendar.FillWork)
	sure := d.sure()
	d.live = calendar.FillYearDays(func(s calendar.Shape, days *calendar.DayBits) {
		*days = *d.live.In(s)
		for day := days.From(0); day >= 0 && m.Spend(1+d.layers()/6); day = days.From(day + 1) {
			l := layers{on(d.plus, s, day), on(d.minus, s, day) & sure}
			some, known := left[l]
			if !known {
				_, some = d.within(m, l, 0)
				left[l] = some
			}
			if !some {
				days.Clear(day)
			}
			if day == 365 {
				break
			}
		}
	})
}

// sure returns which of the minus tiles lie on a day, given that the year's shape says so and that a plus tile does.
func (d *Difference) sure() uint64 {
	set := uint64(0)
	for i := range d.minus {
		dates := &d.minus[i].Dates
		if dates.Unit == calendar.EachDay || !slices.ContainsFunc(d.plus, func(t Tile) bool { return !t.Dates.SameCycle(dates) }) {
			set |= 1 << i
		}
	}
	return set
}

// on returns which tiles may lie on a day of a shape: those with a cycle may not.
func on(tiles []Tile, s calendar.Shape, day int64) uint64 {
	set := uint64(0)
	for i := range tiles {
		if tiles[i].Dates.Days.In(s).Has(day) {
			set |= 1 << i
		}
	}
	return set
}

// layersOf returns which tiles lie on a day.
func (d *Difference) layersOf(day int64) layers {
	date := calendar.DateOf(day)
	return layers{onDay(d.plus, date), onDay(d.minus, date)}
}

func onDay(tiles []Tile, date calendar.Date) uint64 {
	set := uint64(0)
	for i := range tiles {
		if tiles[i].Dates.HasDate(date) {
			set |= 1 << i
		}
	}
	return set
}

// secondsOf returns the seconds of a minute that are left.
func (d *Difference) secondsOf(l layers, hour, minute int) uint64 {
	set := uint64(0)
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		if t := &d.plus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 && t.Minutes>>minute&1 == 1 {
			set |= t.Seconds
		}
	}
	if set == 0 {
		return 0
	}
	for rest := l.minus; rest != 0; rest &= rest - 1 {
		if t := &d.minus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 && t.Minutes>>minute&1 == 1 {
			set &^= t.Seconds
		}
	}
	return set
}

// hoursOf returns the hours that any plus tile has.
func (d *Difference) hoursOf(l layers) (hours uint32) {
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		hours |= d.plus[bits.TrailingZeros64(rest)].Times.Hours
	}
	return hours
}

// minutesOf returns the minutes that any plus tile has in an hour.
func (d *Difference) minutesOf(l layers, hour int) (minutes uint64) {
	for rest := l.plus; rest != 0; rest &= rest - 1 {
		if t := &d.plus[bits.TrailingZeros64(rest)].Times; t.Hours>>hour&1 == 1 {
			minutes |= t.Minutes
		}
	}
	return minutes
}

// begin fills found for a search of days: each plus tile has been looked for up to a day.
func (d *Difference) begin(found *[MaxTiles]int64, day int64) {
	for i := range d.plus {
		found[i] = day
	}
}

// nextDay returns the first day not before day that has a plus tile and may have times left. ahead holds, for each plus
// tile, a day before which the search will not find it, so that tiles with rare days are looked for rarely.
func (d *Difference) nextDay(m *work.Meter, day int64, ahead *[MaxTiles]int64) (int64, bool) {
	for range calendar.SearchLimit {
		live, ok := d.live.Next(day)
		if !ok || !m.Spend(int64(len(d.plus))) {
			return 0, false
		}
		best := int64(calendar.Forever)
		for i := range d.plus {
			if ahead[i] < live {
				if ahead[i], ok = d.plus[i].Dates.Next(m, live); !ok {
					ahead[i] = calendar.Forever
				}
			}
			best = min(best, ahead[i])
		}
		if best == live || best == calendar.Forever {
			return best, best != calendar.Forever
		}
		day = best
	}
	return 0, m.GiveUp()
}

// lastDay returns the last day not after day that has a plus tile and may have times left. behind holds, for each plus
// tile, a day after which the search will not find it.
func (d *Difference) lastDay(m *work.Meter, day int64, behind *[MaxTiles]int64) (int64, bool) {
	for range calendar.SearchLimit {
		live, ok := d.live.Last(day)
		if !ok || !m.Spend(int64(len(d.plus))) {
			return 0, false
		}
		best := int64(-calendar.Forever)
		for i := range d.plus {
			if behind[i] > live {
				if behind[i], ok = d.plus[i].Dates.Last(m, live); !ok {
					behind[i] = -calendar.Forever
				}
			}
			best = max(best, behind[i])
		}
		if best == live || best == -calendar.Forever {
			return best, best != -calendar.Forever
		}
		day = best
	}
	return 0, m.GiveUp()
}

// barren remembers the layers, the latest few, that leave nothing of a day.
type barren struct {
	seen [8]layers
	n    int
}

func (b *barren) knows(l layers) bool {
	for i := range min(b.n, len(b.seen)) {
		if b.seen[i] == l {
			return true
		}
	}
	return false
}

func (b *barren) add(l layers) {
	b.seen[b.n%len(b.seen)] = l
	b.n++
}

// within returns the first second of a day with those layers not before s.
func (d *Difference) within(m *work.Meter, l layers, s int64) (int64, bool) {
	begin, minute, second := int(s/3600), int(s/60%60), int(s%60)
	for hours := d.hoursOf(l) >> begin << begin; hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros32(hours)
		if hour != begin {
			minute, second = 0, 0
		}
		for minutes := d.minutesOf(l, hour) >> minute << minute; minutes != 0; minutes &= minutes - 1 {
			found := bits.TrailingZeros64(minutes)
			set := d.secondsOf(l, hour, found)
			if !m.Spend(l.work()) {
				return 0, false
			}
			if found == minute {
				set = set >> second << second
			}
			if set != 0 {
				return int64(hour*3600 + found*60 + bits.TrailingZeros64(set)), true
			}
		}
	}
	return 0, false
}

// withinLast returns the last second of a day with those layers not after s.
func (d *Difference) withinLast(m *work.Meter, l layers, s int64) (int64, bool) {
	end, minute, second := int(s/3600), int(s/60%60), int(s%60)
	for hours := d.hoursOf(l) & (1<<end<<1 - 1); hours != 0; {
		hour := bits.Len32(hours) - 1
		hours &^= 1 << hour
		if hour != end {
			minute, second = 59, 59
		}
		for minutes := d.minutesOf(l, hour) & (1<<minute<<1 - 1); minutes != 0; {
			found := bits.Len64(minutes) - 1
			minutes &^= 1 << found
			set := d.secondsOf(l, hour, found)
			if !m.Spend(l.work()) {
				return 0, false
			}
			if found == minute {
				set &= 1<<second<<1 - 1
			}
			if set != 0 {
				return int64(hour*3600 + found*60 + bits.Len64(set) - 1), true
			}
		}
	}
	return 0, false
}

// Next implements [Set].
func (d *Difference) Next(m *work.Meter, w int64) (int64, bool) {
	var memory barren
	var ahead [MaxTiles]int64
	day, second := calendar.Divide(w, calendar.DayLength)
	d.begin(&ahead, day-1)
	for range d.patience() {
		found, ok := d.nextDay(m, day, &ahead)
		if !ok || !m.Spend(d.layers()) {
			return 0, false
		}
		if found != day {
			day, second = found, 0
		}
		if l := d.layersOf(day); !memory.knows(l) {
			if s, ok := d.within(m, l, second); ok {
				return day*calendar.DayLength + s, true
			}
			if second == 0 {
				memory.add(l)
			}
		}
		day, second = day+1, 0
	}
	return 0, m.GiveUp()
}

// Last implements [Set].
func (d *Difference) Last(m *work.Meter, w int64) (int64, bool) {
	var memory barren
	var behind [MaxTiles]int64
	day, second := calendar.Divide(w, calendar.DayLength)
	d.begin(&behind, day+1)
	for range d.patience() {
		found, ok := d.lastDay(m, day, &behind)
		if !ok || !m.Spend(d.layers()) {
			return 0, false
		}
		if found != day {
			day, second = found, calendar.DayLength-1
		}
		if l := d.layersOf(day); !memory.knows(l) {
			if s, ok := d.withinLast(m, l, second); ok {
				return day*calendar.DayLength + s, true
			}
			if second == calendar.DayLength-1 {
				memory.add(l)
			}
		}
		day, second = day-1, calendar.DayLength-1
	}
	return 0, m.GiveUp()
}

// patience returns the maximum number of days without a result in a search.
func (d *Difference) patience() int { return calendar.SearchLimit / (2 * (len(d.plus) + len(d.minus))) }

// layers is the work to find out which tiles lie on a day.
func (d *Difference) layers() int64 { return int64(len(d.plus) + len(d.minus)) }

// work is the work to put the seconds of a minute together.
func (l layers) work() int64 { return 1 + int64(bits.OnesCount64(l.plus)+bits.OnesCount64(l.minus))/8 }

// Count implements [Set].
func (d *Difference) Count(m *work.Meter, a, b int64) int64 {
	if a > b {
		return 0
	}
	first, from := calendar.Divide(a, calendar.DayLength)
	final, to := calendar.Divide(b, calendar.DayLength)
	if first == final {
		return d.sizeOf(m, first, from, to)
	}
	return d.sizeOf(m, first, from, calendar.DayLength-1) + d.days(m, first+1, final-1) + d.sizeOf(m, final, 0, to)
}

// sizeOf returns how many seconds of the set lie in a…b of a day.
func (d *Difference) sizeOf(m *work.Meter, day, a, b int64) int64 {
	l := d.layersOf(day)
	if l.plus == 0 {
		return 0
	}
	return d.size(m, l, a, b)
}

// days returns how many seconds of the set lie on the days first…final. Years of the same shape have the same number,
// unless there are cycles.
func (d *Difference) days(m *work.Meter, first, final int64) int64 {
	var years [calendar.Shapes]int64 // the numbers, plus one
	sizes := map[layers]int64{}
	n := int64(0)
	for day := first; day <= final; {
		year, dayOfYear := calendar.YearOf(day)
		end := calendar.FirstDay(12*(year+1)) - 1
		if dayOfYear > 0 || end > final || !d.plain() {
			end = min(end, final)
			n += d.walk(m, day, end, sizes)
			day = end + 1
			continue
		}
		i := calendar.ShapeOf(year, day)
		if years[i] == 0 {
			years[i] = d.walk(m, day, end, sizes) + 1
		}
		n += years[i] - 1
		m.Spend(1)
		day = end + 1
	}
	return n
}

// plain reports whether no tile has a cycle.
func (d *Difference) plain() bool {
	cyclic := func(t Tile) bool { return t.Dates.Unit != calendar.EachDay }
	return !slices.ContainsFunc(d.plus, cyclic) && !slices.ContainsFunc(d.minus, cyclic)
}

// walk counts day by day. The sizes that it finds out are kept.
func (d *Difference) walk(m *work.Meter, first, final int64, sizes map[layers]int64) int64 {
	var ahead [MaxTiles]int64
	d.begin(&ahead, first-1)
	n := int64(0)
	for day, ok := d.nextDay(m, first, &ahead); ok && day <= final; day, ok = d.nextDay(m, day+1, &ahead) {
		if !m.Spend(d.layers() + 1) {
			break
		}
		l := d.layersOf(day)
		size, known := sizes[l]
		if !known {
			size = d.size(m, l, 0, calendar.DayLength-1)
			sizes[l] = size
		}
		n += size
	}
	return n
}

// size returns how many seconds of a day with those layers lie in a…b.
func (d *Difference) size(m *work.Meter, l layers, a, b int64) int64 {
	n := 0
	for hours := d.hoursOf(l); hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros32(hours)
		for minutes := d.minutesOf(l, hour); minutes != 0; minutes &= minutes - 1 {
			minute := bits.TrailingZeros64(minutes)
			set := d.secondsOf(l, hour, minute)
			m.Spend(l.work())
			begin := int64(hour*3600 + minute*60)
			if begin < a {
				set = set >> min(a-begin, 63) << min(a-begin, 63)
			}
			if b < begin+59 {
				set &= 1<<(max(b-begin, -1)+1) - 1
			}
			n += bits.OnesCount64(set)
		}
	}
	return int64(n)
}
