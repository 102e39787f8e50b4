package node

import (
	"context"
	"time"
)

// The watch of the clock: how often it looks, and what it takes for a step. Clocks that are corrected little by little make none.
const (
	clockEvery = 5 * time.Second
	leastStep  = 2 * time.Second
)

// clockStep is by how much a clock was set between two readings, when so much time has passed: positive for forward, as also
// after the machine has slept, and zero for less than a step.
func clockStep(before, after time.Time, passed time.Duration) time.Duration {
	step := after.Round(0).Sub(before.Round(0)) - passed // without the monotonic readings, as others see the clock
	if step.Abs() < leastStep {
		return 0
	}
	return step
}

// watchClock tells the log when the clock is set, and has an embedded server restarted when it was set forward: the server
// waits for what is due next by time that has passed, and would not look at the clock before. A server elsewhere cannot be
// helped.
func (n *Node) watchClock(ctx context.Context) {
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	for before := time.Now(); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		after := time.Now()
		step := clockStep(before, after, after.Sub(before))
		before = after
		switch {
		case step > 0:
			n.log.Warn("the clock was set forward, or the machine has slept; what was due meanwhile is caught up with",
				"by", step.Round(time.Second))
			if n.cfg.Mend == nil {
				continue
			}
			if err := n.cfg.Mend(ctx); err != nil && ctx.Err() == nil {
				n.log.Error("the NATS server was not restarted for it", "err", err)
			}
		case step < 0:
			n.log.Warn("the clock was set back; jobs wait until it is where it was, and repeat nothing", "by", -step.Round(time.Second))
		}
	}
}
