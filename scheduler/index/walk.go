package index

import (
	"strings"
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
)

// atOnce is how many jobs a walk visits before it releases the lock for a moment.
const atOnce = 1 << 14

// walk calls visit with the lock for the jobs after a key, in order, until visit returns false: for those whose name begins
// with a prefix, of the collections that within accepts (nil: all).
func (x *Index) walk(after scheduler.Key, within func(collection string) bool, prefix string, visit func(*record) bool) {
	for from, more := next(after), true; more; {
		x.mu.RLock()
		from, more = x.stretch(from, within, prefix, visit)
		x.mu.RUnlock()
	}
}

// next returns the first key that can follow a job: no name has a byte 0.
func next(k scheduler.Key) key { return key{unique.Make(k.Collection), k.Job + "\x00"} }

// beyond returns the first key that can follow the jobs of a collection.
func beyond(collection unique.Handle[string]) key {
	return key{unique.Make(collection.Value() + "\x00"), ""}
}

// stretch walks from a key on, and returns the key from which to continue; more says whether to.
func (x *Index) stretch(k key, within func(string) bool, prefix string, visit func(*record) bool) (from key, more bool) {
	left := atOnce
	var collection unique.Handle[string]
	for r := range x.jobs.from(k) {
		if r.collection != collection {
			collection = r.collection
			if within != nil && !within(collection.Value()) {
				return beyond(collection), true
			}
		}
		switch {
		case left == 0:
			return r.key, true
		case strings.HasPrefix(r.name, prefix):
			left--
			if !visit(r) {
				return from, false
			}
		case r.name < prefix:
			return key{collection, prefix}, true
		default:
			return beyond(collection), true
		}
	}
	return from, false
}
