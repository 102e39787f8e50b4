package limits

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Caller is a run that needs a slot: a pointer to a type that embeds [Call].
type Caller interface{ call() *Call }

// Call holds the limits' state of a run. Set the exported fields before you submit the run, and do not change them
// until it is started, deferred or drained.
type Call struct {
	Key           scheduler.Key
	Target        string
	Rule          *scheduler.TargetRule // the collection's rule for the target; nil: none
	DeferredSince time.Time // since when the circuit breaker has deferred the run; zero: not deferred

	group  string // runs of a group share limits: those of a target, or of one collection to it
	queued time.Time // when the run began to wait for a slot
	probe  bool // the run is the probe of its target
}

// Waited returns how long the run has waited for its slot since its last submission.
func (c *Call) Waited(now time.Time) time.Duration { return now.Sub(c.queued) }

func (c *Call) call() *Call { return c }

// enter starts the wait for a slot.
func (c *Call) enter(now time.Time) {
	c.queued, c.group = now, c.Target
	if c.Rule != nil {
		c.group = c.Key.Collection + " " + c.Target
	}
}

// forced reports whether the run has been deferred for the rule's maximum time and ignores an open circuit breaker.
func (c *Call) forced(rule *scheduler.BreakerRule, now time.Time) bool {
	return !c.DeferredSince.IsZero() && now.Sub(c.DeferredSince) >= rule.Most
}
