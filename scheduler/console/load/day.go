package load

import (
	"time"
)

// span is a part of the calendar: the hours of one day or of a week.
type span struct {
	days []day
}

// day is a day in a zone.
type day struct {
	Date  time.Time   // its midnight, or the first instant after a skipped midnight
	At    []time.Time // its hours, and the end of the last
	Shift time.Duration
}

// hourLabel returns the label of an hour, with its UTC offset if the hour repeats.
func (d *day) hourLabel(i int) string {
	label := d.At[i].Format("15:04")
	if d.Shift != 0 {
		label += " " + offset(d.At[i])
	}
	return label
}

// dayOf returns the day of an instant in its zone. At a DST change, an hour is missing, repeated, or shorter.
func dayOf(t time.Time) day {
	y, m, d := t.Date()
	from, to := startOf(y, m, d, t.Location()), startOf(y, m, d+1, t.Location())
	one := day{Date: from}
	_, before := from.Zone()
	_, after := to.Add(-1).Zone()
	one.Shift = time.Duration(after-before) * time.Second
	for at := from; at.Before(to); {
		one.At = append(one.At, at)
		at = nextHour(at)
	}
	one.At = append(one.At, to)
	return one
}

// startOf returns the beginning of a day in a zone. If the clock skips midnight, the day begins later. If a backward
// change repeats the beginning of a date, startOf returns the first one.
func startOf(y int, m time.Month, d int, zone *time.Location) time.Time {
	noon := time.Date(y, m, d, 12, 0, 0, 0, zone)
	t := noon
	for range 15 { // no day has that many hours before its noon
		before := t.Add(-time.Hour)
		if before.Day() != noon.Day() {
			break
		}
		t = before
	}
	// Less than an hour or a DST change remains.
	for t.Add(-time.Minute).Day() == noon.Day() {
		t = t.Add(-time.Minute)
	}
	return t
}

// nextHour returns the next full hour on the clock, or an earlier DST change.
func nextHour(t time.Time) time.Time {
	_, before := t.Zone()
	next := t.Add(time.Duration(60-t.Minute()) * time.Minute)
	if _, after := next.Zone(); after == before {
		return next
	}
	for at := t.Add(time.Minute); at.Before(next); at = at.Add(time.Minute) {
		if _, after := at.Zone(); after != before {
			return at
		}
	}
	return next
}

// weekOf returns the week of an instant; weeks begin on Monday.
func weekOf(t time.Time) span {
	y, m, d := t.Date()
	monday := d - (int(t.Weekday())+6)%7
	var s span
	for i := range 7 {
		s.days = append(s.days, dayOf(time.Date(y, m, monday+i, 12, 0, 0, 0, t.Location())))
	}
	return s
}

// instants returns the hours of all days, and the end of the last.
func (s *span) instants() (at []time.Time) {
	for _, d := range s.days {
		at = append(at, d.At[:len(d.At)-1]...)
	}
	return append(at, s.end())
}

func (s *span) begin() time.Time { return s.days[0].At[0] }

func (s *span) end() time.Time {
	last := s.days[len(s.days)-1]
	return last.At[len(last.At)-1]
}
