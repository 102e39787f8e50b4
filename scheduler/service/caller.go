package service

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
)

// callerKey is where a context names the caller.
type callerKey struct{}

// WithCaller names who asks: an address, or whatever tells one caller of an API from another. Those who ask for much
// wait behind themselves then, and not in front of others.
func WithCaller(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, callerKey{}, name)
}

// newQueue returns a queue of requests that take processor time.
func newQueue(slots int) *fairqueue.Queue {
	return fairqueue.New(fairqueue.Config{Slots: slots, PerCaller: 1024, Waiting: 4096})
}

// few is how many requests work at once that take milliseconds. Few at a time are done soonest, and leave the processors to
// the jobs in between.
func few() int { return 2 * runtime.GOMAXPROCS(0) }

// takeTurn waits until the caller may go on. ErrUnavailable when too many wait already.
func takeTurn(ctx context.Context, q *fairqueue.Queue) (release func(), err error) {
	name, _ := ctx.Value(callerKey{}).(string)
	release, err = q.Acquire(ctx, name)
	if errors.Is(err, fairqueue.ErrFull) {
		err = fmt.Errorf("%w: %w", scheduler.ErrUnavailable, err)
	}
	runtime.Gosched() // Those who wake each other here would else keep the processors from what came over the network.
	return release, err
}
