package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of what is kept.
const (
	lookAge   = time.Minute      // for how long an answer is shown to others
	lookLasts = 10 * time.Minute // after which a computation is given up
	looksMost = 32
)

// looks share what takes long to work out among all who look at it. They are safe for concurrent use.
type looks[T any] struct {
	mu  sync.Mutex
	all map[string]*look[T]
}

// look is something that is being worked out, or was.
type look[T any] struct {
	began   time.Time
	counted atomic.Int64 // jobs so far
	done    chan struct{}

	// These are there once it is done.
	value T
	err   error
	ended time.Time
}

// at returns what is worked out, or was less than a minute ago; else do begins to. It goes on when nobody waits any more, as
// somebody may come back.
func (l *looks[T]) at(ctx context.Context, key string, do func(ctx context.Context, counted func(int)) (T, error)) *look[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.all[key]; one != nil && one.fresh() {
		return one
	}
	if l.all == nil {
		l.all = map[string]*look[T]{}
	}
	for k, one := range l.all {
		if !one.fresh() || len(l.all) >= looksMost && one.isDone() {
			delete(l.all, k)
		}
	}
	one := &look[T]{began: time.Now(), done: make(chan struct{})}
	l.all[key] = one
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLasts)
	go func() {
		defer cancel()
		defer close(one.done)
		one.value, one.err = do(work, func(n int) { one.counted.Store(int64(n)) })
		one.ended = time.Now()
	}()
	return one
}

// forget has everything worked out anew that is done.
func (l *looks[T]) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, one := range l.all {
		if one.isDone() {
			delete(l.all, k)
		}
	}
}

func (l *look[T]) isDone() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// fresh reports whether others may have it. An error is for those alone who waited for it.
func (l *look[T]) fresh() bool {
	return !l.isDone() || l.err == nil && time.Since(l.ended) < lookAge
}

// wait waits for it for a while, and reports whether it is there.
func (l *look[T]) wait(ctx context.Context, most time.Duration) bool {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-l.done:
	case <-late.C:
	case <-ctx.Done():
	}
	return l.isDone()
}
