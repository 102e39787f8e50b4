package cache

import (
	"hash/maphash"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// Definitions keeps the definitions that many jobs have in common, such as those of a
// herd that makes the same call. The zero value is ready for use. It implements
// [scheduler.DefinitionKeeper].
type Definitions struct {
	once sync.Once
	seed maphash.Seed

	mu   sync.Mutex
	kept map[string]*scheduler.Definition
	seen [seenProperties]uint64 // hashes of properties that were read
}

const (
	// definitionsKept is how many are kept, about 5 KB each, but for the longest. When
	// there are more, all are forgotten.
	definitionsKept = 256

	// seenProperties is how many properties are remembered to have been read once: what
	// no second job has in common with it is not kept.
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
