package document

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ParseTime parses an ISO 8601 date or instant in a format of Azure Scheduler's documents, or in the basic format
// without separators:
//
//	2012-11-04                        that day at 00:00 UTC
//	2012-08-04T00:00                  minutes; UTC, because it has no offset
//	2012-08-04T00:00:30.5Z            seconds, with up to nine decimals
//	2012-08-04T02:00:00+02:00         an offset, which fixes the instant
//	20120804, 20120804T000030Z        the basic format
//	20120804T0200+0200, …+02          offsets may be short in either format
//
// The result is in UTC. Years are 0001-9999, offsets at most 23:59; leap seconds and 24:00 are invalid. Source: "Dates
// and DateTime values" of the Azure Scheduler recurrence page.
func ParseTime(text string) (time.Time, error) {
	s := scanner{rest: text}
	if n := digits(text); n > 4 && strings.HasPrefix(text[n:], "-") {
		s.err = fmt.Errorf("year %s is not in 1-9999", text[:n])
	}
	year := s.number(4, "year")
	basic := s.rest != "" && s.rest[0] != '-'
	month, day := s.dashed("month", basic), s.dashed("day", basic)
	var hour, minute, second, nanosecond, offset int
	if s.err == nil && s.rest != "" {
		s.expect('T')
		hour, minute, second, nanosecond = s.timeOfDay()
		offset = s.offset()
	}
	switch {
	case s.err != nil:
		return time.Time{}, fmt.Errorf("%q is not a date or time: %w; write 2006-01-02 or 2006-01-02T15:04:05Z", text, s.err)
	case year < 1:
		return time.Time{}, fmt.Errorf("%q is not a date or time: year 0 is not in 1-9999", text)
	case month < 1 || month > 12:
		return time.Time{}, fmt.Errorf("%q is not a date or time: month %d is not in 1-12", text, month)
	case day < 1 || day > daysIn(year, month):
		return time.Time{}, fmt.Errorf("%q is not a date or time: %s %d has no day %d", text, time.Month(month), year, day)
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanosecond, time.UTC)
	return t.Add(-time.Duration(offset) * time.Minute), nil
}

// daysIn returns the length of a month.
func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// scanner parses fixed-width fields of rest, up to the first error.
type scanner struct {
	rest string
	err  error
}

// number reads exactly width digits.
func (s *scanner) number(width int, what string) int {
	if s.err != nil {
		return 0
	}
	if digits(s.rest) < width {
		s.err = fmt.Errorf("expected the %s in %d digits", what, width)
		return 0
	}
	n := 0
	for i := range width {
		n = 10*n + int(s.rest[i]-'0')
	}
	s.rest = s.rest[width:]
	return n
}

// below parses a two-digit number less than limit.
func (s *scanner) below(limit int, what string) int {
	n := s.number(2, what)
	if s.err == nil && n >= limit {
		s.err = fmt.Errorf("%s %d is not in 0-%d", what, n, limit-1)
	}
	return n
}

// expect moves behind c.
func (s *scanner) expect(c byte) {
	if s.err == nil && !s.take(c) {
		s.err = fmt.Errorf("expected %q", string(rune(c)))
	}
}

// take moves past c if it is next.
func (s *scanner) take(c byte) bool {
	if s.err != nil || s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// dashed parses a dash, absent in the basic format, and two digits.
func (s *scanner) dashed(what string, basic bool) int {
	if !basic {
		s.expect('-')
	}
	return s.number(2, what)
}

// timeOfDay reads hh:mm[:ss[.fraction]] or hhmm[ss[.fraction]].
func (s *scanner) timeOfDay() (hour, minute, second, nanosecond int) {
	if len(s.rest) > 2 && digits(s.rest) == 2 && s.rest[2] == ':' {
		return s.clock()
	}
	hour, minute = s.below(24, "hour"), s.below(60, "minute")
	if s.err == nil && digits(s.rest) > 0 {
		second = s.below(60, "second")
		nanosecond = s.fraction()
	}
	return hour, minute, second, nanosecond
}

// clock reads hh:mm[:ss[.fraction]].
func (s *scanner) clock() (hour, minute, second, nanosecond int) {
	hour = s.below(24, "hour")
	s.expect(':')
	minute = s.below(60, "minute")
	if s.take(':') {
		second = s.below(60, "second")
		nanosecond = s.fraction()
	}
	return hour, minute, second, nanosecond
}

// fraction parses an optional decimal fraction of a second, in nanoseconds.
func (s *scanner) fraction() int {
	if !s.take('.') {
		return 0
	}
	n := digits(s.rest)
	if n < 1 || n > 9 {
		s.err = errors.New("a fraction of a second has 1 to 9 digits")
		return 0
	}
	text := s.rest[:n] + strings.Repeat("0", 9-n)
	s.rest = s.rest[n:]
	return (&scanner{rest: text}).number(9, "fraction")
}

// offset parses the rest, Z, ±hh[[:]mm] or nothing, in minutes east of UTC.
func (s *scanner) offset() int {
	sign := 0
	switch {
	case s.take('Z'):
	case s.take('+'):
		sign = 1
	case s.take('-'):
		sign = -1
	}
	minutes := 0
	if sign != 0 {
		minutes = 60 * s.below(24, "offset hour")
		if s.take(':') || s.rest != "" {
			minutes += s.below(60, "offset minute")
		}
	}
	if s.err == nil && s.rest != "" {
		s.err = fmt.Errorf("unexpected %q at the end", s.rest)
	}
	return sign * minutes
}
