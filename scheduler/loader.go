package scheduler

import (
	"context"
	"sync"
)

// loader reads the definitions of batons that have come, many in one request
// when many have: the batons of a herd come faster than single reads.
type loader struct {
	library *library
	done    func(*run) // called when the definition has been read, or could not be

	mu    sync.Mutex
	queue []*run
	wake  chan struct{}
}

// loadBatch is the most definitions read in one request.
const loadBatch = 128

func newLoader(l *library, done func(*run)) *loader {
	return &loader{library: l, done: done, wake: make(chan struct{}, 1)}
}

// add reads r's definition soon. It does not block.
func (l *loader) add(r *run) {
	l.mu.Lock()
	l.queue = append(l.queue, r)
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
	keys := make([]Key, len(batch))
	for i, r := range batch {
		keys[i] = r.key()
	}
	l.library.fill(ctx, keys)
	for _, r := range batch {
		l.done(r)
	}
}

// fill reads definitions into the library. What cannot be read now is read
// when it is needed.
func (l *library) fill(ctx context.Context, keys []Key) {
	if len(keys) == 1 {
		_, _ = l.current(ctx, keys[0], 0)
		return
	}
	before := make(map[Key]uint32, len(keys))
	for _, k := range keys {
		before[k] = l.changes(k)
	}
	_ = l.store.LoadJobs(ctx, keys, func(st Stored) {
		if j, err := DecodeJob(st.Key, st.Revision, st.Data, l.actions, l.secrets); err == nil {
			l.keep(j, before[st.Key])
		}
	})
}
