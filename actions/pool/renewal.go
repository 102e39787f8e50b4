package pool

import "time"

// interval is the time between two sweeps when nothing is due before.
func (p *Pool[K, C]) interval() time.Duration {
	if p.config.RenewAfter > 0 {
		return min(p.config.IdleTimeout, p.config.RenewAfter/2)
	}
	return p.config.IdleTimeout
}

func (p *Pool[K, C]) tooOld(age time.Duration) bool {
	return p.config.MaxAge > 0 && age > p.config.MaxAge
}

// sweep drops the connections that are idle for too long, or too old, and renews
// those in use.
func (p *Pool[K, C]) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	now, next := time.Now(), p.interval()
	for _, e := range p.entries {
		next = min(next, p.inspect(e, now))
	}
	if len(p.entries) == 0 {
		p.sweeper = nil
		return
	}
	p.sweeper.Reset(max(next, time.Millisecond))
}

// inspect does with e what its age and use ask for, and returns after which time
// to look again.
func (p *Pool[K, C]) inspect(e *entry[K, C], now time.Time) time.Duration {
	age, idle := now.Sub(e.made), time.Duration(0)
	if e.users == 0 {
		idle = now.Sub(e.used)
	}
	left, young := p.config.IdleTimeout-idle, p.config.RenewAfter-age
	switch {
	case e.users == 0 && (left <= 0 || p.tooOld(age)):
		p.drop(e)
		return p.config.IdleTimeout
	case young > 0:
		return min(left, young)
	case p.config.RenewAfter > 0 && e.next == nil && !p.tooOld(age) && idle < p.config.RenewAfter/2:
		p.renew(e)
	}
	return left
}

// renew begins to open the successor of e.
func (p *Pool[K, C]) renew(e *entry[K, C]) {
	next, err := p.start(e.key, e.dial)
	if err != nil {
		return // it may be used until it is too old
	}
	e.next, next.before = next, e
}

// succeed lets e, which is open or could not be opened, take the place of the
// connection whose successor it is. When it could not be opened for good, that
// goes too.
func (p *Pool[K, C]) succeed(e *entry[K, C]) {
	old := e.before
	e.before, old.next = nil, nil
	switch {
	case !e.open && (p.config.Final == nil || !p.config.Final(e.err)):
	case old.dropped || p.closed:
		p.drop(e)
	default:
		p.drop(old)
		if e.open {
			p.entries[e.key] = e
		}
	}
}
