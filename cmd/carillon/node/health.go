package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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
	check func(context.Context) ([]store.Shut, error)
	mend  func(context.Context) error // nil: not possible
	log   *slog.Logger

	checking sync.Mutex // one check at a time
	mu       sync.Mutex
	shut     []store.Shut
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
func (h *health) look(ctx context.Context, valid time.Duration) ([]store.Shut, error) {
	h.checking.Lock()
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
func (h *health) note(shut []store.Shut, now time.Time) {
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
	case say:
		h.log.Error("streams of the NATS server take no writes; jobs wait until they do",
			"streams", streamsOf(shut), "reason", reasonOf(shut), "hint", advice(shut, h.mend != nil))
	case len(before) > 0 && len(shut) == 0:
		h.log.Warn("all streams of the NATS server take writes again; jobs go on", "after", now.Sub(since).Round(time.Second))
	}
}

// mended has the streams mended that will not take writes again by themselves, and reports whether that was done.
func (h *health) mended(ctx context.Context, shut []store.Shut) bool {
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

// err is nil while all streams take writes.
func (h *health) err(ctx context.Context) error {
	shut, err := h.look(ctx, checkCounts)
	if err != nil {
		return fmt.Errorf("NATS does not answer: %w", err)
	}
	if len(shut) == 0 {
		return nil
	}
	return errors.New("no writes are taken by " + streamsOf(shut) + ": " + reasonOf(shut) + "; " + advice(shut, h.mend != nil))
}

// mostNamed is how many streams are named at once.
const mostNamed = 4

// streamsOf names streams: "streams A, B and 3 more".
func streamsOf(shut []store.Shut) string {
	names := make([]string, 0, mostNamed)
	for _, s := range shut[:min(len(shut), mostNamed)] {
		names = append(names, s.Stream)
	}
	text := strings.Join(names, ", ")
	if more := len(shut) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(shut) == 1 {
		return "stream " + text
	}
	return "streams " + text
}

// reasonOf is why streams take no writes: what a server told, if one did.
func reasonOf(shut []store.Shut) string {
	i := max(0, slices.IndexFunc(shut, func(s store.Shut) bool { return s.Told }))
	return shut[i].Reason
}

// remedies are what to do about the reasons that servers give.
var remedies = []struct{ reason, remedy string }{
	{"no space left", "free some space where the server keeps its data"},
	{"quota exceeded", "free some space where the server keeps its data"},
	{"not enough space", "free some space where the server keeps its data"},
	{"too many open files", "raise the server's limit of open files, or end clients that it does not need"},
	{"read-only file system", "make the file system writable where the server keeps its data"},
	{"permission denied", "let the server write to where it keeps its data"},
	{"insufficient resources", "free some space, or raise max_file_store in the server's configuration"},
	{"stream not found", `restart the schedulers if it stays away: they make it anew, and "carillon docs disasters" tells what is lost`},
	{"resources exceeded", "raise the limits of the account, or free some space"},
}

// advice is what to do about streams that take no writes. embedded is whether the server is restarted by this process.
func advice(shut []store.Shut, embedded bool) string {
	reason, remedy := reasonOf(shut), "see the log of the server"
	for _, r := range remedies {
		if strings.Contains(reason, r.reason) {
			remedy = r.remedy
			break
		}
	}
	told := slices.ContainsFunc(shut, func(s store.Shut) bool { return s.Told })
	switch {
	case told && embedded:
		return remedy + "; the server is restarted then"
	case told:
		return remedy + ", and restart the server: it keeps the streams shut until then"
	}
	return remedy
}
