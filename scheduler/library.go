package scheduler

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// library holds the compiled definitions that this process uses, so that in
// the steady state firing a job reads nothing. A watch on the store removes
// what was edited; while the watch is down, nothing is kept.
type library struct {
	store   jobSource
	actions ActionReader
	secrets *Vault
	limit   int // entries kept

	live atomic.Bool // the watch stands
	mu   sync.Mutex
	jobs map[Key]*Job
	seen []uint32 // changes the watch has seen, by a hash of the job
}

// shards is the length of library.seen: so many that a load is hardly ever
// in the way of another job's change, even when thousands change in a second.
const shards = 1 << 16

// jobSource is where definitions come from.
type jobSource interface {
	JobReader
	JobBatchReader
	JobWatcher
}

// libraryLimit is how many definitions are kept, about 3 KB each.
const libraryLimit = 1 << 15

func newLibrary(store jobSource, actions ActionReader, secrets *Vault) *library {
	return &library{
		store: store, actions: actions, secrets: secrets, limit: libraryLimit, jobs: map[Key]*Job{}, seen: make([]uint32, shards),
	}
}

// current returns the job as it is now. atLeast is a revision that is known to
// exist: what the library holds may be older for the moment in which the watch
// has not told of it yet.
func (l *library) current(ctx context.Context, k Key, atLeast uint64) (*Job, error) {
	if j := l.peek(k); j != nil && j.Revision >= atLeast {
		return j, nil
	}
	before := l.changes(k)
	j, err := l.load(ctx, k)
	if err == nil {
		l.keep(j, before)
	}
	return j, err
}

// changes counts the changes seen so far to jobs like k.
func (l *library) changes(k Key) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[k.hash()%shards]
}

// unchanged reports whether the library would have heard of a change to k since
// it had seen so many, and has not.
func (l *library) unchanged(k Key, since uint32) bool { return l.live.Load() && l.changes(k) == since }

func (l *library) load(ctx context.Context, k Key) (*Job, error) {
	st, err := l.store.LoadJob(ctx, k)
	if err != nil {
		return nil, err
	}
	return DecodeJob(k, st.Revision, st.Data, l.actions, l.secrets)
}

// keep takes a loaded job into the library, unless the watch may have seen a
// newer revision meanwhile.
func (l *library) keep(j *Job, before uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.live.Load() || l.seen[j.Key.hash()%shards] != before {
		return
	}
	if len(l.jobs) >= l.limit {
		l.dropSome()
	}
	l.jobs[j.Key] = j
}

// dropSome makes room: map order is random enough for a cache whose misses
// cost one read.
func (l *library) dropSome() {
	enough := len(l.jobs) - l.limit/8
	for k := range l.jobs {
		if len(l.jobs) <= enough {
			return
		}
		delete(l.jobs, k)
	}
}

// at returns the job as it was at a revision, or as it is now when that is no
// longer kept.
func (l *library) at(ctx context.Context, k Key, revision uint64, current *Job) *Job {
	if current.Revision == revision {
		return current
	}
	st, err := l.store.LoadJobAt(ctx, k, revision)
	if err != nil {
		return current
	}
	if m, err := decodeMeta(st.Data); err == nil && current.sameDefinition(m) {
		return current // written again for another reason, such as a new key for its secrets
	}
	j, err := DecodeJob(k, revision, st.Data, l.actions, l.secrets)
	if err != nil {
		return current
	}
	return j
}

// forget removes a job that is not needed again.
func (l *library) forget(k Key) {
	l.mu.Lock()
	delete(l.jobs, k)
	l.mu.Unlock()
}

// watch keeps the library honest until ctx is done.
func (l *library) watch(ctx context.Context, lost func(error)) {
	for ctx.Err() == nil {
		err := l.store.WatchJobs(ctx, func() {
			l.live.Store(true)
		}, l.changed)
		l.live.Store(false)
		l.mu.Lock()
		clear(l.jobs)
		for i := range l.seen {
			l.seen[i]++ // any job may change unseen until the watch stands again
		}
		l.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		lost(err)
		pause(ctx, time.Second)
	}
}

func (l *library) changed(k Key, revision uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j := l.jobs[k]; j != nil && j.Revision < revision {
		delete(l.jobs, k)
	}
	l.seen[k.hash()%shards]++
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// peek returns the job if it can be had without reading.
func (l *library) peek(k Key) *Job {
	if !l.live.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.jobs[k]
}
