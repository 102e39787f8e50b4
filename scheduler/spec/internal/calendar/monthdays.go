package calendar

import "time"

// MonthDays holds the days of a month as a mask, bit 1 to bit 31, for each of the 28 shapes that a month can have: by
// the weekday of its first day (from Monday) and its length less 28.
type MonthDays [7][4]uint32

// NewMonthDays returns the days that the function calls for in a month of each shape.
func NewMonthDays(days func(weekday, length int) uint32) *MonthDays {
	var m MonthDays
	for weekday := range m {
		for i := range m[weekday] {
			m[weekday][i] = days(weekday, 28+i) & LengthMask(28+i)
		}
	}
	return &m
}

// LengthMask returns the mask of all days of a month.
func LengthMask(length int) uint32 { return 1<<length<<1 - 2 }

// DayMask returns the days of a month of that length; no days say nothing and are all of them.
func DayMask(days []int, length int) uint32 {
	if len(days) == 0 {
		return LengthMask(length)
	}
	set := uint32(0)
	for _, day := range days {
		if day < 0 {
			day += length + 1
		}
		if day > 0 {
			set |= 1 << day
		}
	}
	return set
}

// ClampedTo returns the day of each month or, if it is too short, its last.
func ClampedTo(day int) *MonthDays {
	return NewMonthDays(func(_, length int) uint32 { return 1 << min(day, length) })
}

// NthWeekday returns the n-th weekday, from its start (1…5) or its end (-1…-5), of a month that begins on the weekday
// first (from Monday): as a mask, empty if the month does not have it. Zero is every such weekday.
func NthWeekday(day time.Weekday, n, first, length int) uint32 {
	begin := 1 + (int(day+6)%7-first+7)%7
	end := begin + (length-begin)/7*7
	switch {
	case n > 0:
		return within(begin+7*(n-1), length)
	case n < 0:
		return within(end+7*(n+1), length)
	}
	set := uint32(0)
	for d := begin; d <= end; d += 7 {
		set |= 1 << d
	}
	return set
}

// within returns the mask of one day, empty if the month does not have it.
func within(day, length int) uint32 {
	if day < 1 || day > length {
		return 0
	}
	return 1 << day
}
