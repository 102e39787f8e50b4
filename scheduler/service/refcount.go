package service

import (
	"context"
	"sync"
)

// refcounted is something that is kept up while somebody uses it, once for all of them: it begins with the first, and ends with
// the last, or by itself. It is safe for concurrent use.
type refcounted[T any] struct {
	mu  sync.Mutex
	now *ref[T] // nil: nobody uses it
}

// ref is one such thing, from its beginning to its end.
type ref[T any] struct {
	of    T
	users int // guarded by the refcounted
	end   context.CancelFunc
	ended chan struct{} // closed when it is kept up no more; err says why
	err   error
}

// acquire joins those who use what there is, or begins it. keep keeps it up until its context is done, which has the values of the
// first user's, or until it cannot; its error is never nil. release is to be called for what is returned.
func (c *refcounted[T]) acquire(ctx context.Context, begin func() (of T, keep func(context.Context) error)) *ref[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		keeping, end := context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // release calls end
		of, keep := begin()
		c.now = &ref[T]{of: of, end: end, ended: make(chan struct{})}
		go c.keep(keeping, c.now, keep)
	}
	c.now.users++
	return c.now
}

// keep has a thing kept up. When it is not any more, who comes next begins another.
func (c *refcounted[T]) keep(ctx context.Context, r *ref[T], keep func(context.Context) error) {
	err := keep(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == r {
		c.now = nil
	}
	r.err = err
	close(r.ended)
}

// release ends a thing when nobody else uses it, and waits for that.
func (c *refcounted[T]) release(r *ref[T]) {
	c.mu.Lock()
	r.users--
	last := r.users == 0
	if last && c.now == r {
		c.now = nil
	}
	c.mu.Unlock()
	if last {
		r.end()
		<-r.ended
	}
}
