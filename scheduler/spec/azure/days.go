package azure

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// monthly is a set of days: in each month of a cycle, the days that the month's shape calls for.
type monthly struct {
	months calendar.Cycle
	days   calendar.MonthDays
}

func (m *monthly) Next(day int64) (int64, bool) {
	month, dayOfMonth := calendar.MonthOf(day)
	later := ^uint32(0) << dayOfMonth
	for candidate := month; ; candidate++ {
		var ok bool
		if candidate, ok = m.months.Next(candidate); !ok || candidate > calendar.LastMonth {
			return 0, false
		}
		first := calendar.FirstDay(candidate)
		days := m.days.In(candidate, first)
		if candidate == month {
			days &= later
		}
		if days != 0 {
			return first + int64(bits.TrailingZeros32(days)) - 1, true
		}
	}
}

func (m *monthly) Last(day int64) int64 {
	month, dayOfMonth := calendar.MonthOf(day)
	earlier := uint32(1)<<dayOfMonth<<1 - 1
	for candidate := month; ; candidate-- {
		candidate = m.months.Last(candidate)
		first := calendar.FirstDay(candidate)
		days := m.days.In(candidate, first)
		if candidate == month {
			days &= earlier
		}
		if days != 0 {
			return first + int64(bits.Len32(days)) - 2
		}
	}
}

func (m *monthly) Count(a, b int64) int64 {
	n := 0
	month, dayOfMonth := calendar.MonthOf(a)
	within := ^uint32(0) << dayOfMonth
	for ; ; month++ {
		candidate, ok := m.months.Next(month)
		first := calendar.FirstDay(candidate)
		if !ok || first > b {
			return int64(n)
		}
		if candidate != month || first > a {
			within = ^uint32(0)
		}
		if b-first < 31 {
			within &= 1<<(b-first+1)<<1 - 1
		}
		n += bits.OnesCount32(m.days.In(candidate, first) & within)
		month = candidate
	}
}
