package index

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
)

// sorted is a list of records in the order of their keys. It is cut into chunks, so that an insertion moves few records, and
// a walk reads memory in order: through a tree of pointers it takes five times as long.
type sorted struct {
	chunks [][]record // none is empty
	count  int
}

const (
	chunkMost = 256 // a full chunk is halved, or followed by another one if the keys arrive in order
	growth    = 32  // how many records a chunk gets room for at a time
)

// seek returns the position of a key, or the one at which to insert it.
func (s *sorted) seek(k key) (chunk, at int, found bool) {
	if n := len(s.chunks); n > 0 { // a shortcut while keys arrive in order
		if last := s.chunks[n-1]; last[len(last)-1].compare(&k) < 0 {
			return n - 1, len(last), false
		}
	}
	chunk = max(sort.Search(len(s.chunks), func(i int) bool { return s.chunks[i][0].compare(&k) > 0 })-1, 0)
	if len(s.chunks) > 0 {
		at, found = sort.Find(len(s.chunks[chunk]), func(i int) int { return k.compare(&s.chunks[chunk][i].key) })
	}
	return chunk, at, found
}

// get returns nil for an unknown key. The record is valid until the next insertion or removal.
func (s *sorted) get(k key) *record {
	chunk, at, found := s.seek(k)
	if !found {
		return nil
	}
	return &s.chunks[chunk][at]
}

// insert inserts a record with a new key.
func (s *sorted) insert(k key) *record {
	s.count++
	chunk, at, _ := s.seek(k)
	if len(s.chunks) == 0 {
		s.chunks = [][]record{nil}
	}
	if recs := s.chunks[chunk]; len(recs) == chunkMost {
		middle := chunkMost / 2
		if at == chunkMost {
			middle = chunkMost
		}
		s.chunks[chunk] = slices.Clone(recs[:middle])
		s.chunks = slices.Insert(s.chunks, chunk+1, slices.Clone(recs[middle:]))
		if at >= middle {
			chunk, at = chunk+1, at-middle
		}
	}
	recs := s.chunks[chunk]
	if len(recs) == cap(recs) {
		recs = append(make([]record, 0, len(recs)+growth), recs...)
	}
	s.chunks[chunk] = slices.Insert(recs, at, record{key: k, upper: k.name != scheduler.FoldText(k.name)})
	return &s.chunks[chunk][at]
}

// remove removes the record with a key, if it is in the list.
func (s *sorted) remove(k key) {
	chunk, at, found := s.seek(k)
	if !found {
		return
	}
	s.count--
	s.chunks[chunk] = slices.Delete(s.chunks[chunk], at, at+1)
	if chunk > 0 && len(s.chunks[chunk-1])+len(s.chunks[chunk]) <= chunkMost/2 {
		s.chunks[chunk-1] = append(s.chunks[chunk-1], s.chunks[chunk]...)
		s.chunks = slices.Delete(s.chunks, chunk, chunk+1)
	} else if len(s.chunks[chunk]) == 0 {
		s.chunks = slices.Delete(s.chunks, chunk, chunk+1)
	}
}

func (s *sorted) all() iter.Seq[*record] { return s.from(keyOf(scheduler.Key{})) }

// from returns the records from a key on.
func (s *sorted) from(k key) iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for chunk, at, _ := s.seek(k); chunk < len(s.chunks); chunk, at = chunk+1, 0 {
			for ; at < len(s.chunks[chunk]); at++ {
				if !yield(&s.chunks[chunk][at]) {
					return
				}
			}
		}
	}
}

// atOnce is how many jobs a walk visits before it releases the lock for a moment.
const atOnce = 1 << 14

// walk calls visit with the lock for the jobs after a key, in order, until visit returns false: for those whose name begins
// with a prefix, of the collections that within accepts (nil: all).
func (x *Index) walk(after scheduler.Key, within func(collection string) bool, prefix string, visit func(*record) bool) {
	for from, more := next(after), true; more; {
		x.mu.RLock()
		from, more = x.walkRange(from, within, prefix, visit)
		x.mu.RUnlock()
	}
}

// next returns the first key that can follow a job: no name has a byte 0.
func next(k scheduler.Key) key { return key{unique.Make(k.Collection), k.Job + "\x00"} }

// beyond returns the first key that can follow the jobs of a collection.
func beyond(collection unique.Handle[string]) key {
	return key{unique.Make(collection.Value() + "\x00"), ""}
}

// walkRange walks from a key on, and returns the key from which to continue; more says whether to.
func (x *Index) walkRange(k key, within func(string) bool, prefix string, visit func(*record) bool) (from key, more bool) {
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
