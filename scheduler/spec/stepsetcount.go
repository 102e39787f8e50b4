package spec

import "math/bits"

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
