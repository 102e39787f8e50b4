package cache

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler/intake"
)

// Config says what a mirror shows and how much of it. Watch and Load are
// required, and one of Decode and Revision.
type Config[K comparable, V any] struct {
	// Watch calls changed for every change of a value, in the order of the
	// changes of a key, until ctx is done or the watch is lost. With Decode, it
	// first calls it for every value that there is; data is nil for one that was
	// deleted. It calls ready once: from then on no change goes unseen, and with
	// Decode every value has been told of. It calls neither after its return.
	Watch func(ctx context.Context, ready func(), changed func(key K, revision uint64, data []byte)) error

	// Load reads a value from the store.
	Load func(ctx context.Context, key K) (V, error)

	// Decode makes a value of what the watch tells. One that cannot be decoded is
	// not known: it is read when it is needed, and Load tells what is wrong with
	// it. Default: none; data is not looked at, and a change removes the value.
	Decode func(key K, revision uint64, data []byte) (V, error)

	// Revision returns the revision of a value that was read. It is not needed
	// with Decode, when nothing is kept but what the watch tells.
	Revision func(V) uint64

	// Limit is how many values are kept of those that were read. An eighth of
	// them, at random, makes room for more. Default: no limit.
	Limit int

	// Weight is as how many values one counts for Limit. Default: one each.
	Weight func(V) int

	// Shards is how many counts of changes there are. Default: one.
	Shards int

	// Retain lets [Mirror.Known] answer also when the watch is lost, until the
	// next one has told of everything.
	Retain bool
}

// Mirror holds the values of a bucket. It is safe for concurrent use. While
// [Mirror.Run] does not run, it reads each value each time.
type Mirror[K comparable, V any] struct {
	cfg  Config[K, V]
	seed maphash.Seed
	turn chan struct{} // held by the runner that watches

	mu    sync.RWMutex
	table table[K, V]
}

// New returns an empty mirror. It does no I/O.
func New[K comparable, V any](cfg Config[K, V]) *Mirror[K, V] {
	return &Mirror[K, V]{
		cfg: cfg, seed: maphash.MakeSeed(), turn: make(chan struct{}, 1),
		table: table[K, V]{
			entries: map[K]entry[V]{}, shards: make([]shard, max(1, cfg.Shards)),
			limit: cfg.Limit, retain: cfg.Retain,
		},
	}
}

// Peek returns a value if it can be had without reading, which takes a watch.
func (m *Mirror[K, V]) Peek(key K) (V, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.table.peek(key)
	return e.value, ok
}

// Known returns a value as it was last known to be. There may be a newer one that
// the watch has not told of, or has not because it is lost ([Config.Retain]).
func (m *Mirror[K, V]) Known(key K) (V, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.table.known(key)
	return e.value, ok
}

// Each calls f with every value that is known. f must not call the mirror.
func (m *Mirror[K, V]) Each(f func(V)) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, e := range m.table.entries {
		if !e.deleted {
			f(e.value)
		}
	}
}

// Current returns a value as it is now, from the store if need be. atLeast is a
// revision that is known to exist, or 0: what the mirror holds may be older for
// the moment in which the watch has not told of it yet. The error is that of
// [Config.Load].
func (m *Mirror[K, V]) Current(ctx context.Context, key K, atLeast uint64) (V, error) {
	m.mu.RLock()
	e, ok := m.table.peek(key)
	m.mu.RUnlock()
	if ok && e.revision >= atLeast {
		return e.value, nil
	}
	for pause := lagPause; ; pause *= 2 {
		before := m.Changes(key)
		v, err := m.cfg.Load(ctx, key)
		if err == nil {
			m.Keep(key, v, before)
		}
		if err != nil || pause > lagPatience || !m.late(key, v, atLeast) {
			return v, err
		}
		intake.Pause(ctx, pause)
	}
}

// The pauses between reads while a replica of the store may lag behind, 150 ms
// together. After that, what is there is taken for what there is: the store may have
// been brought back from an older copy.
const (
	lagPause    = 10 * time.Millisecond
	lagPatience = 80 * time.Millisecond
)

// late reports whether there is a later revision of a value that was read.
func (m *Mirror[K, V]) late(key K, v V, atLeast uint64) bool {
	if m.cfg.Revision == nil {
		return false
	}
	at, revision := m.place(key), m.cfg.Revision(v)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return revision < atLeast || m.table.outdated(at, revision)
}

// Changes counts the changes of keys like this one that were told of so far.
func (m *Mirror[K, V]) Changes(key K) uint32 {
	at := m.place(key)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.table.shards[at.shard].changes
}

// Unchanged reports whether the mirror would have been told of a change of the
// value since it had counted so many, and was not.
func (m *Mirror[K, V]) Unchanged(key K, since uint32) bool {
	at := m.place(key)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.table.unchanged(at, since)
}

// Latest reports whether a value that was read is the latest one, for all that was
// told of, and would be kept by [Mirror.Keep].
func (m *Mirror[K, V]) Latest(key K, v V, before uint32) bool {
	at := m.place(key)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.table.latestOf(at, m.cfg.Revision(v), before)
}

// Keep takes in a value that was read, unless there may be a newer one: before is
// what [Mirror.Changes] returned before it was read. With [Config.Decode], it
// does nothing.
func (m *Mirror[K, V]) Keep(key K, v V, before uint32) {
	if m.cfg.Decode != nil {
		return
	}
	at, e := m.place(key), entry[V]{value: v, revision: m.cfg.Revision(v)}
	if m.cfg.Weight != nil {
		e.weight = m.cfg.Weight(v)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.table.keep(key, at, e, before)
}

// Forget removes a value that is not needed again.
func (m *Mirror[K, V]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.table.remove(key)
}

// Note takes in what the bucket holds for a key since a revision; data is nil for
// nothing. A process notes its own writes, which the watch tells of later.
func (m *Mirror[K, V]) Note(key K, revision uint64, data []byte) {
	at, e := m.place(key), entry[V]{revision: revision, deleted: true}
	if m.cfg.Decode != nil && data != nil {
		if v, err := m.cfg.Decode(key, revision, data); err == nil {
			e.value, e.deleted = v, false
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cfg.Decode == nil {
		m.table.evict(key, at, revision)
	} else {
		m.table.tell(key, at, e)
	}
}

// Run watches until ctx is done. When the watch is lost, it calls lost and tries
// again after a second; while it fails for the same reason, lost is not called
// again. Of several runners one watches; the others wait until it ends.
func (m *Mirror[K, V]) Run(ctx context.Context, lost func(error)) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return
	}
	told := ""
	for ctx.Err() == nil {
		var stood atomic.Bool
		m.change((*table[K, V]).begin)
		err := m.cfg.Watch(ctx, func() { stood.Store(true); m.change((*table[K, V]).ready) }, m.Note)
		m.change((*table[K, V]).lose)
		if ctx.Err() != nil {
			return
		}
		if text := fmt.Sprint(err); stood.Load() || text != told {
			told = text
			lost(err)
		}
		intake.Pause(ctx, time.Second)
	}
}

func (m *Mirror[K, V]) change(f func(*table[K, V])) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.table)
}

func (m *Mirror[K, V]) place(key K) place {
	h := maphash.Comparable(m.seed, key)
	return place{shard: int(h % uint64(len(m.table.shards))), mark: uint32(h >> 32)}
}
