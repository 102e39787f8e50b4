package service

import (
	"context"
	"sync"
)

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
