package localtime

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

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

// patience is how many days without anything left a search passes before it gives up.
func (d *Difference) patience() int { return calendar.SearchLimit / (2 * (len(d.plus) + len(d.minus))) }

// layers is the work to find out which tiles lie on a day.
func (d *Difference) layers() int64 { return int64(len(d.plus) + len(d.minus)) }

// work is the work to put the seconds of a minute together.
func (l layers) work() int64 { return 1 + int64(bits.OnesCount64(l.plus)+bits.OnesCount64(l.minus))/8 }
