package spec

// limited is a cycle of periods of which those count that begin in certain months.
type limited struct {
	cycle

	perDay int64 // periods in a day
	months cycle // of months
}

func (l *limited) next(p int64) (int64, bool) {
	for {
		start, ok := l.cycle.next(p)
		if !ok {
			return 0, false
		}
		month := l.month(start)
		allowed, _ := l.months.next(month)
		if allowed > lastMonth {
			return 0, false
		}
		if allowed == month {
			return start, true
		}
		p = l.first(allowed)
	}
}

func (l *limited) last(p int64) int64 {
	for {
		p = l.cycle.last(p)
		month := l.month(p)
		allowed := l.months.last(month)
		if allowed == month {
			return p
		}
		p = l.first(allowed+1) - 1
	}
}

func (l *limited) count(a, b int64) int64 {
	n := int64(0)
	for month := l.month(a); ; month++ {
		month, _ = l.months.next(month)
		start := l.first(month)
		if start > b {
			return n
		}
		n += l.cycle.count(max(a, start), min(b, l.first(month+1)-1))
	}
}

// month returns the month in which a period begins.
func (l *limited) month(p int64) int64 {
	day, _ := divide(p, l.perDay)
	month, _ := monthOf(day)
	return month
}

// first returns the first period of a month.
func (l *limited) first(month int64) int64 { return firstDay(month) * l.perDay }
