// Package fairqueue limits concurrent work and queues the excess fairly. Waiting callers receive slots in round-robin
// order, so that a caller with many requests delays only its own. A [Queue] also limits the waiting requests, per
// caller and in total: beyond the limits, Acquire fails immediately with [ErrFull]. It does not interrupt work that
// holds a slot.
package fairqueue

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull is returned if the queue already has too many waiting requests.
var ErrFull = errors.New("too many requests are queued; try again")

// Config configures a Queue. All fields except Running are required.
type Config struct {
	Slots     int // limit of the slots in use
	Running   int // limit of one caller's slots in use; 0: none
	PerCaller int // limit of one caller's waiting requests
	Waiting   int // limit of all waiting requests
}

// Queue hands out slots. It is safe for concurrent use.
type Queue struct {
	cfg Config

	mu      sync.Mutex
	free    int
	running map[string]int // slots in use by caller, if they are limited
	waiting int
	callers []*caller // callers with waiting requests; the first that may have a slot is next
}

// caller is a caller with waiting requests.
type caller struct {
	name  string
	turns []chan struct{} // each is closed when its request receives a slot
}

// New returns a queue with all slots free.
func New(cfg Config) *Queue { return &Queue{cfg: cfg, free: cfg.Slots, running: map[string]int{}} }

// Acquire waits for a slot until ctx is done. It returns [ErrFull] or the cause of ctx's end. The caller must call
// release exactly once.
func (q *Queue) Acquire(ctx context.Context, caller string) (release func(), err error) {
	turn, err := q.enter(caller)
	if err != nil {
		return nil, err
	}
	release = func() { q.release(caller) }
	if turn == nil {
		return release, nil
	}
	select {
	case <-turn:
		return release, nil
	case <-ctx.Done():
		if q.leave(caller, turn) {
			return nil, context.Cause(ctx)
		}
		return release, nil // the slot arrived at the same moment: the subsequent work finds ctx done
	}
}

// enter takes a free slot, or queues a request.
func (q *Queue) enter(name string) (chan struct{}, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.take(name) {
		return nil, nil //nolint:nilnil // a slot was free
	}
	at := slices.IndexFunc(q.callers, func(c *caller) bool { return c.name == name })
	if q.waiting >= q.cfg.Waiting || at >= 0 && len(q.callers[at].turns) >= q.cfg.PerCaller {
		return nil, ErrFull
	}
	if at < 0 {
		at = len(q.callers)
		q.callers = append(q.callers, &caller{name: name})
	}
	turn := make(chan struct{})
	q.callers[at].turns = append(q.callers[at].turns, turn)
	q.waiting++
	return turn, nil
}

// leave removes a waiting request. It returns false if the request already has a slot.
func (q *Queue) leave(name string, turn chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, c := range q.callers {
		if at := slices.Index(c.turns, turn); c.name == name && at >= 0 {
			c.turns = slices.Delete(c.turns, at, at+1)
			q.waiting--
			if len(c.turns) == 0 {
				q.callers = slices.Delete(q.callers, i, i+1)
			}
			return true
		}
	}
	return false
}

// take takes a free slot if the caller may have one.
func (q *Queue) take(name string) bool {
	if q.free == 0 || q.cfg.Running > 0 && q.running[name] == q.cfg.Running {
		return false
	}
	q.free--
	if q.cfg.Running > 0 {
		q.running[name]++
	}
	return true
}

// release passes a caller's slot on.
func (q *Queue) release(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	q.running[name]--
	if q.running[name] <= 0 {
		delete(q.running, name)
	}
	i := slices.IndexFunc(q.callers, func(c *caller) bool { return q.take(c.name) })
	if i < 0 {
		return
	}
	next := q.callers[i]
	q.callers = slices.Delete(q.callers, i, i+1)
	close(next.turns[0])
	q.waiting--
	if next.turns = next.turns[1:]; len(next.turns) > 0 {
		q.callers = append(q.callers, next)
	}
}
