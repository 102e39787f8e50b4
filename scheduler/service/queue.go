package service

import (
	"math"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// queue has the items of a job in their order.
type queue struct {
	items []item
	busy  time.Time // since when the job cannot be run; zero: it can
	paced bool      // the rate allowed the first item
}

// busyPatience is how long an occurrence waits for its job.
const busyPatience = 2 * time.Minute

// waits reports whether the first item goes on waiting, as its job cannot be run now.
func (q *queue) waits(now time.Time) bool {
	if q.busy.IsZero() {
		q.busy = now
	}
	return now.Sub(q.busy) < busyPatience
}

// enqueue adds items to the queues of their jobs.
func enqueue(queues []*queue, items []item) []*queue {
	of := map[scheduler.Key]*queue{}
	for _, q := range queues {
		of[q.items[0].key] = q
	}
	for _, it := range items {
		q := of[it.key]
		if q == nil {
			q = &queue{}
			of[it.key], queues = q, append(queues, q)
		}
		q.items = append(q.items, it)
	}
	return queues
}

// waiting returns the number of items.
func waiting(queues []*queue) (n int) {
	for _, q := range queues {
		n += len(q.items)
	}
	return n
}

// before returns a cursor that is before all items and not after another cursor. Only occurrences wait.
func before(queues []*queue, cursor string) string {
	first := uint64(math.MaxUint64)
	for _, q := range queues {
		first = min(first, q.items[0].failure.fault.Sequence)
	}
	if first < math.MaxUint64 {
		return strconv.FormatUint(first, 10)
	}
	return cursor
}
