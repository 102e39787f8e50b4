package azure

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// limited is a cycle of periods of which those count that begin in certain months.
type limited struct {
	calendar.Cycle

	perDay int64          // periods in a day
	months calendar.Cycle // of months
}

func (l *limited) Next(p int64) (int64, bool) {
	for {
		start, ok := l.Cycle.Next(p)
		if !ok {
			return 0, false
		}
		month := l.month(start)
		allowed, _ := l.months.Next(month)
		if allowed > calendar.LastMonth {
			return 0, false
		}
		if allowed == month {
			return start, true
		}
		p = l.first(allowed)
	}
}

func (l *limited) Last(p int64) int64 {
	for {
		p = l.Cycle.Last(p)
		month := l.month(p)
		allowed := l.months.Last(month)
		if allowed == month {
			return p
		}
		p = l.first(allowed+1) - 1
	}
}

func (l *limited) Count(a, b int64) int64 {
	n := int64(0)
	for month := l.month(a); ; month++ {
		month, _ = l.months.Next(month)
		start := l.first(month)
		if start > b {
			return n
		}
		n += l.Cycle.Count(max(a, start), min(b, l.first(month+1)-1))
	}
}

// month returns the month in which a period begins.
func (l *limited) month(p int64) int64 {
	day, _ := calendar.Divide(p, l.perDay)
	month, _ := calendar.MonthOf(day)
	return month
}

// first returns the first period of a month.
func (l *limited) first(month int64) int64 { return calendar.FirstDay(month) * l.perDay }
