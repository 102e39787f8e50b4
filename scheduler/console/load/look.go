package load

import (
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
	lookAge   = time.Minute      // maximum age of a result for other readers
	lookLeast = 2 * time.Second  // minimum lifetime of a result
	lookTimes = 50               // lifetime as a multiple of its computation time, within these bounds
	looksKept = time.Hour        // how long an old result is shown until a newer one is ready
	lookLasts = 10 * time.Minute // timeout of a computation
	looksMost = 32
)

// looks shares expensive computations among readers. It is safe for concurrent use.
type looks[T any] struct {
	mu  sync.Mutex
	all map[string]*look[T]
}

// look is a computation and its result.
type look[T any] struct {
	began   time.Time
	before  atomic.Pointer[look[T]] // the previous result, shown in the meantime; nil: none
	counted atomic.Int64            // jobs so far
	done    chan struct{}

	// These are valid once it is done.
	value T
	err   error
	ended time.Time
	old   bool // to be computed again
}

// at returns a running or recent computation for a key, or starts do. The computation continues without waiting
// readers, because they may return.
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
		if k != key && one.isDone() && (len(l.all) >= looksMost || one.last() == nil) {
			delete(l.all, k)
		}
	}
	one := &look[T]{began: time.Now(), done: make(chan struct{})}
	one.before.Store(l.all[key].last())
	if l.underWay() >= looksMost { // abandoned computations continue: repeated requests for different ones must not fill the process
		one.err, one.ended = errBusy, one.began
		close(one.done)
		return one
	}
	l.all[key] = one
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLasts)
	go func() {
		defer cancel()
		defer close(one.done)
		one.value, one.err = do(work, func(n int) { one.counted.Store(int64(n)) })
		one.ended = time.Now()
		if one.err == nil {
			one.before.Store(nil)
		}
	}()
	return one
}

// lookAt is [looks.at] for a request.
func lookAt[T any](l *looks[T], c *frame.Call, key string, do func(ctx context.Context, counted func(int)) (T, error)) *look[T] {
	return l.at(c.Context(), key, func(ctx context.Context, counted func(int)) (T, error) {
		return frame.Guarded(c, func() (T, error) { return do(ctx, counted) })
	})
}

// errBusy reports too many computations.
var errBusy = frame.Problem{
	Status: http.StatusServiceUnavailable, Text: words.Say("load.busy", looksMost), Hint: words.Say("frame.unavailable.hint"),
}

// underWay returns the number of running computations.
func (l *looks[T]) underWay() (n int) {
	for _, one := range l.all {
		if !one.isDone() {
			n++
		}
	}
	return n
}

// renew restarts finished computations and shows their results until then.
func (l *looks[T]) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.all {
		if one.isDone() {
			one.old = true
		}
	}
}

// forget restarts finished computations, whose results are invalid.
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

// fresh reports whether other readers may get the result. Only the readers who waited for it get its error.
func (l *look[T]) fresh() bool {
	return !l.isDone() || !l.old && l.err == nil && time.Since(l.ended) < min(max(lookTimes*l.ended.Sub(l.began), lookLeast), lookAge)
}

// last returns the latest showable result of the computation and its predecessors; nil: none.
func (l *look[T]) last() *look[T] {
	switch {
	case l == nil || !l.isDone():
		return nil
	case l.err != nil:
		return l.before.Load().last()
	case time.Since(l.ended) >= looksKept:
		return nil
	}
	return l
}

// wait waits for the computation and reports whether it is done.
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
