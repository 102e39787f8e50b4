package spec

import "math/bits"

// within returns the first second of a day with those layers not before s.
func (m *mosaic) within(l layers, s int64) (int64, bool) {
	begin, minute, second := int(s/3600), int(s/60%60), int(s%60)
	for hours := m.hoursOf(l) >> begin << begin; hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros32(hours)
		if hour != begin {
			minute, second = 0, 0
		}
		for minutes := m.minutesOf(l, hour) >> minute << minute; minutes != 0; minutes &= minutes - 1 {
			found := bits.TrailingZeros64(minutes)
			set := m.secondsOf(l, hour, found)
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
func (m *mosaic) withinLast(l layers, s int64) (int64, bool) {
	end, minute, second := int(s/3600), int(s/60%60), int(s%60)
	for hours := m.hoursOf(l) & (1<<end<<1 - 1); hours != 0; {
		hour := bits.Len32(hours) - 1
		hours &^= 1 << hour
		if hour != end {
			minute, second = 59, 59
		}
		for minutes := m.minutesOf(l, hour) & (1<<minute<<1 - 1); minutes != 0; {
			found := bits.Len64(minutes) - 1
			minutes &^= 1 << found
			set := m.secondsOf(l, hour, found)
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

func (m *mosaic) next(w int64) (int64, bool) {
	var memory barren
	var ahead [maxTiles]int64
	day, second := divide(w, dayLength)
	m.expect(&ahead, day)
	for range m.patience() {
		found, ok := m.nextDay(day, &ahead)
		if !ok {
			return 0, false
		}
		if found != day {
			day, second = found, 0
		}
		if l := m.layersOf(day); !memory.knows(l) {
			if s, ok := m.within(l, second); ok {
				return day*dayLength + s, true
			}
			if second == 0 {
				memory.add(l)
			}
		}
		day, second = day+1, 0
	}
	return 0, false
}

func (m *mosaic) last(w int64) (int64, bool) {
	var memory barren
	var behind [maxTiles]int64
	day, second := divide(w, dayLength)
	m.recall(&behind, day)
	for range m.patience() {
		found, ok := m.lastDay(day, &behind)
		if !ok {
			return 0, false
		}
		if found != day {
			day, second = found, dayLength-1
		}
		if l := m.layersOf(day); !memory.knows(l) {
			if s, ok := m.withinLast(l, second); ok {
				return day*dayLength + s, true
			}
			if second == dayLength-1 {
				memory.add(l)
			}
		}
		day, second = day-1, dayLength-1
	}
	return 0, false
}

// patience is how many days without anything left a search passes before it gives up.
func (m *mosaic) patience() int { return searchLimit / (2 * (len(m.plus) + len(m.minus))) }
