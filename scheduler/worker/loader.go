package worker

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/cache"
)

// loader reads the definitions of batons that have come, many in one request
// when many have: the batons of a herd come faster than single reads. Those whose
// schedules are texts are compiled beside, so that no plain job waits for
// thousands that take some hundredths of a second each.
type loader struct {
	jobs *cache.Jobs
	take func(*run, cache.Read) bool // called with the definition of one that is packed; false: the mirror is to keep it
	done func(*run)                  // called when the definition has been read, or could not be

	unread, uncompiled *line
	loading            atomic.Int64 // how many are on their way through here
}

const (
	// loadBatch is the most definitions read in one request.
	loadBatch = 128
	// loaders is the number of concurrent requests. Several are needed so that one slow answer of the store delays no other job.
	loaders = 4
)

// compilers is how many schedules are compiled at a time: half of the processors
// stay free for what is due.
func compilers() int { return max(1, runtime.GOMAXPROCS(0)/2) }

func newLoader(jobs *cache.Jobs, take func(*run, cache.Read) bool, done func(*run)) *loader {
	return &loader{jobs: jobs, take: take, done: done, unread: newLine(loaders, loadBatch), uncompiled: newLine(compilers(), 1)}
}

// add reads r's definition soon. It does not block.
func (l *loader) add(r *run) {
	l.loading.Add(1)
	l.unread.add(r)
}

// pending reports whether definitions are to be read, or schedules compiled.
func (l *loader) pending() bool { return l.loading.Load() > 0 }

// work loads until ctx is done and nothing is left.
func (l *loader) work(ctx context.Context) {
	reading, read := context.WithCancel(context.WithoutCancel(ctx))
	var side sync.WaitGroup
	for range compilers() {
		side.Go(func() { l.uncompiled.work(reading, func(batch []*run) { l.compile(ctx, batch) }) })
	}
	var loading sync.WaitGroup
	for range loaders {
		loading.Go(func() { l.unread.work(ctx, func(batch []*run) { l.load(context.WithoutCancel(ctx), batch) }) })
	}
	loading.Wait()
	read()
	side.Wait()
}

// load reads the definitions of a batch. One that is not found now is looked
// for again, and missed, when its baton is due.
func (l *loader) load(ctx context.Context, batch []*run) {
	keys := make([]scheduler.Key, len(batch))
	own := make(map[scheduler.Key]*run, len(batch))
	for i, r := range batch {
		keys[i] = r.key()
		if r.delivery.Slot.Detached == "" {
			own[r.key()] = r
		}
	}
	l.jobs.Fill(ctx, keys, func(read cache.Read) bool {
		r := own[read.Key]
		return r != nil && l.take(r, read)
	})
	for _, r := range batch {
		if l.jobs.Uncompiled(r.key()) {
			l.uncompiled.add(r)
		} else {
			l.loaded(r)
		}
	}
}

// compile compiles the schedules of a batch, unless the worker stops. What is
// wrong with one shows again when its baton is due.
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

// bytes is how many bytes what is on its way through here will count for.
func (l *loader) bytes() int { return int(l.loading.Load()) * scheduler.UsualHeldBytes }
