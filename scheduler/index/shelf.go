package index

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"time"
)

// shelf holds the jobs of a collection, in the order of their names.
type shelf struct {
	collection string
	blocks     []*block
	counts     [states]int
	pauses     map[string]int64 // until when jobs are paused, in milliseconds since 1970; some may be over
}

// seek returns the first place whose name is not before one; at may be behind the last of its block.
func (s *shelf) seek(name string) (blk, at int, found bool) {
	blk = sort.Search(len(s.blocks), func(i int) bool { return string(s.blocks[i].name(0)) > name })
	if blk == 0 {
		return 0, 0, false
	}
	at, found = s.blocks[blk-1].find(name)
	return blk - 1, at, found
}

// find returns a job's record, nil for none. It is valid until the shelf changes.
func (s *shelf) find(name string) *record {
	blk, at, found := s.seek(name)
	if !found {
		return nil
	}
	return &s.blocks[blk].recs[at]
}

// place returns where a job's record is.
func (s *shelf) place(name string) (b *block, at int, found bool) {
	blk, at, found := s.seek(name)
	if !found {
		return nil, 0, false
	}
	return s.blocks[blk], at, true
}

// insert makes a record for a job that has none.
func (s *shelf) insert(name string) *record {
	s.counts[unknown]++
	if len(s.blocks) == 0 {
		b := &block{}
		s.blocks = append(s.blocks, b)
		return b.insert(0, name)
	}
	blk, at, _ := s.seek(name)
	b := s.blocks[blk]
	if len(b.recs) == blockMost {
		middle := blockMost / 2
		if at == blockMost { // they come in their order: full blocks stay full
			middle = blockMost
		}
		rest := &block{}
		if middle < blockMost {
			rest = b.cut(middle)
		}
		s.blocks = slices.Insert(s.blocks, blk+1, rest)
		if at >= middle {
			b, at = rest, at-middle
		}
	}
	return b.insert(at, name)
}

// remove takes a job away, if it is there.
func (s *shelf) remove(name string) (r record, was bool) {
	blk, at, found := s.seek(name)
	if !found {
		return r, false
	}
	b := s.blocks[blk]
	r = b.recs[at]
	s.counts[r.state]--
	delete(s.pauses, name)
	b.remove(at)
	switch {
	case len(b.recs) == 0:
		s.blocks = slices.Delete(s.blocks, blk, blk+1)
	case len(b.recs) >= blockLeast:
	case blk > 0 && len(s.blocks[blk-1].recs)+len(b.recs) <= blockMost/2:
		s.blocks[blk-1].join(b)
		s.blocks = slices.Delete(s.blocks, blk, blk+1)
	case blk+1 < len(s.blocks) && len(s.blocks[blk+1].recs)+len(b.recs) <= blockMost/2:
		b.join(s.blocks[blk+1])
		s.blocks = slices.Delete(s.blocks, blk+1, blk+2)
	}
	return r, true
}

// pause notes until when a job is paused; the zero time: it is not.
func (s *shelf) pause(name string, until time.Time) {
	switch {
	case until.IsZero():
		delete(s.pauses, name)
		return
	case s.pauses == nil:
		s.pauses = map[string]int64{}
	}
	s.pauses[strings.Clone(name)] = until.UnixMilli()
}

// set changes the state of one of the shelf's records.
func (s *shelf) set(r *record, to state) {
	s.counts[r.state]--
	r.state = to
	s.counts[to]++
}

// records are those of all jobs, in no order. It is called with the lock.
func (x *Index) records() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for _, s := range x.shelves {
			for _, b := range s.blocks {
				for i := range b.recs {
					if !yield(&b.recs[i]) {
						return
					}
				}
			}
		}
	}
}
