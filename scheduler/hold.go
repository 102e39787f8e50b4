package scheduler

import (
	"container/heap"
	"sync"
	"time"
)

// hold keeps batons in memory until the exact instant they are due, then hands
// them on. One goroutine and one timer serve all of them.
type hold struct {
	mu     sync.Mutex
	queue  dueQueue
	closed bool
	nudge  chan struct{} // the earliest entry changed
	expire func(*run)    // called when a run is due; must not block
}

func newHold(expire func(*run)) *hold {
	return &hold{nudge: make(chan struct{}, 1), expire: expire}
}

// add holds r until its baton wakes. False means that the hold takes nothing more.
func (h *hold) add(r *run) bool {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return false
	}
	heap.Push(&h.queue, r)
	first := h.queue[0] == r
	h.mu.Unlock()
	if first {
		select {
		case h.nudge <- struct{}{}:
		default:
		}
	}
	return true
}

// drain empties and closes the hold.
func (h *hold) drain() []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	q := h.queue
	h.queue = nil
	return q
}

// work hands on what becomes due, until stop is closed.
func (h *hold) work(stop <-chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := h.release(time.Now())
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-h.nudge:
		case <-stop:
			return
		}
	}
}

// release hands on everything due at now and returns how long the next one
// has to wait.
func (h *hold) release(now time.Time) time.Duration {
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.mu.Unlock()
			return time.Hour
		}
		if wait := h.queue[0].baton.wake().Sub(now); wait > 0 {
			h.mu.Unlock()
			if later := time.Now(); later.Sub(now) < wait {
				return wait - later.Sub(now)
			}
			now = time.Now()
			continue
		}
		r, _ := heap.Pop(&h.queue).(*run)
		h.mu.Unlock()
		h.expire(r)
	}
}

// dueQueue is a heap of runs by due time.
type dueQueue []*run //nolint:recvcheck // container/heap wants it so

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].baton.wake().Before(q[j].baton.wake()) }
func (q dueQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push appends a run, for container/heap.
func (q *dueQueue) Push(x any) {
	if r, ok := x.(*run); ok {
		*q = append(*q, r)
	}
}

// Pop removes the last run, for container/heap.
func (q *dueQueue) Pop() any {
	old := *q
	r := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return r
}
