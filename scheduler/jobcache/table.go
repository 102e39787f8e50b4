package jobcache

// table holds the values of a mirror and the state of its watch. Its methods implement the mirror's rules and never block.
type table[K comparable, V any] struct {
	entries map[K]entry[V]
	shards  []shard
	latest  uint64 // the highest reported revision
	limit   int    // weight limit of the values that were read; 0: none
	weight  int    // of all entries
	retain  bool   // entries outlive the watch

	watch    uint64 // number of the current or last watch
	watching bool   // a watch is live or being set up: it will report every change
	live     bool   // the watch has reported every existing value
}

// shard counts the reported changes of the keys that share it.
type shard struct {
	changes  uint32 // number of reported changes
	mark     uint32 // of the key that was reported last
	revision uint64 // its revision
	floor    uint64 // the highest reported revision of the other keys
}

// place locates a key's change counter: its shard, and a mark that distinguishes it within the shard. A change of one
// key invalidates reads of another with the same place.
type place struct {
	shard int
	mark  uint32
}

// lagMost limits how many changes a replica of the store may lag behind.
const lagMost = 4096

// entry is the knowledge about a key.
type entry[V any] struct {
	value    V
	revision uint64
	weight   int    // of the value; 0 is 1
	deleted  bool   // no value, or a value that cannot be decoded
	watch    uint64 // the watch that reported it
}

// begin records that a watch is being set up. The bucket may have been recreated with revisions that start over.
func (t *table[K, V]) begin() {
	t.watch++
	t.watching = true
	t.latest = 0
	for i := range t.shards {
		t.shards[i] = shard{changes: t.shards[i].changes}
	}
}

// ready records that the watch has reported everything. Values that it did not report were deleted before it started.
func (t *table[K, V]) ready() {
	t.live = true
	for key, e := range t.entries {
		if e.watch != t.watch {
			t.remove(key)
		}
	}
}

// lose records that the watch is lost: any value may change unnoticed until the next watch is live.
func (t *table[K, V]) lose() {
	t.watching, t.live = false, false
	if !t.retain {
		clear(t.entries)
		t.weight = 0
	}
	for i := range t.shards {
		t.shards[i].changes++
	}
}

// report records a reported entry. It replaces an entry of an earlier watch in any case: the bucket may have been
// recreated. Without a watch, it records nothing, because later changes would go unreported.
func (t *table[K, V]) report(key K, at place, e entry[V]) {
	t.count(at, e.revision)
	old := t.entries[key]
	if t.watching && (old.watch != t.watch || old.revision <= e.revision) {
		e.watch = t.watch
		t.put(key, e)
	}
}

// evict removes an entry that is older than a revision.
func (t *table[K, V]) evict(key K, at place, revision uint64) {
	t.count(at, revision)
	if old, ok := t.entries[key]; ok && old.revision < revision {
		t.remove(key)
	}
}

// count counts a change.
func (t *table[K, V]) count(at place, revision uint64) {
	s := &t.shards[at.shard]
	s.changes++
	if s.mark != at.mark {
		s.floor = max(s.floor, s.revision)
		s.mark, s.revision = at.mark, 0
	}
	s.revision = max(s.revision, revision)
	t.latest = max(t.latest, revision)
}

// outdated reports whether a later revision of a key was reported.
func (t *table[K, V]) outdated(at place, revision uint64) bool {
	s := t.shards[at.shard]
	return s.mark == at.mark && revision < s.revision
}

// late reports whether a value that was read may be older than the last reported revision of its key, because a lagging
// replica answered. A report for another key in the shard can hide this, but not for long.
func (t *table[K, V]) late(at place, revision uint64) bool {
	s := t.shards[at.shard]
	return t.outdated(at, revision) || s.mark != at.mark && revision < s.floor && t.latest-s.floor < lagMost
}

// latestOf reports whether a revision that was read is the latest of its key: its shard has counted no change since,
// and the replica that answered did not lag behind.
func (t *table[K, V]) latestOf(at place, revision uint64, before uint32) bool {
	return t.unchanged(at, before) && !t.late(at, revision)
}

// keep caches a value that was read, unless its shard has counted a change since the read began, or the value is late.
func (t *table[K, V]) keep(key K, at place, e entry[V], before uint32) {
	if !t.latestOf(at, e.revision, before) {
		return
	}
	t.remove(key)
	if t.limit > 0 && t.weight+e.weigh() > t.limit {
		t.dropSome(e.weigh())
	}
	e.watch = t.watch
	t.put(key, e)
}

// put sets an entry.
func (t *table[K, V]) put(key K, e entry[V]) {
	t.remove(key)
	t.weight += e.weigh()
	t.entries[key] = e
}

// remove removes an entry if it exists.
func (t *table[K, V]) remove(key K) {
	if old, ok := t.entries[key]; ok {
		t.weight -= old.weigh()
		delete(t.entries, key)
	}
}

func (e entry[V]) weigh() int { return max(1, e.weight) }

// dropSome makes room for an entry of a weight. Map order is random enough for a cache whose misses cost one read.
func (t *table[K, V]) dropSome(weight int) {
	enough := t.limit - max(weight, t.limit/8)
	for key := range t.entries {
		if t.weight <= enough {
			return
		}
		t.remove(key)
	}
}

func (t *table[K, V]) unchanged(at place, since uint32) bool {
	return t.live && t.shards[at.shard].changes == since
}

// known returns the entry of a key that has a value.
func (t *table[K, V]) known(key K) (entry[V], bool) {
	e, ok := t.entries[key]
	return e, ok && !e.deleted
}

// peek returns the entry of a key with a reliable value.
func (t *table[K, V]) peek(key K) (entry[V], bool) {
	if !t.live {
		return entry[V]{}, false
	}
	return t.known(key)
}
