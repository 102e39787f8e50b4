package worker

import (
	"context"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/cache"
)

// loader reads the definitions of batons that have come, many in one request
// when many have: the batons of a herd come faster than single reads.
type loader struct {
	jobs *cache.Jobs
	done func(*run) // called when the definition has been read, or could not be

	mu      sync.Mutex
	queue   []*run
	loading int // how many are in the queue, or being read
	wake    chan struct{}
}

// loadBatch is the most definitions read in one request.
const loadBatch = 128

func newLoader(jobs *cache.Jobs, done func(*run)) *loader {
	return &loader{jobs: jobs, done: done, wake: make(chan struct{}, 1)}
}

// add reads r's definition soon. It does not block.
func (l *loader) add(r *run) {
	l.mu.Lock()
	l.queue = append(l.queue, r)
	l.loading++
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// work loads until ctx is done and nothing is left.
func (l *loader) work(ctx context.Context) {
	for {
		for batch := l.next(); len(batch) > 0; batch = l.next() {
			l.load(context.WithoutCancel(ctx), batch)
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

func (l *loader) next() []*run {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.queue), loadBatch)
	batch := l.queue[:n:n]
	l.queue = l.queue[n:]
	if len(l.queue) == 0 {
		l.queue = nil
	}
	return batch
}

// load reads the definitions of a batch. One that is not found now is looked
// for again, and missed, when its baton is due.
func (l *loader) load(ctx context.Context, batch []*run) {
	keys := make([]scheduler.Key, len(batch))
	for i, r := range batch {
		keys[i] = r.key()
	}
	l.jobs.Fill(ctx, keys)
	for _, r := range batch {
		l.done(r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loading -= len(batch)
}

// bytes is how many bytes what is on its way through here will count for.
func (l *loader) bytes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loading * scheduler.UsualHeldBytes
}
