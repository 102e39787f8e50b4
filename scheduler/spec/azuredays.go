package spec

import "math/bits"

// monthly is a set of days: in each month of a cycle, the days that the month's shape calls for.
type monthly struct {
	months cycle
	days   monthDays
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
