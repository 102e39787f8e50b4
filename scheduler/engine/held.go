package engine

import (
	"container/heap"
	"errors"
	"sync"
	"time"
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
)

// hold keeps a run in memory until it is due; during shutdown it releases the run. A run that is much too early is
// decided immediately and waits outside the process. That decision also uses the store's clock: otherwise a worker with
// a slow clock would receive the baton again and again.
func (w *Worker) hold(r *run) stage {
	if r.baton.Early(w.cfg.Store.Now()) && r.baton.Early(r.delivery.Fired) {
		w.liveOn(admitted{r})
		return nil
	}
	if r.known != nil && (r.baton.Outdated(r.known) || r.known.Canceling(&r.baton) != nil) {
		r.known = nil
		w.liveOn(admitted{r})
		return nil
	}
	r.wake = r.baton.Wake()
	if !r.isPacked() {
		r.weighs(scheduler.HeldBytes(r.known, false) + 2*len(r.baton.Events))
	} else {
		r.weighs(r.packed.HeldBytes())
		r.runState = nil
	}
	w.buffer.Resize(r.place(), int(r.weight))
	k, since, looked := r.key(), r.since, r.isPacked() || r.known != nil
	if !w.timers.add(r) {
		return w.nak(r)
	}
	if looked && !w.jobs.Unchanged(k, since) {
		w.edited(k) // before the run was held
	}
	return nil // then admitted, or held again after an edit
}

// edited handles a changed definition. It reads the definition again if the job's baton is held, because the baton may
// be due earlier now. It also checks whether a running attempt was canceled.
func (w *Worker) edited(k scheduler.Key) {
	if r := w.timers.remove(k); r != nil {
		if r.isPacked() {
			r.unpackBaton()
		}
		w.loader.add(r) // then held
	}
	if e := w.underway.of(k); len(e.attempts) > 0 {
		w.liveOn(e)
	}
}

// know keeps the job's definition with the held run if it is cached: the cache may be too small for a herd.
func (w *Worker) know(r *run) bool {
	r.since = w.jobs.Changes(r.key())
	r.known, _ = w.jobs.Peek(r.key())
	return r.known != nil
}

// letWait makes r wait outside the process until it is almost due.
func (w *Worker) letWait(r *run) stage {
	at := r.baton.ComesAgain(w.putOff.join(r.baton.Wake(), w.cfg.Store.Now()))
	err := w.cfg.Store.Reschedule(w.settles, r.delivery.BatonKey, r.delivery.Body, at, r.delivery.Sequence)
	if err == nil || errors.Is(err, scheduler.ErrConflict) { // or it has already moved
		return w.ack(r)
	}
	return w.nak(r)
}

// held returns the memory use of the batons.
func (w *Worker) held() scheduler.Held {
	return scheduler.Held{Budget: w.cfg.HoldMemory, Waiting: w.timers.bytes() + w.loader.bytes()}
}

// burstCounter counts deferred batons by due time.
type burstCounter struct {
	mu     sync.Mutex
	bursts scheduler.BurstCounter
}

// join counts a baton, and returns how many share its due time.
func (h *burstCounter) join(due, now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bursts.Join(due, now)
}

// timers keeps batons in memory until they are due, then hands them on. One goroutine and one timer serve all of them.
type timers struct {
	mu     sync.Mutex
	queue  dueQueue
	keys   map[scheduler.Key]*run // the held runs on jobs' own batons
	weight int                    // size of the held runs in bytes
	closed bool
	nudge  chan struct{} // the earliest entry changed
	now    func() time.Time
	due    func(*run) // called when a run is due; must not block
}

func newTimers(now func() time.Time, due func(*run)) *timers {
	return &timers{now: now, keys: map[scheduler.Key]*run{}, nudge: make(chan struct{}, 1), due: due}
}

// add holds r until its baton wakes. It returns false after drain.
func (h *timers) add(r *run) bool {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return false
	}
	heap.Push(&h.queue, r)
	h.weight += int(r.weight)
	if r.delivery.BatonKey.Detached == "" {
		h.keys[r.key()] = r
	}
	first := h.queue[0] == r
	h.mu.Unlock()
	if first {
		flow.Signal(h.nudge)
	}
	return true
}

// within reports whether a held run is due within d.
func (h *timers) within(d time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.queue) > 0 && h.queue[0].wake.Sub(h.now()) < d
}

// drain removes and returns all runs. Afterwards, add accepts no run.
func (h *timers) drain() []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	q := h.queue
	h.queue, h.weight = nil, 0
	clear(h.keys)
	return q
}

// remove removes and returns the run on a job's own baton, or returns nil.
func (h *timers) remove(k scheduler.Key) *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.keys[k]
	if r != nil {
		heap.Remove(&h.queue, int(r.index))
		h.left(r)
	}
	return r
}

// left records that r is no longer held. The caller holds the lock.
func (h *timers) left(r *run) {
	h.weight -= int(r.weight)
	if h.keys[r.key()] == r {
		delete(h.keys, r.key())
	}
}

// len returns the number of held runs.
func (h *timers) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.queue)
}

// bytes returns the size of the held runs.
func (h *timers) bytes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.weight
}

// work hands on due runs until stop is closed.
func (h *timers) work(stop <-chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := h.release(h.now())
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-h.nudge:
		case <-stop:
			return
		}
	}
}

// release hands on all runs that are due at now, and returns the time until the next.
func (h *timers) release(now time.Time) time.Duration {
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.mu.Unlock()
			return time.Hour
		}
		if wait := h.queue[0].wake.Sub(now); wait > 0 {
			h.mu.Unlock()
			if later := h.now(); later.Sub(now) < wait {
				return wait - later.Sub(now)
			}
			now = h.now()
			continue
		}
		r, _ := heap.Pop(&h.queue).(*run)
		h.left(r)
		h.mu.Unlock()
		h.due(r)
	}
}

// dueQueue is a heap of runs by due time.
type dueQueue []*run //nolint:recvcheck // container/heap wants it so

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].wake.Before(q[j].wake) }
func (q dueQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = int32(i), int32(j)
}

// Push appends a run, for container/heap.
func (q *dueQueue) Push(x any) {
	if r, ok := x.(*run); ok {
		r.index = int32(len(*q))
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

// pack makes r, which is about to be held, keep its definition in encoded form if many runs are held. It returns false
// if it did not take the definition.
func (w *Worker) pack(r *run, read jobcache.Read) bool {
	if !w.held().Packs() || !r.baton.Packs(read.Job) {
		return false
	}
	body := r.delivery.Body
	data := make([]byte, 0, len(body)+len(read.Data)) // one allocation, without the messages that contain them
	data = append(append(data, body...), read.Data...)
	r.delivery.Body = data[:len(body):len(body)]
	r.packed = scheduler.Packed{
		Revision: read.Revision, Target: unique.Make(read.Job.Def.Action.Run.Target()).Value(), Data: data[len(body):],
	}
	r.since = read.Changes
	return true
}

// unpack decodes r's baton and its definition from their encoded form.
func (w *Worker) unpack(r *run) (*scheduler.Job, error) {
	p := r.packed
	r.unpackBaton()
	return w.jobs.Unpack(r.key(), &p)
}

// unpackBaton decodes r's baton. Its definition is read on demand.
func (r *run) unpackBaton() {
	r.packed, r.runState = scheduler.Packed{}, &runState{}
	_ = r.baton.Decode(r.delivery.Body) // as it was delivered
}

// dueAndPacked is called when an encoded run is due. If its job has not changed, the worker decides about it when it
// has a slot.
func (w *Worker) dueAndPacked(r *run) {
	if !w.jobs.Unchanged(r.key(), r.since) {
		r.unpackBaton()
		w.liveOn(admitted{r})
		return
	}
	r.Target = r.packed.Target
	w.queue(r)
}

// open decodes the definition of an encoded run and makes the decision of its due time. It returns false if the run
// must be decided again.
func (w *Worker) open(r *run) bool {
	due := w.cfg.Store.Now()
	due = due.Add(-r.Waited(due))
	j, err := w.unpack(r)
	if err != nil {
		return false
	}
	d := scheduler.Decide(j, w.cfg.Collections.Open(r.key().Collection), r.baton, due)
	if d.Verdict != scheduler.Run || d.Later || len(d.Records) > 0 {
		return false
	}
	r.baton, r.latest = d.Baton, j
	r.use(w.definition(&r.baton, j))
	return true
}
