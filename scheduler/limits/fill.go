package limits

import "time"

// fill gives free slots to the targets that wait, in turn.
func (l *Limiter[R]) fill(now time.Time) []R {
	var started []R
	for n := len(l.ready); n > 0 && l.inFlight < l.cfg.Concurrency; n-- {
		q := l.ready[0]
		l.ready = l.ready[1:]
		q.listed = false
		if len(q.runs) == 0 {
			continue // what waited was deferred
		}
		at, ok := q.admits(q.runs[0].call(), l.slow < max(1, l.cfg.Concurrency/2), now)
		if !ok {
			if !at.IsZero() {
				l.wakeAt(at, now)
			}
			l.list(q)
			continue
		}
		started = append(started, l.take(q, now))
		if len(q.runs) > 0 {
			l.list(q)
			n++ // it may have another turn
		}
	}
	return started
}

// list gives q a turn at the next slots when runs wait in it.
func (l *Limiter[R]) list(q *queue[R]) {
	if !q.listed && len(q.runs) > 0 {
		q.listed = true
		l.ready = append(l.ready, q)
	}
}

// take gives a slot to the first run of q.
func (l *Limiter[R]) take(q *queue[R], now time.Time) R {
	l.inFlight++
	if q.slots.slow {
		l.slow++
	}
	return q.pop(now)
}

// leave takes the slot of a run that is over, and returns where it had waited.
func (l *Limiter[R]) leave(c *Call) *queue[R] {
	q := l.groups[c.group]
	q.slots.inFlight--
	l.inFlight--
	if q.slots.slow {
		l.slow--
	}
	return q
}

// prune forgets q when there is nothing to be remembered of it.
func (l *Limiter[R]) prune(q *queue[R], now time.Time) {
	if len(q.runs) == 0 && q.idle(now) {
		delete(l.groups, q.group)
	}
}

// wakeAt fills slots again at a time.
func (l *Limiter[R]) wakeAt(at, now time.Time) {
	if l.closed || l.timer != nil && !l.wake.After(at) {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.wake = at
	l.timer = time.AfterFunc(at.Sub(now), l.woken)
}

// woken fills slots because time has passed. Nothing starts after Drain:
// that waits for the lock.
func (l *Limiter[R]) woken() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	l.refill()
}

// refill fills slots under the lock.
func (l *Limiter[R]) refill() {
	if !l.closed {
		l.start(l.fill(time.Now()))
	}
}
