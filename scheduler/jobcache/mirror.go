package jobcache

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Config configures a Mirror. Watch and Load are required, and one of Decode and Revision.
type Config[K comparable, V any] struct {
	// Watch calls changed for every change of a value, in the order of the changes of a key, until ctx is done or the
	// watch is lost. With Decode, it first calls changed for every existing value. data is nil for a deleted value. It
	// calls ready once: afterwards it misses no change and, with Decode, has reported every value. It calls neither
	// function after it returns.
	Watch func(ctx context.Context, ready func(), changed func(key K, revision uint64, data []byte)) error

	// Load reads a value from the store.
	Load func(ctx context.Context, key K) (V, error)

	// Decode decodes a value from the watch. A value that Decode rejects is unknown: it is read on demand, and Load
	// reports the error. Default: none; the mirror ignores data, and a change removes the value.
	Decode func(key K, revision uint64, data []byte) (V, error)

	// Revision returns the revision of a value that Load returned. Not needed with Decode, which caches only the
	// watch's values.
	Revision func(V) uint64

	// Limit limits the cached values that were read. When it is reached, a random eighth makes room. Default: no limit.
	Limit int

	// Weight returns how much of Limit a value uses. Default: 1.
	Weight func(V) int

	// Shards is the number of change counters. Default: 1.
	Shards int

	// Retain lets [Mirror.Known] answer after the watch is lost, until the next watch has reported every value.
	Retain bool
}

// Mirror caches the values of a bucket. It is safe for concurrent use. While [Mirror.Run] is not running, it reads the
// store for each request.
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

// Peek returns a cached value. It requires a live watch.
func (m *Mirror[K, V]) Peek(key K) (V, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.table.peek(key)
	return e.value, ok
}

// Known returns the last known value. A newer one may exist that the watch has not reported yet, or cannot report
// because it is lost ([Config.Retain]).
func (m *Mirror[K, V]) Known(key K) (V, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.table.known(key)
	return e.value, ok
}

// Each calls f with every known value. f must not call the mirror.
func (m *Mirror[K, V]) Each(f func(V)) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, e := range m.table.entries {
		if !e.deleted {
			f(e.value)
		}
	}
}

// Current returns the current value, from the store if necessary. atLeast is a revision that is known to exist, or 0:
// the mirror may briefly lag behind it. It returns the error of [Config.Load].
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
		flow.Pause(ctx, pause)
	}
}

// The pauses between reads while a replica of the store may lag behind, 150 ms in total. After that, the mirror accepts
// the store's answer: the store may have been restored from an older copy.
const (
	lagPause    = 10 * time.Millisecond
	lagPatience = 80 * time.Millisecond
)

// late reports whether the mirror knows of a later revision than v's.
func (m *Mirror[K, V]) late(key K, v V, atLeast uint64) bool {
	if m.cfg.Revision == nil {
		return false
	}
	at, revision := m.place(key), m.cfg.Revision(v)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return revision < atLeast || m.table.outdated(at, revision)
}

// Changes returns the number of reported changes in the shard of key.
func (m *Mirror[K, V]) Changes(key K) uint32 {
	at := m.place(key)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.table.shards[at.shard].changes
}

// Unchanged reports whether the value has not changed since Changes returned since. It is false without a watch that
// would have reported a change.
func (m *Mirror[K, V]) Unchanged(key K, since uint32) bool {
	at := m.place(key)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.table.unchanged(at, since)
}

// Latest reports whether v, which was read, is the latest reported value. [Mirror.Keep] would then keep it.
func (m *Mirror[K, V]) Latest(key K, v V, before uint32) bool {
	at := m.place(key)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.table.latestOf(at, m.cfg.Revision(v), before)
}

// Keep caches a value that was read, unless a newer one may exist. before is the result of [Mirror.Changes] before the
// read. With [Config.Decode], Keep does nothing.
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

// Forget removes a value that is no longer needed.
func (m *Mirror[K, V]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.table.remove(key)
}

// Note records the value of a key at a revision; nil data means deleted. A process notes its own writes, which the
// watch reports later.
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
		m.table.report(key, at, e)
	}
}

// Run watches the bucket until ctx is done. When the watch fails, Run calls lost and retries after a second; it does
// not call lost again for the same reason. One runner watches at a time.
func (m *Mirror[K, V]) Run(ctx context.Context, lost func(error)) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return
	}
	logged := ""
	for ctx.Err() == nil {
		var stood atomic.Bool
		m.change((*table[K, V]).begin)
		err := m.cfg.Watch(ctx, func() { stood.Store(true); m.change((*table[K, V]).ready) }, m.Note)
		m.change((*table[K, V]).lose)
		if ctx.Err() != nil {
			return
		}
		if text := fmt.Sprint(err); stood.Load() || text != logged {
			logged = text
			lost(err)
		}
		flow.Pause(ctx, time.Second)
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
