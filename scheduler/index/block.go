package index

import (
	"slices"
	"sort"
)

// record is what is known of a job. It has no pointers, so that the garbage collector
// has nothing to look at, however many there are.
type record struct {
	told   uint64 // the last revision of its definition that was told of, or read
	next   int64  // when it runs next, in milliseconds since 1970; 0: never, or nobody knows
	at     uint32 // when that or its definition was last heard of, see [Index.clock]
	labels uint32 // see [labels]
	last   uint32 // when its last attempt began, in seconds since 1970; 0: never, or nobody knows
	target uint32 // what its action is sent to, see [targets]
	end    uint16 // of its name in its block's
	tag    uint16 // of its incarnation
	action uint8  // see [actions]
	state  state
	flags  flags
	ended  ended
}

// flags say what has to be read before the record can be believed.
type flags uint8

const (
	changed flags = 1 << iota // its definition was changed
	moved                     // its baton may have been, with or after the definition
	missing                   // changed, and not found: deleted, or not yet there for a replica that lags behind
	unseen                    // nobody has looked at its baton since
)

// state is that of a job as it is stored.
type state uint8

const (
	unknown state = iota
	enabled
	disabled
	completed
	faulted
	damaged
	states // how many there are
)

const (
	blockMost  = 256 // jobs in a block; a full one is halved, or followed by another where names come in order
	blockLeast = 32  // one with fewer joins a neighbor that has room
	growth     = 32  // jobs for which room is made at once

	// nameMost is the longest name that is taken in: names of jobs are not longer than 100 bytes, and so many of
	// these fit.
	nameMost = 65535 / blockMost
)

// block holds jobs whose names follow each other, in their order.
type block struct {
	names []byte // one behind the other
	recs  []record
}

// begin is where a name begins.
func (b *block) begin(i int) int {
	if i == 0 {
		return 0
	}
	return int(b.recs[i-1].end)
}

// name returns a name, which is valid until the block changes.
func (b *block) name(i int) []byte { return b.names[b.begin(i):b.recs[i].end] }

// find returns the first place whose name is not before one, and whether it is that one.
func (b *block) find(name string) (at int, found bool) {
	at = sort.Search(len(b.recs), func(i int) bool { return string(b.name(i)) >= name })
	return at, at < len(b.recs) && string(b.name(at)) == name
}

// insert makes place for a name, and returns its record.
func (b *block) insert(at int, name string) *record {
	begin := b.begin(at)
	if len(b.recs) == cap(b.recs) {
		b.recs = append(make([]record, 0, len(b.recs)+growth), b.recs...)
	}
	if len(b.names)+len(name) > cap(b.names) {
		b.names = append(make([]byte, 0, len(b.names)+growth*len(name)), b.names...)
	}
	b.names = slices.Insert(b.names, begin, []byte(name)...)
	b.recs = slices.Insert(b.recs, at, record{end: uint16(begin)})
	b.shift(at, len(name))
	return &b.recs[at]
}

// remove takes a name away.
func (b *block) remove(at int) {
	begin, end := b.begin(at), int(b.recs[at].end)
	b.names = slices.Delete(b.names, begin, end)
	b.recs = slices.Delete(b.recs, at, at+1)
	b.shift(at, begin-end)
}

// shift moves the ends of the names from a place on.
func (b *block) shift(from, by int) {
	for i := from; i < len(b.recs); i++ {
		b.recs[i].end = uint16(int(b.recs[i].end) + by)
	}
}

// cut returns the part of a block from a place on, which the block has no more. Both take no more room than they need.
func (b *block) cut(at int) *block {
	begin := b.begin(at)
	rest := &block{names: slices.Clone(b.names[begin:]), recs: slices.Clone(b.recs[at:])}
	rest.shift(0, -begin)
	b.names, b.recs = slices.Clone(b.names[:begin]), slices.Clone(b.recs[:at])
	return rest
}

// join puts a block behind another one.
func (b *block) join(next *block) {
	at, begin := len(b.recs), len(b.names)
	b.names, b.recs = append(b.names, next.names...), append(b.recs, next.recs...)
	b.shift(at, begin)
}
