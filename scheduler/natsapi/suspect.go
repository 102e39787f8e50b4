package natsapi

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler"
)

// The process that held a redelivered spec has ended. The spec may be the cause, so it is processed alone, and its mark
// records that for the next process.

// maxDeaths limits the processes that end while they process a spec alone.
const maxDeaths = 2

// errSetAside rejects a spec that ends processes.
var errSetAside = scheduler.Invalid("", "set aside: two processes ended while they ingested this spec and nothing else; "+
	"their logs may say why, and it can be published again")

// enter waits until a spec may start: concurrently with others at its first delivery, otherwise alone. It returns
// errSetAside for a spec that has ended maxDeaths processes.
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
		n.log.Warn("redelivered spec not marked as in progress", "job", it.Name, "err", err)
	}
	it.marked = err == nil
	if marks > maxDeaths {
		n.log.Error("spec set aside: processes died while they ingested it", "job", it.Name, "verb", it.Verb, "processes", maxDeaths)
		return errSetAside
	}
	return nil
}

// leave reverts enter.
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
