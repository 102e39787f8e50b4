package node

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// How much of the disk is free, in percent, when the log warns and when readiness is degraded. Either ends when one percent
// more is free, so that a disk at the limit does not fill the log.
const (
	warnFree    = 10
	scarceFree  = 5
	recoverFree = 1
)

// disk warns before the disk of the NATS server is full: a server that cannot write may hang.
type disk struct {
	space func() (free, total uint64, known bool) // nil: not known
	log   *slog.Logger

	mu     sync.Mutex
	limit  float64 // percent: the lowest limit that is crossed, 0 for none
	reason string
	since  time.Time // limit was crossed
}

// run looks at the disk until ctx is done.
func (d *disk) run(ctx context.Context) {
	for d.space != nil {
		if free, total, known := d.space(); known && total > 0 {
			d.note(float64(free), float64(total), time.Now())
		}
		select {
		case <-time.After(checkEvery):
		case <-ctx.Done():
			return
		}
	}
}

// note stores the free disk space, and logs each change of state once.
func (d *disk) note(free, total float64, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	percent, before := 100*free/total, d.limit
	d.limit = 0
	for _, limit := range []float64{warnFree, scarceFree} {
		if percent < limit || limit >= before && before > 0 && percent < limit+recoverFree {
			d.limit = limit
		}
	}
	d.reason = fmt.Sprintf("%.1f %% (%.1f GB) of the disk is free", percent, free/(1<<30))
	if d.limit == before {
		return
	}
	d.since = now
	const hint = "free space on it, or shorten the history: a NATS server with a full disk may hang"
	switch d.limit {
	case scarceFree:
		d.log.Error("the disk of the NATS server is almost full; readiness is degraded", "state", d.reason, "hint", hint)
	case warnFree:
		d.log.Warn("the disk of the NATS server gets full", "state", d.reason, "hint", hint)
	default:
		d.log.Info("the disk of the NATS server has room again", "state", d.reason)
	}
}

// scarce is why readiness is degraded, since when, and what to do; "" when it is not.
func (d *disk) scarce() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.limit != scarceFree {
		return ""
	}
	return fmt.Sprintf("%s, less than %d %% since %s; free space on it before the NATS server stops taking writes",
		d.reason, scarceFree, clock(d.since))
}
