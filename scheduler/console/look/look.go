// Package look shares results that take long to compute among the readers of a page.
//
//	request ──► At: running, recent or new computation ──► Wait ──► result, or the previous one and the progress
//
// Guarantees:
//
//  1. A key has one computation at a time, however many readers ask. It continues without waiting readers.
//  2. A result is shared while it is fresh. An older one is available until the next one is ready, for a limited time.
//  3. An error is shared for two seconds only, so that a failing store is not asked all the time. It replaces no result.
//  4. The number of computations and of results is bounded.
package look

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// Limits of the cache.
const (
	lookAge   = time.Minute      // default of Looks.Age
	lookLeast = 2 * time.Second  // minimum lifetime of a result
	lookTimes = 50               // lifetime as a multiple of its computation time, within these bounds
	looksKept = time.Hour        // default of Looks.Kept
	lookLasts = 10 * time.Minute // timeout of a computation
	looksMost = 32
)

// Looks shares expensive computations among readers. It is safe for concurrent use.
type Looks[T any] struct {
	Age  time.Duration // maximum age of a shared result. Default: a minute
	Kept time.Duration // how long an old result is shown until a newer one is ready. Default: an hour

	mu  sync.Mutex
	all map[string]*Look[T]
}

// Look is a computation and its result.
type Look[T any] struct {
	Began   time.Time
	of      *Looks[T]
	before  atomic.Pointer[Look[T]] // the previous result, shown in the meantime; nil: none
	counted atomic.Int64            // jobs so far
	done    chan struct{}

	// These are valid once it is done.
	Value T
	Err   error
	Ended time.Time
	old   bool // to be computed again
}

// at is [Looks.At] with a context instead of a request. The computation continues without waiting
// readers, because they may return.
func (l *Looks[T]) at(ctx context.Context, key string, do func(ctx context.Context, counted func(int)) (T, error)) *Look[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.all[key]; one != nil && one.fresh() {
		return one
	}
	if l.all == nil {
		l.all = map[string]*Look[T]{}
	}
	for k, one := range l.all {
		if k != key && one.isDone() && (len(l.all) >= looksMost || one.last() == nil && !one.fresh()) {
			delete(l.all, k)
		}
	}
	one := &Look[T]{Began: time.Now(), of: l, done: make(chan struct{})}
	one.before.Store(l.all[key].last())
	if l.underWay() >= looksMost { // abandoned computations continue: repeated requests for different ones must not fill the process
		one.Err, one.Ended = busy(), one.Began
		close(one.done)
		return one
	}
	l.all[key] = one
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLasts)
	go func() {
		defer cancel()
		defer close(one.done)
		one.Value, one.Err = do(work, func(n int) { one.counted.Store(int64(n)) })
		one.Ended = time.Now()
		if one.Err == nil {
			one.before.Store(nil)
		}
	}()
	return one
}

// At returns a running or recent computation for a key, or starts do, which reports its progress.
func (l *Looks[T]) At(c *frame.Request, key string, do func(ctx context.Context, counted func(int)) (T, error)) *Look[T] {
	return l.at(c.Context(), key, func(ctx context.Context, counted func(int)) (T, error) {
		return frame.Guarded(c, func() (T, error) { return do(ctx, counted) })
	})
}

// busy reports too many computations.
func busy() error {
	return frame.Problem{
		Status: http.StatusServiceUnavailable, Text: words.Text("load.busy", looksMost), Hint: words.Text("frame.unavailable.hint"),
	}
}

// underWay returns the number of running computations.
func (l *Looks[T]) underWay() (n int) {
	for _, one := range l.all {
		if !one.isDone() {
			n++
		}
	}
	return n
}

// Renew restarts finished computations and shows their results in the meantime.
func (l *Looks[T]) Renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.all {
		if one.isDone() {
			one.old = true
		}
	}
}

// Forget restarts finished computations, whose results are invalid.
func (l *Looks[T]) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, one := range l.all {
		if one.isDone() {
			delete(l.all, k)
		}
	}
}

func (l *Look[T]) isDone() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// fresh reports whether other readers may get the result or the error.
func (l *Look[T]) fresh() bool {
	lasts := lookLeast
	if l.isDone() && l.Err == nil {
		lasts = min(max(lookTimes*l.Ended.Sub(l.Began), lookLeast), cmp.Or(l.of.Age, lookAge))
	}
	return !l.isDone() || !l.old && time.Since(l.Ended) < lasts
}

// last returns the latest showable result of the computation and its predecessors; nil: none.
func (l *Look[T]) last() *Look[T] {
	switch {
	case l == nil || !l.isDone():
		return nil
	case l.Err != nil:
		return l.before.Load().last()
	case time.Since(l.Ended) >= cmp.Or(l.of.Kept, looksKept):
		return nil
	}
	return l
}

// Wait waits for the computation and reports whether it is done.
func (l *Look[T]) Wait(ctx context.Context, most time.Duration) bool {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-l.done:
	case <-late.C:
	case <-ctx.Done():
	}
	return l.isDone()
}

// Shown returns the computation if it ends in time, or else the previous result; nil for none.
func (l *Look[T]) Shown(ctx context.Context, most time.Duration) *Look[T] {
	before := l.before.Load() // first: a computation that ends drops it
	if l.Wait(ctx, most) {
		return l
	}
	return before
}

// Counted returns the progress.
func (l *Look[T]) Counted() int64 { return l.counted.Load() }
