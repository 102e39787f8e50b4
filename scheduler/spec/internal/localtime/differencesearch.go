package localtime

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// within returns the first second of a day with those layers not before s.
func (m *Difference) within(l layers, s int64) (int64, bool) {
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
func (m *Difference) withinLast(l layers, s int64) (int64, bool) {
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

// Next implements [Set].
func (m *Difference) Next(w int64) (int64, bool) {
	var memory barren
	var ahead [MaxTiles]int64
	day, second := calendar.Divide(w, calendar.DayLength)
	m.begin(&ahead, day-1)
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
				return day*calendar.DayLength + s, true
			}
			if second == 0 {
				memory.add(l)
			}
		}
		day, second = day+1, 0
	}
	return 0, false
}

// Last implements [Set].
func (m *Difference) Last(w int64) (int64, bool) {
	var memory barren
	var behind [MaxTiles]int64
	day, second := calendar.Divide(w, calendar.DayLength)
	m.begin(&behind, day+1)
	for range m.patience() {
		found, ok := m.lastDay(day, &behind)
		if !ok {
			return 0, false
		}
		if found != day {
			day, second = found, calendar.DayLength-1
		}
		if l := m.layersOf(day); !memory.knows(l) {
			if s, ok := m.withinLast(l, second); ok {
				return day*calendar.DayLength + s, true
			}
			if second == calendar.DayLength-1 {
				memory.add(l)
			}
		}
		day, second = day-1, calendar.DayLength-1
	}
	return 0, false
}

// patience is how many days without anything left a search passes before it gives up.
func (m *Difference) patience() int { return calendar.SearchLimit / (2 * (len(m.plus) + len(m.minus))) }
