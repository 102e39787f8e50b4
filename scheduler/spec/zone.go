package spec

import (
	"math"
	"slices"
	"sync"
	"time"
)

// zone is the history and the future of a zone's offset from UTC, in a form that answers in constant time and without
// allocation. What the time zone database says of particular years is a list up to the year 2100. From then on a zone
// changes its clock by a rule that knows only the month, the week and the weekday (a POSIX TZ string), so its changes
// depend on nothing but the shape of a year: the weekday of its first day and whether it is a leap year.
type zone struct {
	name    string
	changes []change       // ascending; the first is at the beginning of time
	tail    [2][7][]change // of years from 2100 on, by leap year and the weekday of 1 January; seconds from 1 January
}

// change is an instant, in seconds, from which an offset holds.
type change struct{ at, offset int64 }

// stretch is a time during which a zone's offset does not change. Seconds since the epoch, end not included.
type stretch struct {
	start, end int64
	offset     int64 // east of UTC
	before     int64 // the offset before start
}

const (
	tailYear  = 2100
	tailCycle = 28 // years in which every shape of a year occurs, within a century
	// margin is more than any difference between a wall clock and UTC, in seconds.
	margin = 30 * 3600
)

var tailStart = firstDay(tailYear*12) * dayLength

// zones holds the compiled zones by *time.Location. There are as many as names in the time zone database, at most.
var zones sync.Map

// zoneOf returns the compiled form of a location.
func zoneOf(loc *time.Location) *zone {
	if z, ok := zones.Load(loc); ok {
		return z.(*zone)
	}
	z, _ := zones.LoadOrStore(loc, newZone(loc))
	return z.(*zone)
}

func newZone(loc *time.Location) *zone {
	z := &zone{name: loc.String()}
	begin := time.Unix(-1<<38, 0).In(loc)
	_, offset := begin.Zone()
	z.changes = append([]change{{math.MinInt64, int64(offset)}}, changesOf(begin, tailStart)...)
	for year := int64(tailYear + 4); year < tailYear+4+tailCycle; year++ {
		first, after := firstDay(year*12), firstDay((year+1)*12)
		list := changesOf(time.Unix(first*dayLength, 0).In(loc), after*dayLength)
		for i := range list {
			list[i].at -= first * dayLength
		}
		z.tail[after-first-365][weekdayOf(first)] = list
	}
	return z
}

// changesOf returns the changes of the offset after t and before end.
func changesOf(t time.Time, end int64) []change {
	var list []change
	_, offset := t.Zone()
	for {
		_, bound := t.ZoneBounds()
		if bound.IsZero() {
			return list
		}
		if !bound.After(t) { // where package time computes by rule, it ends a stretch 365 days after each new year
			bound = t.Add(dayLength * time.Second)
		}
		if t = bound; t.Unix() >= end {
			return list
		}
		if _, next := t.Zone(); next != offset { // else only its name changes
			offset = next
			list = append(list, change{t.Unix(), int64(offset)})
		}
	}
}

// at returns the stretch of an instant.
func (z *zone) at(u int64) stretch {
	if u >= tailStart && len(z.tail[0][0]) > 0 {
		return z.future(u)
	}
	i, found := slices.BinarySearchFunc(z.changes, u, func(c change, u int64) int {
		switch {
		case c.at < u:
			return -1
		case c.at > u:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	s := stretch{z.changes[i].at, forever, z.changes[i].offset, z.changes[max(i-1, 0)].offset}
	if i+1 < len(z.changes) {
		s.end = z.changes[i+1].at
	} else if len(z.tail[0][0]) > 0 {
		s.end = tailStart + z.year(tailYear)[0].at
	}
	return s
}

// future returns the stretch of an instant from the year 2100 on, in a zone that still changes its clock then.
func (z *zone) future(u int64) stretch {
	day, _ := divide(u, dayLength)
	year, _ := yearOf(day)
	list, first := z.year(year), firstDay(year*12)*dayLength
	i := len(list) - 1
	for i >= 0 && first+list[i].at > u {
		i--
	}
	var s stretch
	if i < 0 {
		if year == tailYear { // the stretch began in the list
			s = stretch{z.changes[len(z.changes)-1].at, first + list[0].at, z.changes[len(z.changes)-1].offset, 0}
			s.before = z.changes[max(len(z.changes)-2, 0)].offset
			return s
		}
		earlier := z.year(year - 1)
		last := earlier[len(earlier)-1]
		s.start, s.offset = firstDay((year-1)*12)*dayLength+last.at, last.offset
		s.before = earlier[(2*len(earlier)-2)%len(earlier)].offset
	} else {
		s.start, s.offset = first+list[i].at, list[i].offset
		s.before = list[(i-1+len(list))%len(list)].offset
	}
	if i+1 < len(list) {
		s.end = first + list[i+1].at
	} else {
		s.end = firstDay((year+1)*12)*dayLength + z.year(year + 1)[0].at
	}
	return s
}

// year returns the changes of a year from 2100 on.
func (z *zone) year(year int64) []change {
	first := firstDay(year * 12)
	return z.tail[firstDay((year+1)*12)-first-365][weekdayOf(first)]
}
