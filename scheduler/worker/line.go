package worker

import (
	"context"
	"sync"
)

// line is where runs stand until it is their turn to be worked on, a few at a
// time.
type line struct {
	most int // runs that are worked on together

	mu    sync.Mutex
	queue []*run
	wake  chan struct{}
}

// newLine returns a line at which so many work, each on so many runs at a time.
func newLine(workers, most int) *line { return &line{most: most, wake: make(chan struct{}, workers)} }

// add puts r at the end. It does not block.
func (l *line) add(r *run) {
	l.mu.Lock()
	l.queue = append(l.queue, r)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// work hands on runs until ctx is done and nothing is left.
func (l *line) work(ctx context.Context, on func(batch []*run)) {
	for {
		for batch := l.next(); len(batch) > 0; batch = l.next() {
			on(batch)
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
		}
	}
}

func (l *line) next() []*run {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.queue), l.most)
	batch := l.queue[:n:n]
	l.queue = l.queue[n:]
	if len(l.queue) == 0 {
		l.queue = nil
	}
	return batch
}
