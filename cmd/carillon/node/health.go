package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/store"
)

// How often the store's streams are checked, and how long what a check found counts.
const (
	checkEvery       = 10 * time.Second
	checkShutEvery   = 2 * time.Second
	checkMendedEvery = 250 * time.Millisecond
	checkCounts      = 5 * time.Second
	sayAgainAfter    = 10 * time.Minute
)

// health knows which streams of the store take no writes, and has them mended where that is possible.
type health struct {
	check func(context.Context) (store.Shuts, error)
	mend  func(context.Context) error // nil: not possible
	log   *slog.Logger

	checking sync.Mutex // one check at a time
	mu       sync.Mutex
	shut     store.Shuts
	at       time.Time // of the last check
	since    time.Time // something has been shut
	said     time.Time // that it is

	unmended string // why the last mending was in vain
}

// run checks the streams again and again, and at once when a write was not acknowledged.
func (h *health) run(ctx context.Context, suspicions <-chan struct{}) {
	for {
		pause := checkEvery
		shut, err := h.look(ctx, 0)
		switch {
		case err != nil && h.isShut(): // it is just being mended
			pause = checkMendedEvery
		case err == nil && len(shut) > 0:
			pause = checkShutEvery
			if h.mended(ctx, shut) {
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

// look returns which streams take no writes, from the last check if that is not older than valid.
func (h *health) look(ctx context.Context, valid time.Duration) (store.Shuts, error) {
	if !h.checking.TryLock() {
		if known := h.known(); valid > 0 && len(known) > 0 { // to ask again takes long as long as it lasts
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

// note keeps what a check found. The log has when it begins, when it changes, every now and then while it lasts, and when
// it is over.
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
		h.log.Error("streams of the NATS server give nothing out; their jobs wait until they do",
			"streams", shut.Streams(), "reason", shut.Reason(), "hint", shut.Advice(h.mend != nil))
	case say:
		h.log.Error("streams of the NATS server take no writes; jobs wait until they do",
			"streams", shut.Streams(), "reason", shut.Reason(), "hint", shut.Advice(h.mend != nil))
	case len(before) > 0 && len(shut) == 0:
		h.log.Warn("all streams of the NATS server take writes again; jobs go on", "after", now.Sub(since).Round(time.Second))
	}
}

// idle reports whether all streams take writes.
func idle(shut store.Shuts) bool {
	return !slices.ContainsFunc(shut, func(s store.Shut) bool { return !s.Idle })
}

// mended has the streams mended that will not take writes again by themselves, and reports whether that was done.
func (h *health) mended(ctx context.Context, shut store.Shuts) bool {
	if h.mend == nil || !slices.ContainsFunc(shut, func(s store.Shut) bool { return s.Told }) {
		return false
	}
	err := h.mend(ctx)
	if err == nil {
		h.unmended = ""
		return true
	}
	if why := err.Error(); why != h.unmended && ctx.Err() == nil {
		h.unmended = why
		h.log.Error("the NATS server cannot be restarted yet; trying again", "err", err)
	}
	return false
}

func (h *health) isShut() bool { return h.count() > 0 }

// count is how many streams took no writes at the last check.
func (h *health) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.shut)
}

// known is what the last check found.
func (h *health) known() store.Shuts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shut
}

// err is nil while all streams take writes.
func (h *health) err(ctx context.Context) error {
	shut, err := h.look(ctx, checkCounts)
	if known := h.known(); err != nil && len(known) > 0 {
		shut, err = known, nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("the streams of the NATS server cannot be looked at: %w", err)
	case len(shut) == 0:
		return nil
	}
	return errors.New(shut.Explain(h.mend != nil))
}
