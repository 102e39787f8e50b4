package limits

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Deferral says that a run goes back to waiting, outside the process, because
// of its target.
type Deferral struct {
	Until time.Time // when it may be tried again
	Why   Delay
	Rule  *scheduler.TargetRule // that delays it; nil when the target is only slow
}

// Delay is why a run is deferred.
type Delay uint8

// The reasons of a deferral.
const (
	DelaySlow    Delay = iota // the target is slow, and others need the place
	DelayPace                 // its turn comes later, by a rate or a number of attempts at once
	DelayCircuit              // the target's circuit is open
)

// For returns what becomes of a run that is deferred: when it may run, and what
// its record says.
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

// retryAt is when a run that a circuit has held back since a time tries again
// whether that is closed: at a moment of its own after it may be, so that not
// all come at once, and not always the same one first; but no later than the
// rule allows. It is for deferrals by DelayCircuit.
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

// message says why a run for a target is deferred, until a time. It is for
// deferrals by a rule.
func (d Deferral) message(k scheduler.Key, target string, until time.Time) string {
	at := until.UTC().Format(time.RFC3339)
	switch {
	case d.Why == DelayCircuit:
		return fmt.Sprintf("the circuit of %s is open after failures in a row; this is tried again at %s", target, at)
	case d.Rule.Rate > 0:
		return fmt.Sprintf("collection %s limits attempts to %s to %d in %s; the turn of this one comes about %s",
			k.Collection, target, d.Rule.Rate, document.Duration{Exact: d.Rule.Per}, at)
	}
	return fmt.Sprintf("collection %s limits attempts to %s to %d at once; this one is tried again at %s",
		k.Collection, target, d.Rule.Concurrency, at)
}
