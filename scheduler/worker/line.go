package worker

import (
	"context"
	"sync"
)

// line is a FIFO queue of runs, which workers process in batches.
type line struct {
	most int // maximum number of runs in a batch

	mu    sync.Mutex
	queue []*run
	wake  chan struct{}
}

// newLine returns a queue for a number of workers, each with batches of at most most runs.
func newLine(workers, most int) *line { return &line{most: most, wake: make(chan struct{}, workers)} }

// add appends r. It does not block.
func (l *line) add(r *run) {
	l.mu.Lock()
	l.queue = append(l.queue, r)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// work processes batches until ctx is done and the queue is empty.
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
