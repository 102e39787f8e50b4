package limits

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Caller is a run that wants a slot: a pointer to a type that embeds [Call].
type Caller interface{ call() *Call }

// Call is what the limits know of a run. The exported fields are set before
// the run is submitted, and left alone until it is started, deferred or drained.
type Call struct {
	Key           scheduler.Key
	Target        string
	Rule          *scheduler.TargetRule // that its collection has for its target; nil: none
	DeferredSince time.Time             // since when the target's circuit has held it back; zero: it has not

	group  string    // runs of one group share limits: the target's, or those of one collection to it
	queued time.Time // when it began to wait for a slot
	probe  bool      // it finds out whether its target is back
}

// Waited returns how long the run has waited for its slot, from when it was
// submitted last.
func (c *Call) Waited(now time.Time) time.Duration { return now.Sub(c.queued) }

func (c *Call) call() *Call { return c }

// enter begins the wait for a slot.
func (c *Call) enter(now time.Time) {
	c.queued, c.group = now, c.Target
	if c.Rule != nil {
		c.group = c.Key.Collection + " " + c.Target
	}
}

// forced reports whether the run has been deferred for so long that it goes
// ahead although the circuit is open.
func (c *Call) forced(rule *scheduler.BreakerRule, now time.Time) bool {
	return !c.DeferredSince.IsZero() && now.Sub(c.DeferredSince) >= rule.Most
}
