package worker

import (
	"container/heap"
	"sync"
	"time"
)

// hold keeps a run in memory until it is due; a worker that stops gives it back.
// One that is much too early is decided about at once, which lets it wait outside:
// by the clock of the store, too, whose timer would come back at once otherwise,
// again and again, to a worker whose clock is late.
func (w *Worker) hold(r *run) stage {
	if r.baton.Early(time.Now()) && r.baton.Early(r.delivery.Fired) {
		w.liveOn(admitted{r})
		return nil
	}
	if !w.timers.add(r) {
		return w.nak(r)
	}
	return nil // then admitted
}

// timers keeps batons in memory until the exact instant they are due, then hands
// them on. One goroutine and one timer serve all of them.
type timers struct {
	mu     sync.Mutex
	queue  dueQueue
	closed bool
	nudge  chan struct{} // the earliest entry changed
	due    func(*run)    // called when a run is due; must not block
}

func newTimers(due func(*run)) *timers {
	return &timers{nudge: make(chan struct{}, 1), due: due}
}

// add holds r until its baton wakes. False means that nothing more is taken.
func (h *timers) add(r *run) bool {
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

// within reports whether a run that is held is due within d.
func (h *timers) within(d time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.queue) > 0 && time.Until(h.queue[0].baton.Wake()) < d
}

// drain empties the timers, and takes nothing more.
func (h *timers) drain() []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	q := h.queue
	h.queue = nil
	return q
}

// work hands on what becomes due, until stop is closed.
func (h *timers) work(stop <-chan struct{}) {
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
func (h *timers) release(now time.Time) time.Duration {
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.mu.Unlock()
			return time.Hour
		}
		if wait := h.queue[0].baton.Wake().Sub(now); wait > 0 {
			h.mu.Unlock()
			if later := time.Now(); later.Sub(now) < wait {
				return wait - later.Sub(now)
			}
			now = time.Now()
			continue
		}
		r, _ := heap.Pop(&h.queue).(*run)
		h.mu.Unlock()
		h.due(r)
	}
}

// dueQueue is a heap of runs by due time.
type dueQueue []*run //nolint:recvcheck // container/heap wants it so

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].baton.Wake().Before(q[j].baton.Wake()) }
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
