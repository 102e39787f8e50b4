package servicebus

import "time"

// sweep drops the links that are idle for too long, or too old, and renews
// those in use.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	now := time.Now()
	next := min(p.config.IdleAfter, p.times.renew/2) // for links that are opened meanwhile
	for _, l := range p.links {
		next = min(next, p.inspect(l, now))
	}
	if len(p.links) == 0 {
		p.sweeper = nil
		return
	}
	p.sweeper.Reset(max(next, time.Millisecond))
}

// inspect does with l what its age and use ask for, and returns after which
// time to look again.
func (p *pool) inspect(l *link, now time.Time) time.Duration {
	age, idle := now.Sub(l.made), time.Duration(0)
	if l.users == 0 {
		idle = now.Sub(l.used)
	}
	switch {
	case l.users == 0 && (idle >= p.config.IdleAfter || age >= p.times.most):
		p.drop(l)
		return p.config.IdleAfter
	case age >= p.times.renew && l.next == nil && age < p.times.most && idle < p.times.renew/2:
		p.renew(l)
	case age < p.times.renew:
		return min(p.times.renew-age, p.config.IdleAfter-idle)
	}
	return p.config.IdleAfter - idle
}

// renew begins to open the successor of l.
func (p *pool) renew(l *link) {
	l.next = p.start(l.connection, l.to)
	l.next.before = l
}

// succeed lets l, which is open or could not be opened, take the place of the
// link whose successor it is. When it could not be opened for good, that goes
// too, so that attempts find out why.
func (p *pool) succeed(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := l.before
	if old == nil {
		return
	}
	l.before, old.next = nil, nil
	switch {
	case l.err != nil && !judge(l.err).final || old.dropped && l.dropped:
	case old.dropped || p.closed:
		p.drop(l)
	default:
		p.drop(old)
		if l.err == nil {
			p.links[l.to] = l
		}
	}
}
