package spec

import (
	"math/bits"
	"slices"
)

// stride is every so many seconds, minutes or hours, of which those times count that lie in a tile: what no tile can
// say, because the steps do not come back to the same times every day. "Every 7 hours, on the hour and at half past" is
// an example.
type stride struct {
	unit    int64 // length in seconds of what the grid counts; it divides an hour
	grid    cycle // of units since the epoch, one phase
	tile    tile
	windows windows // of the tile's times, nil if they are too many
	long    bool    // few steps a day, and there are windows: what they meet is computed, not looked for
}

// newStride returns the times of a tile in the units anchor + k·step.
func newStride(unit, anchor, step int64, t tile) *stride {
	switch unit { // what no step meets is left out, so that exclusions can be seen to leave nothing
	case 1:
		t.times.seconds &= every(mod(anchor, 60), gcd(step, 60), 60)
	case 60:
		t.times.minutes &= every(mod(anchor, 60), gcd(step, 60), 60)
	default:
		t.times.hours &= uint32(every(mod(anchor, 24), gcd(step, 24), 24))
	}
	s := &stride{unit: unit, grid: stepCycle(anchor, step), tile: t, windows: windowsOf(t.times, unit)}
	s.long = unit*step > dayLength/4 && s.windows != nil
	return s
}

const weekLength = 7 * dayLength

// sparse reports whether the steps meet so few times of day that each is better looked for by itself.
func (s *stride) sparse() bool {
	units := s.unitsOfDay()
	perDay := dayLength / s.unit
	n := units.size() / gcd(s.grid.stride, perDay)
	return n <= 8 || n <= maxTiles && (s.grid.stride >= perDay || perDay%s.grid.stride == 0)
}

// unitsOfDay returns the times of the tile at which its units begin.
func (s *stride) unitsOfDay() times {
	t := s.tile.times
	if s.unit > 1 {
		t.seconds &= -t.seconds
	}
	if s.unit > 60 {
		t.minutes &= -t.minutes
	}
	return t
}

// tiles returns the set as tiles, one for each unit of the day. Steps meet a given unit of the day, if ever, every so many
// days: for them to do so, k·step must be as far from the unit as the anchor is, modulo the units of a day.
func (s *stride) tiles() []tile {
	var tiles []tile
	var firsts []int64 // for each tile, a day on which the steps meet it
	perDay := dayLength / s.unit
	common := gcd(s.grid.stride, perDay)
	units := s.unitsOfDay()
	for second, ok := units.next(0); ok; second, ok = units.after(second) {
		place := second / s.unit
		distance := place - s.grid.anchor
		if mod(distance, common) != 0 {
			continue
		}
		turn := perDay / common
		k := mod(mod(distance/common, turn)*inverse(s.grid.stride/common, turn), turn)
		day, _ := divide(s.grid.anchor+k*s.grid.stride, perDay)
		t := s.tile
		t.times = s.tile.times.unit(second, s.unit)
		tiles, firsts = append(tiles, t), append(firsts, day)
	}
	if days := s.grid.stride / common; days > 1 {
		for i, d := range everyNth(s.tile.dates.days, days, firsts...) {
			tiles[i].dates = d
		}
	}
	return tiles
}

// after returns the first time after s, false if there is none that day.
func (t *times) after(s int64) (int64, bool) {
	if s == dayLength-1 {
		return 0, false
	}
	return t.next(s + 1)
}

// unit returns the part of the times that lies in the unit of the day with a given second.
func (t *times) unit(second, unit int64) times {
	part := *t
	part.hours &= 1 << (second / 3600)
	if unit < 3600 {
		part.minutes &= 1 << (second / 60 % 60)
	}
	if unit < 60 {
		part.seconds &= 1 << (second % 60)
	}
	return part
}

// inverse returns the number whose product with a is 1 modulo m. They have no common divisor.
func inverse(a, m int64) int64 {
	x, y, r, s := int64(1), int64(0), mod(a, m), m
	for s != 0 {
		q := r / s
		x, y, r, s = y, x-q*y, s, r-q*s
	}
	return mod(x, max(m, 1))
}

// reach takes the weekdays out of the tile on which no step ever falls into its times, and reports whether any is left.
// Steps come back to the same place of the week after some weeks; in between they visit every place that is as far from
// the anchor, modulo the greatest common divisor of a step and a week.
func (s *stride) reach() bool {
	visited := *s
	visited.grid = stepCycle(s.grid.anchor, gcd(s.grid.stride, weekLength/s.unit))
	weekdays := uint64(0)
	for weekday := range int64(7) {
		const monday = -3 // 1969-12-29
		start := (monday + weekday) * dayLength
		if _, ok := visited.within(start, start+dayLength-1); ok {
			weekdays |= 1 << weekday
		}
	}
	if weekdays != 1<<7-1 {
		s.tile.dates.days = s.tile.dates.days.and(daysOfWeek(weekdays))
	}
	return !s.tile.never()
}

// daysOfWeek returns the days with certain weekdays, Monday at bit 0.
func daysOfWeek(weekdays uint64) *yearDays {
	return fillYearDays(func(y shape, days *dayBits) {
		for day := range y.length() {
			if weekdays>>((y.weekday+day)%7)&1 == 1 {
				days.set(day)
			}
		}
	})
}

// within returns the first second of the set in a…b, two seconds of one day, whatever the tile's dates.
func (s *stride) within(a, b int64) (int64, bool) {
	midnight := a - mod(a, dayLength)
	for a <= b {
		number, _ := divide(a, s.unit)
		step, _ := s.grid.next(number)
		if step > number {
			a = step * s.unit
		}
		if a > b {
			break
		}
		time, ok := s.tile.times.next(a - midnight)
		if !ok || midnight+time > b {
			break
		}
		a = midnight + time
		if number, _ := divide(a, s.unit); number == step {
			return a, true
		}
	}
	return 0, false
}

func mod(a, b int64) int64 {
	_, rest := divide(a, b)
	return rest
}

// meet returns the first second not before w that lies in a step and in the tile's times, whatever its date. It has
// windows.
func (s *stride) meet(w int64) (int64, bool) {
	number, rest := divide(w, s.unit)
	if step, _ := s.grid.next(number); step == number && rest > 0 { // in the middle of a step
		if match, ok := s.within(w, w-rest+s.unit-1); ok {
			return match, true
		}
		number++
	}
	step, _ := s.grid.next(number)
	perDay := dayLength / s.unit
	k := s.windows.meeting(mod(step, perDay), s.grid.stride, perDay)
	if k < 0 {
		return 0, false
	}
	start := (step + k*s.grid.stride) * s.unit
	return s.within(start, start+s.unit-1)
}

// meetLast returns the last second not after w that lies in a step and in the tile's times, whatever its date.
func (s *stride) meetLast(w int64) (int64, bool) {
	number, rest := divide(w, s.unit)
	if s.grid.last(number) == number && rest < s.unit-1 {
		if match, ok := s.lastWithin(w-rest, w); ok {
			return match, true
		}
		number--
	}
	step := s.grid.last(number)
	perDay := dayLength / s.unit
	k := s.windows.meeting(mod(step, perDay), -s.grid.stride, perDay)
	if k < 0 {
		return 0, false
	}
	start := (step - k*s.grid.stride) * s.unit
	return s.lastWithin(start, start+s.unit-1)
}

// lastWithin returns the last of the tile's times in a…b, two seconds of one unit of the day.
func (s *stride) lastWithin(a, b int64) (int64, bool) {
	midnight := a - mod(a, dayLength)
	time, ok := s.tile.times.last(b - midnight)
	return midnight + time, ok && midnight+time >= a
}

func (s *stride) next(w int64) (int64, bool) {
	for range searchLimit {
		if s.long {
			met, ok := s.meet(w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := divide(w, s.unit)
		step, _ := s.grid.next(number)
		w = max(w, step*s.unit)
		day, _ := divide(w, dayLength)
		found, ok := s.tile.dates.next(day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found * dayLength
			continue
		}
		end := day*dayLength + dayLength - 1
		if match, ok := s.within(w, end); ok {
			return match, true
		}
		w = end + 1
	}
	return 0, false
}

func (s *stride) last(w int64) (int64, bool) {
	for range searchLimit {
		if s.long {
			met, ok := s.meetLast(w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := divide(w, s.unit)
		step := s.grid.last(number)
		w = min(w, (step+1)*s.unit-1)
		day, second := divide(w, dayLength)
		found, ok := s.tile.dates.last(day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found*dayLength + dayLength - 1
			continue
		}
		time, ok := s.tile.times.last(second)
		if !ok {
			w = day*dayLength - 1
			continue
		}
		w = day*dayLength + time
		if number, _ := divide(w, s.unit); number == step {
			return w, true
		}
	}
	return 0, false
}

func (s *stride) count(a, b int64) int64 {
	if a > b {
		return 0
	}
	if s.unit == 1 && s.tile.dates.unit == eachDay && s.tile.dates.days == everyDay && s.tile.times == allDay {
		return s.grid.count(a, b)
	}
	if s.long {
		n := int64(0)
		for w, ok := s.next(a); ok && w <= b; w, ok = s.next(w + 1) {
			n++
		}
		return n
	}
	first, _ := divide(a, dayLength)
	final, _ := divide(b, dayLength)
	d := s.dayByDay()
	if first == final {
		return d.part(first, a, b)
	}
	n := d.part(first, a, (first+1)*dayLength-1) + d.part(final, final*dayLength, b)
	turn := s.grid.stride / gcd(s.grid.stride, dayLength/s.unit) // days after which the steps come back to the same times
	first++
	if s.tile.dates.unit == eachDay && s.tile.dates.days == everyDay && final-first > 2*turn {
		turns := (final - first) / turn
		n += turns * d.days(first, first+turn-1)
		first += turns * turn
	}
	return n + d.days(first, final-1)
}

// dayCount counts a stride day by day. It remembers the sizes of days, by how far the first step is from midnight.
type dayCount struct {
	*stride

	sizes map[int64]int64
}

func (s *stride) dayByDay() *dayCount { return &dayCount{s, map[int64]int64{}} }

// part returns how many seconds of the set lie in a…b, two seconds of a day.
func (d *dayCount) part(day, a, b int64) int64 {
	if !d.tile.dates.has(day) {
		return 0
	}
	return d.size(a, b)
}

// days returns how many seconds of the set lie on the days first…final.
func (d *dayCount) days(first, final int64) int64 {
	n := int64(0)
	for day, ok := d.tile.dates.next(first); ok && day <= final; day, ok = d.tile.dates.next(day + 1) {
		midnight := day * dayLength
		step, _ := d.grid.next(midnight / d.unit)
		phase := step - midnight/d.unit
		size, known := d.sizes[phase]
		if !known {
			size = d.size(midnight, midnight+dayLength-1)
			d.sizes[phase] = size
		}
		n += size
	}
	return n
}

// size returns how many seconds of the set lie in a…b, two seconds of one day of the tile's dates.
func (s *stride) size(a, b int64) int64 {
	if s.windows != nil && b-a == dayLength-1 {
		return s.sizeOfDay(a / s.unit)
	}
	n := int64(0)
	for w, ok := s.within(a, b); ok; w, ok = s.within(w+1, b) {
		n++
	}
	return n
}

// sizeOfDay returns how many seconds of the set lie in the day that begins with a unit. Every unit has the same times.
func (s *stride) sizeOfDay(midnight int64) int64 {
	n := int64(0)
	for _, run := range s.windows {
		n += s.grid.count(midnight+run[0], midnight+run[1])
	}
	if s.unit > 1 {
		n *= int64(bits.OnesCount64(s.tile.times.seconds))
	}
	if s.unit > 60 {
		n *= int64(bits.OnesCount64(s.tile.times.minutes))
	}
	return n
}

// covers reports whether every step of another stride, at the tile's times of its unit, is a step of s too.
func (s *stride) covers(o *stride) bool {
	if s.unit > o.unit {
		return false
	}
	ratio := o.unit / s.unit
	if o.grid.stride*ratio%s.grid.stride != 0 {
		return false
	}
	inner := o.tile.times // the times of one of the other's units, in units of s
	inner.hours = 1
	if o.unit < 3600 {
		inner.minutes = 1
	}
	if o.unit == 1 {
		inner.seconds = 1
	}
	for second, ok := inner.next(0); ok; second, ok = inner.after(second) {
		if mod(o.grid.anchor*ratio+second/s.unit-s.grid.anchor, s.grid.stride) != 0 {
			return false
		}
	}
	return true
}

// without returns the set without tiles and without other strides, as far as those step on all of its own steps.
func (s *stride) without(minus []tile, excluded []*stride) walls {
	minus = slices.Clone(minus)
	for _, e := range excluded {
		if e.covers(s) {
			minus = append(minus, e.tile)
		}
	}
	if len(minus) == 0 || len(minus) > maxTiles {
		return s
	}
	filter := newMosaic([]tile{s.tile}, minus)
	if _, none := filter.(nothing); none {
		return filter
	}
	return &sieve{s, filter}
}

// sieve is the part of a stride that lies in another set.
type sieve struct {
	stride *stride
	filter walls
}

func (s *sieve) next(w int64) (int64, bool) {
	for range searchLimit {
		step, ok := s.stride.next(w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.next(step); !ok || w == step {
			return w, ok
		}
	}
	return 0, false
}

func (s *sieve) last(w int64) (int64, bool) {
	for range searchLimit {
		step, ok := s.stride.last(w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.last(step); !ok || w == step {
			return w, ok
		}
	}
	return 0, false
}

func (s *sieve) count(a, b int64) int64 {
	n := int64(0)
	for w, ok := s.next(a); ok && w <= b; w, ok = s.next(w + 1) {
		n++
	}
	return n
}
