package limits

import (
	"fmt"
	"time"
)

// Refusal is the reason why a run did not receive a slot. It includes when to try again; zero: when other runs have
// ended.
type Refusal struct {
	Why   string
	Until time.Time
	Hard  bool // do not wait and retry
}

// Enter gives r a slot immediately, which r keeps until [Limiter.Done] or Forgo, or returns the reason for a refusal.
// It never queues r, and queued runs have priority.
func (l *Limiter[R]) Enter(r R) *Refusal {
	c, now := r.call(), l.cfg.Now()
	c.enter(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return &Refusal{Why: "this scheduler is stopping", Hard: true}
	}
	q := l.queueOf(c)
	if d, open := q.defers(c, now); open {
		return &Refusal{
			Why:   fmt.Sprintf("the circuit of %s is open until %s", c.Target, d.Until.UTC().Format(time.RFC3339)),
			Until: d.Until, Hard: true,
		}
	}
	if l.inFlight >= l.cfg.Concurrency {
		return &Refusal{Why: "all slots of this scheduler are taken"}
	}
	at, ok := q.admits(c, l.slow < max(1, l.cfg.Concurrency/2), now)
	if !ok || len(q.runs) > 0 {
		l.prune(q, now)
		return &Refusal{Why: "as many attempts as may be are under way to " + c.Target + ", or wait for their turn", Until: at}
	}
	q.push(r, now)
	l.take(q, now)
	return nil
}

// queueOf returns the queue of a run.
func (l *Limiter[R]) queueOf(c *Call) *queue[R] {
	q := l.groups[c.group]
	if q == nil {
		q = &queue[R]{group: c.group, target: target{
			collection: c.Key.Collection, name: c.Target, slots: slots{allowed: min(firstSlots, l.cfg.PerTarget)},
		}}
		l.groups[c.group] = q
	}
	q.rule = c.Rule
	return q
}
