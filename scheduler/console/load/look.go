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

// The bounds of what is kept.
const (
	lookAge   = time.Minute      // for how long an answer is shown to others at most
	lookLeast = 2 * time.Second  // and at least
	lookTimes = 50               // between these, so many times as long as it took
	looksKept = time.Hour        // and to those who come back, until there is a newer one
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
	before  atomic.Pointer[look[T]] // what is shown until then; nil: nothing
	counted atomic.Int64            // jobs so far
	done    chan struct{}

	// These are there once it is done.
	value T
	err   error
	ended time.Time
	old   bool // it is to be worked out anew
}

// at returns what is worked out, or was lately; else do begins to. It goes on when nobody waits any more, as
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
		if k != key && one.isDone() && (len(l.all) >= looksMost || one.last() == nil) {
			delete(l.all, k)
		}
	}
	one := &look[T]{began: time.Now(), done: make(chan struct{})}
	one.before.Store(l.all[key].last())
	if l.underWay() >= looksMost { // what is not waited for goes on: somebody who asks for another one each time must not fill the process
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

// errBusy says that there is no room for another computation.
var errBusy = frame.Problem{
	Status: http.StatusServiceUnavailable, Text: words.Say("load.busy", looksMost), Hint: words.Say("frame.unavailable.hint"),
}

// underWay is how many are worked out.
func (l *looks[T]) underWay() (n int) {
	for _, one := range l.all {
		if !one.isDone() {
			n++
		}
	}
	return n
}

// renew has everything worked out anew that is done, and shows it until then.
func (l *looks[T]) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.all {
		if one.isDone() {
			one.old = true
		}
	}
}

// forget has everything worked out anew that is done, as it is wrong.
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
	return !l.isDone() || !l.old && l.err == nil && time.Since(l.ended) < min(max(lookTimes*l.ended.Sub(l.began), lookLeast), lookAge)
}

// last is the newest of it and what was there before that is worked out, and may be shown still; nil: there is none.
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
