package control

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
)

// callerKey is the context key of the caller's name.
type callerKey struct{}

// WithCaller adds the caller's name: an address, or another identity of an API client. Requests are queued per caller,
// so a caller with many requests delays only its own.
func WithCaller(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, callerKey{}, name)
}

// newQueue returns a queue for requests that use processor time.
func newQueue(slots int) *fairqueue.Queue {
	return fairqueue.New(fairqueue.Config{Slots: slots, PerCaller: 1024, Waiting: 4096})
}

// few limits concurrent requests that take milliseconds. A low limit completes them soonest, and leaves the processors
// to jobs in between.
func few() int { return 2 * runtime.GOMAXPROCS(0) }

// takeTurn waits for the caller's turn. It returns ErrUnavailable if too many requests wait.
func takeTurn(ctx context.Context, q *fairqueue.Queue) (release func(), err error) {
	name, _ := ctx.Value(callerKey{}).(string)
	release, err = q.Acquire(ctx, name)
	if errors.Is(err, fairqueue.ErrFull) {
		err = fmt.Errorf("%w: %w", scheduler.ErrUnavailable, err)
	}
	runtime.Gosched() // otherwise goroutines that wake each other here would starve those that read from the network
	return release, err
}

// keyedMutex serializes requests for the same thing in a process, so that they do not overtake each other. It is only an
// optimization: the store's compare-and-set guarantees correctness.
type keyedMutex struct {
	mu sync.Mutex
	of map[string]*keyLock
}

// keyLock is the lock of one key.
type keyLock struct {
	held  chan struct{} // holds a value while a request has the turn
	users int           // requests that have the turn or wait
}

// lock waits for the caller's turn, and returns the function that ends it.
func (l *keyedMutex) lock(ctx context.Context, thing string) (release func(), err error) {
	own := l.join(thing)
	select {
	case own.held <- struct{}{}:
		return func() { <-own.held; l.leave(thing) }, nil
	case <-ctx.Done():
		l.leave(thing)
		return func() {}, context.Cause(ctx)
	}
}

func (l *keyedMutex) join(thing string) *keyLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.of[thing]
	if own == nil {
		if l.of == nil {
			l.of = map[string]*keyLock{}
		}
		own = &keyLock{held: make(chan struct{}, 1)}
		l.of[thing] = own
	}
	own.users++
	return own
}

func (l *keyedMutex) leave(thing string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.of[thing]
	own.users--
	if own.users == 0 {
		delete(l.of, thing)
	}
}
