package tz

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// Zone holds the past and future offsets of a zone for lookups in constant time and without allocation. The transitions
// of particular years are a list up to the year 2100. From 2100 on, a zone follows a rule of month, week and weekday (a
// POSIX TZ string), so that its transitions depend only on the weekday of a year's first day and on whether it is a
// leap year.
type Zone struct {
	Name    string
	fixed   bool               // its offset never changes
	changes []transition       // ascending; the first is at the beginning of time
	tail    [2][7][]transition // of years from 2100 on, by leap year and the weekday of 1 January; seconds from 1 January
}

// transition is an instant, in seconds, from which an offset holds.
type transition struct{ at, offset int64 }

// Interval is a time during which a zone's offset does not change. Seconds since the epoch, end not included.
type Interval struct {
	Start, End int64
	Offset     int64 // east of UTC
	Before     int64 // the offset before start
}

// Changed returns the first and the last second on the clock that the change at the start of an interval jumps over, or
// shows twice.
func (st Interval) Changed() (a, b int64) {
	a, b = st.Start+st.Before, st.Start+st.Offset
	return min(a, b), max(a, b) - 1
}

const (
	tailYear  = 2100
	tailCycle = 28 // years in which every shape of a year occurs, within a century
	// Margin is more than any difference between a local clock and UTC, in seconds.
	Margin = 30 * 3600
)

var tailStart = calendar.FirstDay(tailYear*12) * calendar.DayLength

// zones holds the compiled zones by *time.Location, at most one for each name in the time zone database.
var zones sync.Map

// Of compiles the zone of a location, once.
func Of(loc *time.Location) *Zone {
	if z, ok := zones.Load(loc); ok {
		return z.(*Zone)
	}
	z, _ := zones.LoadOrStore(loc, newZone(loc))
	return z.(*Zone)
}

func newZone(loc *time.Location) *Zone {
	z := &Zone{Name: loc.String()}
	begin := time.Unix(-1<<38, 0).In(loc)
	_, offset := begin.Zone()
	z.changes = append([]transition{{math.MinInt64, int64(offset)}}, changesOf(begin, tailStart)...)
	for year := int64(tailYear + 4); year < tailYear+4+tailCycle; year++ {
		first, after := calendar.FirstDay(year*12), calendar.FirstDay((year+1)*12)
		list := changesOf(time.Unix(first*calendar.DayLength, 0).In(loc), after*calendar.DayLength)
		for i := range list {
			list[i].at -= first * calendar.DayLength
		}
		z.tail[after-first-365][calendar.WeekdayOf(first)] = list
	}
	z.fixed = len(z.changes) == 1 && len(z.tail[0][0]) == 0
	return z
}

// changesOf returns the changes of the offset after t and before end.
func changesOf(t time.Time, end int64) []transition {
	var list []transition
	_, offset := t.Zone()
	for {
		_, bound := t.ZoneBounds()
		if bound.IsZero() {
			return list
		}
		if !bound.After(t) { // where package time computes by rule, it ends an interval 365 days after each new year
			bound = t.Add(calendar.DayLength * time.Second)
		}
		if t = bound; t.Unix() >= end {
			return list
		}
		if _, next := t.Zone(); next != offset { // else only its name changes
			offset = next
			list = append(list, transition{t.Unix(), int64(offset)})
		}
	}
}

// Fixed returns the offset of a zone that never changes it.
func (z *Zone) Fixed() (offset int64, fixed bool) { return z.changes[0].offset, z.fixed }

// At returns the interval of an instant.
func (z *Zone) At(u int64) Interval {
	if u >= tailStart && len(z.tail[0][0]) > 0 {
		return z.future(u)
	}
	i, found := slices.BinarySearchFunc(z.changes, u, func(c transition, u int64) int { return cmp.Compare(c.at, u) })
	if !found {
		i--
	}
	s := Interval{z.changes[i].at, calendar.Forever, z.changes[i].offset, z.changes[max(i-1, 0)].offset}
	if i+1 < len(z.changes) {
		s.End = z.changes[i+1].at
	} else if len(z.tail[0][0]) > 0 {
		s.End = tailStart + z.year(tailYear)[0].at
	}
	return s
}

// future returns the interval of an instant from the year 2100 on, in a zone that still changes its clock then.
func (z *Zone) future(u int64) Interval {
	day, _ := calendar.Divide(u, calendar.DayLength)
	year, dayOfYear := calendar.YearOf(day)
	list, first := z.year(year), (day-dayOfYear)*calendar.DayLength
	i := len(list) - 1
	for i >= 0 && first+list[i].at > u {
		i--
	}
	last := z.change(year, i)
	return Interval{last.at, z.change(year, i+1).at, last.offset, z.change(year, i-1).offset}
}

// change returns the i-th change of a year from 2100 on, counted from 0. Indexes out of range select changes of
// adjacent years.
func (z *Zone) change(year int64, i int) transition {
	for ; i < 0; i += len(z.year(year)) {
		year--
		if year < tailYear {
			return z.changes[max(len(z.changes)+i, 0)]
		}
	}
	for ; i >= len(z.year(year)); year++ {
		i -= len(z.year(year))
	}
	c := z.year(year)[i]
	c.at += calendar.FirstDay(year*12) * calendar.DayLength
	return c
}

// year returns the changes of a year from 2100 on.
func (z *Zone) year(year int64) []transition {
	first := calendar.FirstDay(year * 12)
	return z.tail[calendar.FirstDay((year+1)*12)-first-365][calendar.WeekdayOf(first)]
}
