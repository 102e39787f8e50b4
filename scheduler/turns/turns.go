// Package turns lets so many callers work at once, and the others wait for their turn. Whoever asks for much waits behind
// himself: of those who wait, each caller in turn gets one place, however many more another one asks for.
package turns

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrCrowded says that so many wait already that one more would wait in vain.
var ErrCrowded = errors.New("too many requests wait for their turn; try again")

// Config says how many may work, and wait. All are required.
type Config struct {
	Places    int // that may be taken at once
	PerCaller int // that may wait of one caller
	Waiting   int // that may wait of all callers
}

// Turns hands out places. It is safe for concurrent use.
type Turns struct {
	cfg Config

	mu      sync.Mutex
	free    int
	waiting int
	callers []*caller // those who wait; the first one is next
}

// caller is who waits, and for how many places.
type caller struct {
	name  string
	turns []chan struct{} // closed when it has a place
}

// New returns turns with all places free.
func New(cfg Config) *Turns { return &Turns{cfg: cfg, free: cfg.Places} }

// Take waits for a place, until ctx is done: the error is that of ctx, or [ErrCrowded]. Whoever got one calls give once.
func (t *Turns) Take(ctx context.Context, name string) (give func(), err error) {
	turn, err := t.queue(name)
	if err != nil {
		return nil, err
	}
	if turn == nil {
		return t.give, nil
	}
	select {
	case <-turn:
		return t.give, nil
	case <-ctx.Done():
		if t.leave(name, turn) {
			return nil, context.Cause(ctx)
		}
		return t.give, nil // the place came in the same moment: what follows finds ctx done
	}
}

// queue takes a place at once, or a turn to wait for.
func (t *Turns) queue(name string) (chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil, nil //nolint:nilnil // there is nothing to wait for
	}
	at := slices.IndexFunc(t.callers, func(c *caller) bool { return c.name == name })
	if t.waiting >= t.cfg.Waiting || at >= 0 && len(t.callers[at].turns) >= t.cfg.PerCaller {
		return nil, ErrCrowded
	}
	if at < 0 {
		at = len(t.callers)
		t.callers = append(t.callers, &caller{name: name})
	}
	turn := make(chan struct{})
	t.callers[at].turns = append(t.callers[at].turns, turn)
	t.waiting++
	return turn, nil
}

// leave gives up a turn; false when it has come.
func (t *Turns) leave(name string, turn chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.callers {
		if at := slices.Index(c.turns, turn); c.name == name && at >= 0 {
			c.turns = slices.Delete(c.turns, at, at+1)
			t.waiting--
			if len(c.turns) == 0 {
				t.callers = slices.Delete(t.callers, i, i+1)
			}
			return true
		}
	}
	return false
}

// give hands a place to the caller whose turn it is.
func (t *Turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.callers) == 0 {
		t.free++
		return
	}
	next := t.callers[0]
	t.callers = t.callers[1:]
	close(next.turns[0])
	t.waiting--
	if next.turns = next.turns[1:]; len(next.turns) > 0 {
		t.callers = append(t.callers, next)
	}
}
