// Package fairqueue lets so many callers work at once, and queues the others fairly: of those who wait, each caller in turn
// gets one slot, however many more another one asks for. Whoever asks for much waits behind himself.
package fairqueue

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull says that so many wait already that one more would wait in vain.
var ErrFull = errors.New("too many requests wait for their turn; try again")

// Config says how many may work, and wait. All are required.
type Config struct {
	Slots     int // that may be held at once
	PerCaller int // requests of one caller that may wait
	Waiting   int // requests of all callers that may wait
}

// Queue hands out slots. It is safe for concurrent use.
type Queue struct {
	cfg Config

	mu      sync.Mutex
	free    int
	waiting int
	callers []*caller // those who wait; the first one is next
}

// caller is who waits, and for how many slots.
type caller struct {
	name  string
	turns []chan struct{} // closed when it has a slot
}

// New returns a queue with all slots free.
func New(cfg Config) *Queue { return &Queue{cfg: cfg, free: cfg.Slots} }

// Acquire waits for a slot, until ctx is done: the error is the cause of its end, or [ErrFull]. Whoever got a slot calls
// release once. caller tells callers apart.
func (q *Queue) Acquire(ctx context.Context, caller string) (release func(), err error) {
	turn, err := q.enter(caller)
	if err != nil {
		return nil, err
	}
	if turn == nil {
		return q.release, nil
	}
	select {
	case <-turn:
		return q.release, nil
	case <-ctx.Done():
		if q.leave(caller, turn) {
			return nil, context.Cause(ctx)
		}
		return q.release, nil // the slot came in the same moment: what follows finds ctx done
	}
}

// enter takes a slot at once, or a turn to wait for.
func (q *Queue) enter(name string) (chan struct{}, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free > 0 {
		q.free--
		return nil, nil //nolint:nilnil // there is nothing to wait for
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

// leave gives up a turn; false when it has come.
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

// release hands a slot to the caller whose turn it is.
func (q *Queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.callers) == 0 {
		q.free++
		return
	}
	next := q.callers[0]
	q.callers = q.callers[1:]
	close(next.turns[0])
	q.waiting--
	if next.turns = next.turns[1:]; len(next.turns) > 0 {
		q.callers = append(q.callers, next)
	}
}
