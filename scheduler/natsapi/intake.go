package natsapi

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// item is a spec in the hands of this process.
type item struct {
	scheduler.PublishedSpec

	size    int          // of the body as it came; one that is too long is not kept
	touched atomic.Int64 // when the lease was last renewed, Unix nanoseconds
}

// intake is what this process holds: it counts the room and keeps the leases.
type intake struct {
	limit int
	wake  chan struct{} // there is room again

	mu   sync.Mutex
	held map[*item]struct{}
}

func newIntake(limit int) *intake {
	return &intake{limit: limit, wake: make(chan struct{}, 1), held: make(map[*item]struct{}, limit)}
}

// keep takes a spec into account.
func (in *intake) keep(s scheduler.PublishedSpec) *item {
	it := &item{PublishedSpec: s, size: len(s.Body)}
	if it.size > scheduler.MaxJobSize {
		it.Body = nil
	}
	it.touched.Store(time.Now().UnixNano())
	in.mu.Lock()
	in.held[it] = struct{}{}
	in.mu.Unlock()
	return it
}

// nearlyFull is how near the limit the source may have asked for less than it
// could use, and wants to be told of room. It asks for 512 at a time.
const nearlyFull = 1024

// release ends a spec in this process.
func (in *intake) release(it *item) {
	in.mu.Lock()
	full := len(in.held) >= in.limit-nearlyFull
	delete(in.held, it)
	in.mu.Unlock()
	if full {
		select {
		case in.wake <- struct{}{}:
		default:
		}
	}
}

// room is how many more specs may come.
func (in *intake) room() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.limit - len(in.held)
}

// The rhythm of lease renewal. The server waits ten seconds.
const (
	tendEvery  = time.Second
	touchAfter = 3 * time.Second
)

// tend renews the leases of what is held until ended is closed.
func (in *intake) tend(ended <-chan struct{}, log *slog.Logger) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			for _, it := range in.stale(now) {
				if err := it.Lease.Touch(); err != nil {
					log.Warn("lease of a spec not renewed", "job", it.Name, "err", err)
				}
			}
		case <-ended:
			return
		}
	}
}

// stale returns the specs whose lease is due for renewal, and marks it renewed.
func (in *intake) stale(now time.Time) []*item {
	oldest := now.Add(-touchAfter).UnixNano()
	in.mu.Lock()
	defer in.mu.Unlock()
	var due []*item
	for it := range in.held {
		if it.touched.Load() < oldest {
			it.touched.Store(now.UnixNano())
			due = append(due, it)
		}
	}
	return due
}
