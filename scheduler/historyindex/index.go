package historyindex

import (
	"math"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/carillon-sched/carillon/scheduler"
)

// Index holds the rows of a range of a history. It is safe for concurrent use.
type Index struct {
	most int64 // memory limit in bytes

	mu       sync.RWMutex
	from, to uint64  // the range is from <= sequence < to
	chunks   [][]row // oldest first; all but the last are full
	subjects numbers[subject]
	traits   numbers[scheduler.RecordTrait]
}

// row holds the fields of a record that a search compares.
type row struct {
	sequence uint64
	at       uint32 // seconds since 1970; see [scheduler.Record.At]
	ended    uint32 // seconds since 1970
	subject  uint32
	trait    uint32
}

// subject is the subject of a record in the store.
type subject struct {
	job     scheduler.Key
	outcome scheduler.Outcome
}

// chunkRows is the number of rows that are allocated and dropped together.
const chunkRows = 256

// The approximate memory of a chunk, and of a distinct value: its key in a map, its texts, and its count.
const (
	chunkBytes = chunkRows * int64(unsafe.Sizeof(row{}))
	valueBytes = 200
)

// New returns an empty index whose range begins at a sequence. It uses about most bytes of memory.
func New(from uint64, most int64) *Index {
	return &Index{most: most, from: from, to: from, subjects: newNumbers[subject](), traits: newNumbers[scheduler.RecordTrait]()}
}

// Span returns the index's range: from <= sequence < to.
func (x *Index) Span() (from, to uint64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.from, x.to
}

// Fits reports whether to keep the index. It returns false if the history was recreated, or most rows are of removed
// records. The caller then builds a new index.
func (x *Index) Fits(span scheduler.HistorySpan) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return span.Last+1 >= x.to && uint64(len(x.chunks))*chunkRows <= 2*span.Records+wasteLeast
}

// wasteLeast is the number of useless rows that never justify a rebuild.
const wasteLeast = 1 << 16

// Append adds the row of the next record. It ignores records that it already has.
func (x *Index) Append(r *scheduler.Record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.Sequence < x.to {
		return
	}
	if n := len(x.chunks); n == 0 || len(x.chunks[n-1]) == chunkRows {
		x.chunks = append(x.chunks, make([]row, 0, chunkRows))
	}
	last := &x.chunks[len(x.chunks)-1]
	*last = append(*last, row{
		sequence: r.Sequence, at: seconds(r.At()), ended: seconds(r.Ended),
		subject: x.subjects.number(subject{r.Job, r.Outcome}), trait: x.traits.number(r.Trait()),
	})
	x.to = r.Sequence + 1
	for len(x.chunks) > 1 && x.bytes() > x.most {
		x.dropChunk()
	}
}

// bytes returns the approximate memory of the index.
func (x *Index) bytes() int64 {
	return int64(len(x.chunks))*chunkBytes + int64(len(x.subjects.of)+len(x.traits.of))*valueBytes
}

// Drop forgets the records before a sequence, which the store has dropped.
func (x *Index) Drop(first uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.chunks) > 1 && x.chunks[1][0].sequence <= first {
		x.dropChunk()
	}
	x.from, x.to = max(x.from, first), max(x.to, first)
}

// dropChunk drops the first chunk.
func (x *Index) dropChunk() {
	x.from = x.chunks[0][chunkRows-1].sequence + 1
	for _, r := range x.chunks[0] {
		x.subjects.release(r.subject)
		x.traits.release(r.trait)
	}
	x.chunks[0] = nil
	x.chunks = x.chunks[1:]
	if cap(x.chunks) > 2*len(x.chunks)+chunkRows {
		x.chunks = slices.Clone(x.chunks)
	}
}

// seconds converts a time to seconds since 1970, clamped to the range of uint32.
func seconds(t time.Time) uint32 { return uint32(min(max(t.Unix(), 0), math.MaxUint32)) }

// numbers assigns numbers to the distinct values that rows have.
type numbers[T comparable] struct {
	of   map[T]uint32
	all  []counted[T] // by number
	free []uint32     // numbers without rows
}

type counted[T comparable] struct {
	value T
	rows  uint32
}

func newNumbers[T comparable]() numbers[T] { return numbers[T]{of: map[T]uint32{}} }

// number returns the number of a value for one more row.
func (n *numbers[T]) number(value T) uint32 {
	number, ok := n.of[value]
	if !ok {
		if last := len(n.free) - 1; last >= 0 {
			number, n.free = n.free[last], n.free[:last]
		} else {
			number = uint32(len(n.all))
			n.all = append(n.all, counted[T]{})
		}
		n.all[number].value, n.of[value] = value, number
	}
	n.all[number].rows++
	return number
}

// release removes a row of a number, and frees the number without rows.
func (n *numbers[T]) release(number uint32) {
	c := &n.all[number]
	c.rows--
	if c.rows == 0 {
		delete(n.of, c.value)
		*c = counted[T]{}
		n.free = append(n.free, number)
	}
}

// matching reports for each number whether its value matches.
func (n *numbers[T]) matching(matches func(T) bool) []bool {
	all := make([]bool, len(n.all))
	for i := range all {
		all[i] = n.all[i].rows > 0 && matches(n.all[i].value)
	}
	return all
}
