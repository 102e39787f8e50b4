package spec

import "math/bits"

// monthly is a set of days: in each month of a cycle, the days that the month's shape calls for.
type monthly struct {
	months cycle
	days   monthDays
}

// monthDays holds the days of a month as a mask, bit 1 to bit 31, for each of the 28 shapes that a month can have: by
// the weekday of its first day (from Monday) and its length less 28.
type monthDays [7][4]uint32

// newMonthDays returns the days that the function calls for in a month of each shape.
func newMonthDays(days func(weekday, length int) uint32) *monthDays {
	var m monthDays
	for weekday := range m {
		for i := range m[weekday] {
			m[weekday][i] = days(weekday, 28+i) & lengthMask(28+i)
		}
	}
	return &m
}

// lengthMask returns the mask of all days of a month.
func lengthMask(length int) uint32 { return 1<<length<<1 - 2 }

// possible reports whether there is a year in which the month (0 is January) has one of the days.
func (m *monthDays) possible(month int64) bool {
	i := int(lengths[month]) - 28
	for weekday := range m {
		if m[weekday][i] != 0 || month == 1 && m[weekday][1] != 0 {
			return true
		}
	}
	return false
}

// of returns the days of a month, whose first day is given.
func (m *monthDays) of(month, first int64) uint32 {
	return m[weekdayOf(first)][monthLength(month)-28]
}

func (m *monthly) next(day int64) (int64, bool) {
	month, dayOfMonth := monthOf(day)
	later := ^uint32(0) << dayOfMonth
	for candidate := month; ; candidate++ {
		var ok bool
		if candidate, ok = m.months.next(candidate); !ok || candidate > lastMonth {
			return 0, false
		}
		first := firstDay(candidate)
		days := m.days.of(candidate, first)
		if candidate == month {
			days &= later
		}
		if days != 0 {
			return first + int64(bits.TrailingZeros32(days)) - 1, true
		}
	}
}

func (m *monthly) last(day int64) int64 {
	month, dayOfMonth := monthOf(day)
	earlier := uint32(1)<<dayOfMonth<<1 - 1
	for candidate := month; ; candidate-- {
		candidate = m.months.last(candidate)
		first := firstDay(candidate)
		days := m.days.of(candidate, first)
		if candidate == month {
			days &= earlier
		}
		if days != 0 {
			return first + int64(bits.Len32(days)) - 2
		}
	}
}

func (m *monthly) count(a, b int64) int64 {
	n := 0
	month, dayOfMonth := monthOf(a)
	within := ^uint32(0) << dayOfMonth
	for ; ; month++ {
		candidate, ok := m.months.next(month)
		first := firstDay(candidate)
		if !ok || first > b {
			return int64(n)
		}
		if candidate != month || first > a {
			within = ^uint32(0)
		}
		if b-first < 31 {
			within &= 1<<(b-first+1)<<1 - 1
		}
		n += bits.OnesCount32(m.days.of(candidate, first) & within)
		month = candidate
	}
}
