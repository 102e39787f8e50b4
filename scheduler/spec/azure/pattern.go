package azure

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// periods is a set of periods (seconds, minutes, hours or days), each known by its number since the epoch.
type periods interface {
	// Next returns the first period not before p, false if there is none up to the year 9999.
	Next(p int64) (int64, bool)
	// Last returns the last period not after p. There must be one.
	Last(p int64) int64
	// Count returns how many lie in a…b.
	Count(a, b int64) int64
}

// sharp is the one time at which a period begins.
var sharp = calendar.Times{Hours: 1, Minutes: 1, Seconds: 1}

// pattern is a set of seconds since the epoch: in each of some periods, the same times. All of Azure's recurrences have
// this shape, with days and times of day, or hours and minutes, or seconds alone.
type pattern struct {
	unit    int64 // length of a period in seconds
	periods periods
	clock   calendar.Times // times within a period, all less than unit
}

// Next returns the first second of the set not before s.
func (p *pattern) Next(s int64) (int64, bool) {
	period, rest := calendar.Divide(s, p.unit)
	start, ok := p.periods.Next(period)
	if ok && start == period {
		if t, ok := p.clock.Next(rest); ok {
			return start*p.unit + t, true
		}
		start, ok = p.periods.Next(period + 1)
	}
	return start*p.unit + p.clock.First(), ok
}

// Last returns the last second of the set not after s. There must be one.
func (p *pattern) Last(s int64) int64 {
	period, rest := calendar.Divide(s, p.unit)
	start := p.periods.Last(period)
	if start == period {
		if t, ok := p.clock.Last(rest); ok {
			return start*p.unit + t
		}
		start = p.periods.Last(period - 1)
	}
	t, _ := p.clock.Last(86_399)
	return start*p.unit + t
}

// Count returns how many seconds of the set lie in a…b.
func (p *pattern) Count(a, b int64) int64 {
	if a > b {
		return 0
	}
	return p.before(b+1, a) - p.before(a, a)
}

// before returns how many seconds of the set come before s and not before the beginning of origin's period.
func (p *pattern) before(s, origin int64) int64 {
	period, rest := calendar.Divide(s, p.unit)
	from, _ := calendar.Divide(origin, p.unit)
	n := p.periods.Count(from, period-1) * p.clock.Size()
	if p.periods.Count(period, period) > 0 {
		n += p.clock.Before(rest)
	}
	return n
}
