package service

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

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

// lines lets those who want the same thing at once have it one after the other, so that they need not overtake each other.
// It is for the good of a process alone: what is right is decided by the store.
type lines struct {
	mu sync.Mutex
	of map[string]*line
}

// line is those who want one thing.
type line struct {
	turn  chan struct{} // has a value while somebody has it
	users int           // who have it, or wait
}

// take waits until it is the caller's turn, and returns what ends it.
func (l *lines) take(ctx context.Context, thing string) (release func(), err error) {
	own := l.join(thing)
	select {
	case own.turn <- struct{}{}:
		return func() { <-own.turn; l.leave(thing) }, nil
	case <-ctx.Done():
		l.leave(thing)
		return func() {}, context.Cause(ctx)
	}
}

func (l *lines) join(thing string) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.of[thing]
	if own == nil {
		if l.of == nil {
			l.of = map[string]*line{}
		}
		own = &line{turn: make(chan struct{}, 1)}
		l.of[thing] = own
	}
	own.users++
	return own
}

func (l *lines) leave(thing string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.of[thing]
	own.users--
	if own.users == 0 {
		delete(l.of, thing)
	}
}
