package flow

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Combiner executes the calls for a key one after the other: while one executes, others wait, and then execute together.
// The zero value, with Now, is ready for use.
type Combiner[K comparable, T any] struct {
	Now func() time.Time

	mu   sync.Mutex
	keys map[K]*combined[T]
}

// combined holds the calls for a key. The combiner's mutex guards it.
type combined[T any] struct {
	turn    chan struct{} // full while a call executes
	waiting []*combinedCall[T]
	began   time.Time // of the last try of an execution
	users   int
}

type combinedCall[T any] struct {
	of    T
	ended bool
	err   error
}

const (
	// combineMost is the maximum number of calls that execute together.
	combineMost = 256

	// combinePatience is how long a try of an execution may take before the next call takes the turn: the store may hang
	// for it. combineLook is the interval between checks.
	combinePatience = 2 * time.Second
	combineLook     = 200 * time.Millisecond
)

// Do executes of by execute, maybe together with other calls, and returns the error of the execution. execute calls alive
// before each of its tries: a call that repeats conflicting tries does not hang. Do returns early if ctx is done before
// the execution begins.
func (c *Combiner[K, T]) Do(ctx context.Context, k K, of T, execute func(ctx context.Context, all []T, alive func()) error) error {
	call := &combinedCall[T]{of: of}
	q := c.join(k, call)
	defer c.leave(k, q)
	turn, err := c.awaitTurn(ctx, q)
	if err != nil {
		return err
	}
	defer func() { <-turn }()
	alive := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		q.began = c.Now()
	}
	for {
		batch, ended := c.take(q, call)
		if ended {
			return call.err
		}
		all := make([]T, len(batch))
		for i, one := range batch {
			all[i] = one.of
		}
		err := execute(ctx, all, alive)
		c.mu.Lock()
		for _, one := range batch {
			one.ended, one.err = true, err
		}
		c.mu.Unlock()
	}
}

// awaitTurn waits for the turn, and takes a new one if the call that has it hangs.
func (c *Combiner[K, T]) awaitTurn(ctx context.Context, q *combined[T]) (turn chan struct{}, err error) {
	look := time.NewTicker(combineLook)
	defer look.Stop()
	for {
		c.mu.Lock()
		if now := c.Now(); now.Sub(q.began) > combinePatience && len(q.turn) > 0 {
			q.turn, q.began = make(chan struct{}, 1), now
		}
		turn = q.turn
		c.mu.Unlock()
		select {
		case turn <- struct{}{}:
			return turn, nil
		case <-look.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take returns the calls to execute next, and call alone if another call has taken it and hangs. It reports whether call
// has been executed.
func (c *Combiner[K, T]) take(q *combined[T], call *combinedCall[T]) (batch []*combinedCall[T], ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.began = c.Now()
	switch {
	case call.ended:
		return nil, true
	case !slices.Contains(q.waiting, call):
		return []*combinedCall[T]{call}, false
	}
	batch = slices.Clone(q.waiting[:min(combineMost, len(q.waiting))])
	q.waiting = q.waiting[len(batch):]
	return batch, false
}

func (c *Combiner[K, T]) join(k K, call *combinedCall[T]) *combined[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.keys[k]
	if q == nil {
		q = &combined[T]{turn: make(chan struct{}, 1), began: c.Now()}
		if c.keys == nil {
			c.keys = map[K]*combined[T]{}
		}
		c.keys[k] = q
	}
	q.users++
	q.waiting = append(q.waiting, call)
	return q
}

func (c *Combiner[K, T]) leave(k K, q *combined[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.users--
	if q.users == 0 {
		delete(c.keys, k)
	}
}
