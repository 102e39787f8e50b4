package cache

// table is what a mirror knows, and how it stands with the watch. Its methods
// are the rules; none of them waits.
type table[K comparable, V any] struct {
	entries map[K]entry[V]
	shards  []shard
	latest  uint64 // the highest revision that was told of
	limit   int    // weight kept of those that were read; 0: no limit
	weight  int    // of all entries
	retain  bool   // entries outlive the watch

	watch    uint64 // number of the present watch, or the last one
	watching bool   // a watch is being set up, or stands: it will tell of every change
	live     bool   // the watch stands, and has told of all that there is
}

// shard is what was told of those keys that have it in common.
type shard struct {
	changes uint32 // told of
	mark    uint32 // of the key that was told of last
	told    uint64 // its revision
	floor   uint64 // the highest revision told of the other keys
}

// place is where the changes of a key count: its shard, and by what it is told from
// others there. Two keys that have even that in common are in each other's way.
type place struct {
	shard int
	mark  uint32
}

// lagMost is how many changes a replica of the store may lag behind.
const lagMost = 4096

// entry is what is known of a key.
type entry[V any] struct {
	value    V
	revision uint64
	weight   int    // of the value; 0 is 1
	deleted  bool   // there is no value, or none that can be decoded
	watch    uint64 // that it is known from
}

// begin notes that a watch is being set up. The bucket may be another one, which
// counts its revisions from the beginning.
func (t *table[K, V]) begin() {
	t.watch++
	t.watching = true
	t.latest = 0
	for i := range t.shards {
		t.shards[i] = shard{changes: t.shards[i].changes}
	}
}

// ready notes that the watch has told of everything: what it has not named was
// deleted while there was no watch.
func (t *table[K, V]) ready() {
	t.live = true
	for key, e := range t.entries {
		if e.watch != t.watch {
			t.remove(key)
		}
	}
}

// lose notes that there is no watch: any value may change unseen until the next
// one stands.
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

// tell takes in an entry. One of an earlier watch does not stand in its way: the
// bucket may be another one. Without a watch nobody would tell when it changes.
func (t *table[K, V]) tell(key K, at place, e entry[V]) {
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
		s.floor = max(s.floor, s.told)
		s.mark, s.told = at.mark, 0
	}
	s.told = max(s.told, revision)
	t.latest = max(t.latest, revision)
}

// outdated reports whether a later revision of a key was told of.
func (t *table[K, V]) outdated(at place, revision uint64) bool {
	s := t.shards[at.shard]
	return s.mark == at.mark && revision < s.told
}

// late reports whether a value that was read may be older than what was told of its
// key before, as a replica of the store may have answered that lags behind. What
// was told of another key in between may hide that, but not for long.
func (t *table[K, V]) late(at place, revision uint64) bool {
	s := t.shards[at.shard]
	return t.outdated(at, revision) || s.mark != at.mark && revision < s.floor && t.latest-s.floor < lagMost
}

// latestOf reports whether a revision that was read is the latest one of its key: none
// may have been told of since the shard had counted so many changes, and the replica
// that answered did not lag behind.
func (t *table[K, V]) latestOf(at place, revision uint64, before uint32) bool {
	return t.unchanged(at, before) && !t.late(at, revision)
}

// keep takes in a value that was read, unless a newer one may have been told of
// since the shard had counted so many changes, or it was late.
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

// remove removes an entry, if there is one.
func (t *table[K, V]) remove(key K) {
	if old, ok := t.entries[key]; ok {
		t.weight -= old.weigh()
		delete(t.entries, key)
	}
}

func (e entry[V]) weigh() int { return max(1, e.weight) }

// dropSome makes room for one of a weight: map order is random enough for a cache
// whose misses cost one read.
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

// peek returns the entry of a key that has a value which can be relied upon.
func (t *table[K, V]) peek(key K) (entry[V], bool) {
	if !t.live {
		return entry[V]{}, false
	}
	return t.known(key)
}
