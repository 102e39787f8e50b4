package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/store"
)

// Interval of the stream checks, and how long a result is valid.
const (
	checkEvery       = 10 * time.Second
	checkShutEvery   = 2 * time.Second
	checkMendedEvery = 250 * time.Millisecond
	checkCounts      = 5 * time.Second
	sayAgainAfter    = 10 * time.Minute
)

// health tracks which streams of the store are read-only, and repairs them if possible.
type health struct {
	check   func(context.Context) (store.Shuts, error)
	restart func(context.Context) error // nil: not possible
	log     *slog.Logger

	checking sync.Mutex // one check at a time
	mu       sync.Mutex
	shut     store.Shuts
	at       time.Time // of the last check
	since    time.Time // a stream has been read-only
	said     time.Time // of the last log line about it

	unmended string // why the last repair failed
}

// run checks the streams periodically, and immediately after an unacknowledged write.
func (h *health) run(ctx context.Context, suspicions <-chan struct{}) {
	for {
		pause := checkEvery
		shut, err := h.look(ctx, 0)
		switch {
		case err != nil && h.count() > 0: // repair in progress
			pause = checkMendedEvery
		case err == nil && len(shut) > 0:
			pause = checkShutEvery
			if h.repaired(ctx, shut) {
				pause = checkMendedEvery
			}
		}
		select {
		case <-suspicions:
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// look returns the read-only streams, from the last check if it is not older than valid.
func (h *health) look(ctx context.Context, valid time.Duration) (store.Shuts, error) {
	if !h.checking.TryLock() {
		if known := h.known(); valid > 0 && len(known) > 0 { // another check would be slow
			return known, nil
		}
		h.checking.Lock()
	}
	defer h.checking.Unlock()
	h.mu.Lock()
	shut, fresh := h.shut, !h.at.IsZero() && time.Since(h.at) < valid
	h.mu.Unlock()
	if fresh {
		return shut, nil
	}
	shut, err := h.check(ctx)
	if err != nil {
		return nil, err
	}
	h.note(shut, time.Now())
	return shut, nil
}

// note stores the result of a check, and logs the beginning, changes, reminders and the end of an outage.
func (h *health) note(shut store.Shuts, now time.Time) {
	h.mu.Lock()
	before, since := h.shut, h.since
	h.shut, h.at = shut, now
	if len(before) == 0 {
		h.since = now
	}
	say := len(shut) > 0 && (!slices.Equal(before, shut) || now.Sub(h.said) >= sayAgainAfter)
	if say {
		h.said = now
	}
	h.mu.Unlock()
	switch {
	case say && idle(shut):
		h.log.Error("streams of the NATS server deliver no messages; their jobs wait until they do",
			"streams", shut.Streams(), "reason", shut.Reason(), "hint", shut.Advice(h.restart != nil))
	case say:
		h.log.Error("streams of the NATS server are read-only; jobs wait until they accept writes",
			"streams", shut.Streams(), "reason", shut.Reason(), "hint", shut.Advice(h.restart != nil))
	case len(before) > 0 && len(shut) == 0:
		h.log.Warn("all streams of the NATS server accept writes again; jobs continue", "after", now.Sub(since).Round(time.Second))
	}
}

// idle reports whether all streams accept writes.
func idle(shut store.Shuts) bool {
	return !slices.ContainsFunc(shut, func(s store.Shut) bool { return !s.Idle })
}

// repaired repairs streams that cannot recover without a restart, and reports whether it succeeded.
func (h *health) repaired(ctx context.Context, shut store.Shuts) bool {
	if h.restart == nil || !slices.ContainsFunc(shut, func(s store.Shut) bool { return s.Reported }) {
		return false
	}
	err := h.restart(ctx)
	if err == nil {
		h.unmended = ""
		return true
	}
	if why := err.Error(); why != h.unmended && ctx.Err() == nil {
		h.unmended = why
		h.log.Error("the NATS server cannot be restarted yet; retrying", "err", err)
	}
	return false
}

// count returns the number of read-only streams at the last check.
func (h *health) count() int { return len(h.known()) }

// known returns the result of the last check.
func (h *health) known() store.Shuts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shut
}

// err returns nil while all streams accept writes.
func (h *health) err(ctx context.Context) error {
	shut, err := h.look(ctx, checkCounts)
	if known := h.known(); err != nil && len(known) > 0 {
		shut, err = known, nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("check the streams of the NATS server: %w", err)
	case len(shut) == 0:
		return nil
	}
	return errors.New(shut.Explain(h.restart != nil))
}

// Interval of the clock watch, and the smallest change that counts as a step. Gradual corrections are smaller.
const (
	clockEvery = 5 * time.Second
	leastStep  = 2 * time.Second
)

// clockStep returns the step of the clock between two readings: positive for forward, also after the machine has slept, and
// zero below the minimum. passed is the elapsed time between them.
func clockStep(before, after time.Time, passed time.Duration) time.Duration {
	step := after.Round(0).Sub(before.Round(0)) - passed // without the monotonic readings, as others see the clock
	if step.Abs() < leastStep {
		return 0
	}
	return step
}

// watchClock logs steps of the clock, and restarts an embedded server after a step forward: the server waits for
// the next due message in elapsed time, and would not look at the clock before. It cannot restart an external
// server.
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
			n.log.Warn("the clock was set forward, or the machine was suspended; missed runs catch up",
				"by", step.Round(time.Second))
			if n.cfg.RestartServer == nil {
				continue
			}
			if err := n.cfg.RestartServer(ctx); err != nil && ctx.Err() == nil {
				n.log.Error("restarting the NATS server after the clock step failed", "err", err)
			}
		case step < 0:
			n.log.Warn("the clock was set back; jobs wait until it has caught up, and no run is repeated", "by", -step.Round(time.Second))
		}
	}
}

// Free disk space in percent below which the node logs a warning, and below which readiness is degraded. Each ends one
// percent above its limit, so that a disk at the limit does not flood the log.
const (
	warnFree    = 10
	scarceFree  = 5
	recoverFree = 1
)

// disk warns before the disk of the NATS server is full, because a server that cannot write can hang.
type disk struct {
	space func() (free, total uint64, known bool) // nil: not known
	log   *slog.Logger

	mu     sync.Mutex
	limit  float64 // the lowest crossed limit in percent, or 0
	reason string
	since  time.Time // limit was crossed
}

// run checks the disk until ctx is done.
func (d *disk) run(ctx context.Context) {
	for d.space != nil {
		if free, total, known := d.space(); known && total > 0 {
			d.note(float64(free), float64(total), time.Now())
		}
		if !flow.Pause(ctx, checkEvery) {
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
		d.log.Warn("the disk of the NATS server is getting full", "state", d.reason, "hint", hint)
	default:
		d.log.Info("the disk of the NATS server has free space again", "state", d.reason)
	}
}

// scarce explains why readiness is degraded, since when, and the fix; "" if it is not degraded.
func (d *disk) scarce() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.limit != scarceFree {
		return ""
	}
	return fmt.Sprintf("%s, less than %d %% since %s; free space on it before the NATS server stops accepting writes",
		d.reason, scarceFree, clock(d.since))
}
