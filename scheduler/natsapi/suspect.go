package natsapi

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler"
)

// A spec that is delivered again was in the hands of a process that ended. That
// may have been its doing, so it is taken in alone, and a note of that is left
// to whoever comes after this process.

// maxDeaths is how many processes may end with a spec in their hands alone.
const maxDeaths = 2

// errSetAside rejects a spec that ends processes.
var errSetAside = scheduler.Invalid("", "set aside: two processes ended while they took in this spec and nothing else; "+
	"their logs may say why, and it can be published again")

// enter waits until a spec may be under way: beside others at its first
// delivery, else alone. The error is errSetAside for one that ends processes.
func (n *Ingest) enter(ctx context.Context, it *item) error {
	if it.slots > 0 {
		return nil
	}
	slots := int64(1)
	if it.Deliveries > 1 {
		slots = int64(n.cfg.Concurrency)
	}
	if err := n.slots.Acquire(n.stopping, slots); err != nil { //nolint:contextcheck // a stop ends the wait
		return err
	}
	it.slots = slots
	if it.Deliveries <= 1 {
		return nil
	}
	marks, err := n.cfg.Source.MarkSpec(ctx, it.Sequence)
	if err != nil {
		n.log.Warn("spec that is delivered again not marked as under way", "job", it.Name, "err", err)
	}
	it.marked = err == nil
	if marks > maxDeaths {
		n.log.Error("spec set aside: processes ended while they took it in", "job", it.Name, "verb", it.Verb, "processes", maxDeaths)
		return errSetAside
	}
	return nil
}

// leave ends what enter began.
func (n *Ingest) leave(it *item) {
	if it.marked {
		it.marked = false
		if err := n.cfg.Source.UnmarkSpec(n.work, it.Sequence); err != nil {
			n.log.Warn("mark of a spec not removed", "job", it.Name, "err", err)
		}
	}
	n.slots.Release(it.slots)
	it.slots = 0
}
