package control

import (
	"context"
	"sync"
)

// common is a background task that its users share: the first one starts it, and the last one ends it. It is safe for
// concurrent use.
type common[T any] struct {
	mu  sync.Mutex
	now *task[T] // nil: it has no users
}

// task is a common task with its state.
type task[T any] struct {
	state T
	ctx   context.Context //nolint:containedctx // ends when the task is lost, or after its last user
	end   context.CancelCauseFunc
	ended chan struct{} // closed when the task has ended
	users int           // guarded by the mutex of common
}

// enter returns the task. If none is running, it starts one with the values of the user's context. run returns soon after the
// context of the task ends. The user calls leave.
func (c *common[T]) enter(ctx context.Context, state func() T, run func(*task[T])) *task[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil || c.now.ctx.Err() != nil {
		t := &task[T]{state: state(), ended: make(chan struct{})}
		t.ctx, t.end = context.WithCancelCause(context.WithoutCancel(ctx))
		c.now = t
		go func() {
			defer close(t.ended)
			run(t)
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.now == t {
				c.now = nil
			}
		}()
	}
	c.now.users++
	return c.now
}

// leave ends the task after its last user, and waits for its end.
func (c *common[T]) leave(t *task[T]) {
	c.mu.Lock()
	t.users--
	last := t.users == 0
	if last {
		t.end(nil)
	}
	c.mu.Unlock()
	if last {
		<-t.ended
	}
}
