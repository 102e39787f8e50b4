package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

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

// newMutexes returns a queue that serializes requests for the same thing, which takes the place of the caller's name, so
// that they do not overtake each other. It is only an optimization: the store's compare-and-set guarantees correctness.
func newMutexes() *fairqueue.Queue {
	return fairqueue.New(fairqueue.Config{Slots: math.MaxInt, Running: 1, PerCaller: math.MaxInt, Waiting: math.MaxInt})
}
