package engine

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
)

// loader reads the definitions of delivered batons in batches, because a herd arrives faster than single reads
// complete. It compiles schedule texts separately, so that plain jobs do not wait for thousands of schedules that each
// take some hundredths of a second.
type loader struct {
	jobs *jobcache.Jobs
	take func(*run, jobcache.Read) bool // called with the definition of an encoded run; false: the mirror keeps the definition
	done func(*run)                     // called after the definition was read, or the read failed

	unread, uncompiled *line
	loading            atomic.Int64 // runs in the loader
}

const (
	// loadBatch limits the definitions per request.
	loadBatch = 128
	// loaders is the number of concurrent requests. Several are needed so that a slow response does not delay other
	// jobs.
	loaders = 4
)

// compilers is the number of concurrent compilations: half of the processors remain free for due runs.
func compilers() int { return max(1, runtime.GOMAXPROCS(0)/2) }

func newLoader(jobs *jobcache.Jobs, take func(*run, jobcache.Read) bool, done func(*run)) *loader {
	return &loader{jobs: jobs, take: take, done: done, unread: newLine(loaders, loadBatch), uncompiled: newLine(compilers(), 1)}
}

// add queues r. It does not block.
func (l *loader) add(r *run) {
	l.loading.Add(1)
	l.unread.add(r)
}

// pending reports whether the loader has runs.
func (l *loader) pending() bool { return l.loading.Load() > 0 }

// work loads until ctx is done and the queue is empty.
func (l *loader) work(ctx context.Context) {
	reading, read := context.WithCancel(context.WithoutCancel(ctx))
	var side sync.WaitGroup
	for range compilers() {
		side.Go(func() { l.uncompiled.work(reading, func(batch []*run) { l.compile(ctx, batch) }) })
	}
	var loading sync.WaitGroup
	for range loaders {
		loading.Go(func() { l.unread.work(ctx, func(batch []*run) { l.load(ctx, batch) }) })
	}
	loading.Wait()
	read()
	side.Wait()
}

// load reads the definitions of a batch. A definition that is not found is read again when its baton is due.
func (l *loader) load(ctx context.Context, batch []*run) {
	keys := make([]scheduler.Key, len(batch))
	own := make(map[scheduler.Key]*run, len(batch))
	for i, r := range batch {
		keys[i] = r.key()
		if r.delivery.BatonKey.Detached == "" {
			own[r.key()] = r
		}
	}
	if ctx.Err() == nil { // otherwise the runs are released
		l.jobs.Fill(ctx, keys, func(read jobcache.Read) bool {
			r := own[read.Key]
			return r != nil && l.take(r, read)
		})
	}
	for _, r := range batch {
		if l.jobs.Uncompiled(r.key()) {
			l.uncompiled.add(r)
		} else {
			l.loaded(r)
		}
	}
}

// compile compiles the schedules of a batch, unless the worker stops. Errors show again when the baton is due.
func (l *loader) compile(ctx context.Context, batch []*run) {
	for _, r := range batch {
		if ctx.Err() == nil && l.jobs.Uncompiled(r.key()) {
			_, _ = l.jobs.Current(context.WithoutCancel(ctx), r.key(), 0)
		}
		l.loaded(r)
	}
}

// loaded hands r on.
func (l *loader) loaded(r *run) {
	l.done(r)
	l.loading.Add(-1)
}

// bytes returns the estimated size of the loader's runs once they are held.
func (l *loader) bytes() int { return int(l.loading.Load()) * scheduler.UsualHeldBytes }

// line is a FIFO queue of runs, which workers process in batches.
type line struct {
	most int // maximum number of runs in a batch

	mu    sync.Mutex
	queue []*run
	wake  chan struct{}
}

// newLine returns a queue for a number of workers, each with batches of up to most runs.
func newLine(workers, most int) *line { return &line{most: most, wake: make(chan struct{}, workers)} }

// add appends r. It does not block.
func (l *line) add(r *run) {
	l.mu.Lock()
	l.queue = append(l.queue, r)
	l.mu.Unlock()
	flow.Signal(l.wake)
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
