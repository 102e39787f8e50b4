package limits

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Caller is a run that needs a slot: a pointer to a type that embeds [Call].
type Caller interface{ call() *Call }

// Call holds the limits' state of a run. Set the exported fields before you submit the run, and do not change them
// until it is started, deferred or drained.
type Call struct {
	Key           scheduler.Key
	Target        string
	Rule          *scheduler.TargetRule // the collection's rule for the target; nil: none
	DeferredSince time.Time             // since when the circuit breaker has deferred the run; zero: not deferred

	group  string    // runs of a group share limits: those of a target, or of one collection to it
	queued time.Time // when the run began to wait for a slot
	probe  bool      // the run is the probe of its target

	Priority int8 // the run starts before waiting runs of the target with a lower one
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

// Deferral returns a run to its caller, to wait for its target outside the process.
type Deferral struct {
	Until time.Time // when to try again
	Why   Delay
	Rule  *scheduler.TargetRule // the rule that delays the run; nil if the target is only slow
}

// Delay is the reason of a deferral.
type Delay uint8

// The reasons of a deferral.
const (
	DelaySlow    Delay = iota // the target is slow, and other runs need the memory
	DelayPace                 // the rule's rate or concurrency delays the run
	DelayCircuit              // the circuit breaker is open
)

// For returns the deferral of a run for package scheduler: when it may run, and the message of its record.
func (d Deferral) For(c *Call, now time.Time) scheduler.Deferral {
	run := scheduler.Deferral{At: d.Until, Circuit: d.Why == DelayCircuit, Ahead: d.Why == DelayPace}
	if run.Circuit {
		since := c.DeferredSince
		if since.IsZero() {
			since = now
		}
		run.At = d.retryAt(c.Key, since, now)
	}
	if d.Why != DelaySlow {
		run.Message = d.message(c.Key, c.Target, run.At)
	}
	return run
}

// retryAt returns when a run that has been deferred since a time checks an open circuit breaker again. The time has a
// random offset per run, so that runs do not return together or always in the same order. It does not exceed the rule's
// maximum. It requires DelayCircuit.
func (d Deferral) retryAt(k scheduler.Key, since, now time.Time) time.Time {
	spread := min(d.Rule.Breaker.OpenFor/4, 5*time.Second)
	share := (uint64(k.Hash())*0x9E3779B97F4A7C15 + uint64(now.UnixNano())) % uint64(spread)
	at := d.Until.Add(time.Duration(share))
	if last := since.Add(d.Rule.Breaker.Most); at.After(last) {
		at = last
	}
	if at.Before(now) {
		return now
	}
	return at
}

// message returns the record's message about a deferral by a rule.
func (d Deferral) message(k scheduler.Key, target string, until time.Time) string {
	at := until.UTC().Format(time.RFC3339)
	switch {
	case d.Why == DelayCircuit:
		return fmt.Sprintf("the circuit breaker of %s is open after consecutive failures; this one is retried at %s", target, at)
	case d.Rule.Rate > 0:
		return fmt.Sprintf("collection %s limits attempts to %s to %d in %s; this one is retried at about %s",
			k.Collection, target, d.Rule.Rate, document.Duration{Exact: d.Rule.Per}, at)
	}
	return fmt.Sprintf("collection %s limits concurrent attempts to %s to %d; this one is retried at %s",
		k.Collection, target, d.Rule.Concurrency, at)
}
