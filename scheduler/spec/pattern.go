package spec

// periods is a set of periods (seconds, minutes, hours or days), each known by its number since the epoch.
type periods interface {
	// next returns the first period not before p, false if there is none up to the year 9999.
	next(p int64) (int64, bool)
	// last returns the last period not after p. There must be one.
	last(p int64) int64
	// count returns how many lie in a…b.
	count(a, b int64) int64
}

// pattern is a set of seconds since the epoch: in each of some periods, the same times. All of Azure's recurrences have
// this shape, with days and times of day, or hours and minutes, or seconds alone.
type pattern struct {
	unit    int64 // length of a period in seconds
	periods periods
	clock   clock // times within a period, all less than unit
}

// next returns the first second of the set not before s.
func (p *pattern) next(s int64) (int64, bool) {
	period, rest := divide(s, p.unit)
	start, ok := p.periods.next(period)
	if ok && start == period {
		if t, ok := p.clock.next(rest); ok {
			return start*p.unit + t, true
		}
		start, ok = p.periods.next(period + 1)
	}
	return start*p.unit + p.clock.first(), ok
}

// last returns the last second of the set not after s. There must be one.
func (p *pattern) last(s int64) int64 {
	period, rest := divide(s, p.unit)
	start := p.periods.last(period)
	if start == period {
		if t, ok := p.clock.last(rest); ok {
			return start*p.unit + t
		}
		start = p.periods.last(period - 1)
	}
	t, _ := p.clock.last(86_399)
	return start*p.unit + t
}

// count returns how many seconds of the set lie in a…b.
func (p *pattern) count(a, b int64) int64 {
	if a > b {
		return 0
	}
	return p.before(b+1, a) - p.before(a, a)
}

// before returns how many seconds of the set come before s and not before the beginning of origin's period.
func (p *pattern) before(s, origin int64) int64 {
	period, rest := divide(s, p.unit)
	from, _ := divide(origin, p.unit)
	n := p.periods.count(from, period-1) * p.clock.size()
	if p.periods.count(period, period) > 0 {
		n += p.clock.before(rest)
	}
	return n
}
