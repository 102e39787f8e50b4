package cache

import (
	"hash/maphash"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// Definitions shares equal definitions between jobs, such as those of a herd that makes the same call. It implements
// [scheduler.DefinitionKeeper]. The zero value is ready for use.
type Definitions struct {
	once sync.Once
	seed maphash.Seed

	mu   sync.Mutex
	kept map[string]*scheduler.Definition
	seen [seenProperties]uint64 // hashes of the properties that were read
}

const (
	// definitionsKept limits the cached definitions, usually about 5 KB each. When the cache is full, it drops all of
	// them.
	definitionsKept = 256

	// seenProperties limits the remembered hashes. A definition is cached when a second job has the same properties.
	seenProperties = 4096
)

// Kept implements [scheduler.DefinitionKeeper].
func (d *Definitions) Kept(properties []byte) *scheduler.Definition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[string(properties)]
}

// Keep implements [scheduler.DefinitionKeeper].
func (d *Definitions) Keep(properties []byte, def *scheduler.Definition) {
	d.once.Do(func() { d.seed = maphash.MakeSeed() })
	hash := maphash.Bytes(d.seed, properties)
	d.mu.Lock()
	defer d.mu.Unlock()
	if place := &d.seen[hash%seenProperties]; *place != hash {
		*place = hash
		return
	}
	if d.kept == nil || len(d.kept) >= definitionsKept {
		d.kept = map[string]*scheduler.Definition{}
	}
	d.kept[string(properties)] = def
}
