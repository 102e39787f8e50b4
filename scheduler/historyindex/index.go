package historyindex

import (
	"math"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/carillon-sched/carillon/scheduler"
)

// Index holds the records of a range of a history. It is safe for concurrent use.
type Index struct {
	most   int64 // memory limit in bytes
	perJob int64 // records that the store keeps per job and outcome; not positive: all
	packer *packer

	mu       sync.RWMutex
	from, to uint64   // the range is from <= sequence < to
	chunks   []*chunk // oldest first; all but the last are full
	dropped  uint64   // rows before the first chunk
	bytes    int64    // approximate memory use
	alive    uint64   // rows whose records the store should still have
	subjects subjects
	traits   traits
}

// row is what a search reads of a record without unpacking it.
type row struct {
	sequence uint64
	newer    uint64 // number of the next row of its subject; unset for the newest
	at       uint32 // seconds since 1970; see [scheduler.Record.At]
	ended    uint32 // likewise
	subject  uint32
	trait    uint32
}

// gone is the subject of a row whose record the store has removed.
const gone = math.MaxUint32

// chunkRows is the number of rows that are packed together. Larger chunks share more text; smaller ones unpack faster.
const chunkRows = 32

// chunk is a run of consecutive rows and their records.
type chunk struct {
	rows   []row
	open   [][]byte // records of a chunk that is not full
	packed []byte   // records of a full chunk
}

const rowBytes = int64(unsafe.Sizeof(row{}))

// New returns an empty index whose range begins at a sequence. It uses about most bytes of memory. perJob is the number
// of records that the store keeps per job and outcome; not positive: all.
func New(from uint64, most, perJob int64) *Index {
	return &Index{most: most, perJob: perJob, packer: newPacker(), from: from, to: from, subjects: newSubjects(), traits: newTraits()}
}

// Span returns the index's range: from <= sequence < to.
func (x *Index) Span() (from, to uint64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.from, x.to
}

// Fits reports whether to keep the index. It returns false if the store's record limit has changed, the history was
// recreated, or most rows are useless. The caller then builds a new index.
func (x *Index) Fits(span scheduler.HistorySpan) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	rows := uint64(0)
	if n := len(x.chunks); n > 0 {
		rows = uint64(n-1)*chunkRows + uint64(len(x.chunks[n-1].rows))
	}
	return span.PerJob == x.perJob && span.Last+1 >= x.to && rows-x.alive <= x.alive+wasteLeast && x.alive <= 2*span.Records+wasteLeast
}

// wasteLeast is the number of useless rows that never justify a rebuild.
const wasteLeast = 1 << 16

// Append adds the next record. It ignores records that it already has.
func (x *Index) Append(r *scheduler.Record) error {
	content, err := contentOf(r)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.Sequence < x.to {
		return nil
	}
	x.add(row{
		sequence: r.Sequence, at: seconds(r.At()), ended: seconds(r.Ended), trait: x.traits.number(r.Trait()),
		subject: x.subjects.number(subject{r.Job, r.Outcome}),
	}, content)
	x.to = r.Sequence + 1
	for x.bytes > x.most && len(x.chunks) > 1 {
		x.dropChunk()
	}
	return nil
}

// add adds a row, and forgets the records of its subject that exceed the store's limit.
func (x *Index) add(r row, content []byte) {
	if n := len(x.chunks); n == 0 || len(x.chunks[n-1].rows) == chunkRows {
		x.chunks = append(x.chunks, &chunk{rows: make([]row, 0, chunkRows)})
		x.bytes += chunkRows * rowBytes
	}
	last := x.chunks[len(x.chunks)-1]
	number := x.dropped + uint64(len(x.chunks)-1)*chunkRows + uint64(len(last.rows))
	last.rows, last.open = append(last.rows, r), append(last.open, content)
	x.bytes += int64(len(content))
	x.alive++
	s := &x.subjects.all[r.subject]
	if s.count == 0 {
		s.oldest = number
	} else {
		x.row(s.newest).newer = number
	}
	s.newest = number
	s.count++
	if x.perJob > 0 && s.count > x.perJob {
		x.forget(x.row(s.oldest))
	}
	if len(last.rows) == chunkRows {
		x.pack(last)
	}
}

func (x *Index) pack(c *chunk) {
	for _, content := range c.open {
		x.bytes -= int64(len(content))
	}
	c.packed, c.open = x.packer.pack(c.open), nil
	x.bytes += int64(len(c.packed))
}

// row returns the row with a number.
func (x *Index) row(number uint64) *row {
	at := number - x.dropped
	return &x.chunks[at/chunkRows].rows[at%chunkRows]
}

// forget forgets the oldest record of a subject.
func (x *Index) forget(r *row) {
	x.alive--
	s := &x.subjects.all[r.subject]
	s.oldest = r.newer
	s.count--
	if s.count == 0 {
		x.subjects.release(r.subject)
	}
	r.subject = gone
}

// Drop forgets the records before a sequence, which the store has dropped.
func (x *Index) Drop(first uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.chunks) > 1 && x.chunks[1].rows[0].sequence <= first {
		x.dropChunk()
	}
	if len(x.chunks) > 0 {
		for i := range x.chunks[0].rows {
			if r := &x.chunks[0].rows[i]; r.sequence < first && r.subject != gone {
				x.forget(r)
			}
		}
	}
	x.from, x.to = max(x.from, first), max(x.to, first)
}

// dropChunk drops the first chunk. Its rows are the oldest of their subjects.
func (x *Index) dropChunk() {
	c := x.chunks[0]
	for i := range c.rows {
		if r := &c.rows[i]; r.subject != gone {
			x.forget(r)
		}
	}
	x.bytes -= chunkRows*rowBytes + int64(len(c.packed))
	x.from = c.rows[len(c.rows)-1].sequence + 1
	x.dropped += chunkRows
	x.chunks[0] = nil
	x.chunks = x.chunks[1:]
	if cap(x.chunks) > 2*len(x.chunks)+chunkRows {
		x.chunks = slices.Clone(x.chunks)
	}
}

// seconds converts a time to seconds since 1970, clamped to the range of uint32.
func seconds(t time.Time) uint32 { return uint32(min(max(t.Unix(), 0), math.MaxUint32)) }

// subject identifies records that the store counts together.
type subject struct {
	job     scheduler.Key
	outcome scheduler.Outcome
}

// rowsOf is the linked list of a subject's rows.
type rowsOf struct {
	subject

	oldest, newest uint64
	count          int64
}

// subjects assigns numbers to subjects and holds their rows.
type subjects struct {
	numbers map[subject]uint32
	all     []rowsOf
	free    []uint32
}

func newSubjects() subjects { return subjects{numbers: map[subject]uint32{}} }

// number returns the number of a subject.
func (s *subjects) number(of subject) uint32 {
	n, ok := s.numbers[of]
	if ok {
		return n
	}
	if last := len(s.free) - 1; last >= 0 {
		n, s.free = s.free[last], s.free[:last]
		s.all[n] = rowsOf{subject: of}
	} else {
		n = uint32(len(s.all))
		s.all = append(s.all, rowsOf{subject: of})
	}
	s.numbers[of] = n
	return n
}

// release frees the number of a subject without rows.
func (s *subjects) release(n uint32) {
	delete(s.numbers, s.all[n].subject)
	s.all[n] = rowsOf{}
	s.free = append(s.free, n)
}

// traits assigns numbers to combinations of traits.
type traits struct {
	numbers map[scheduler.RecordTrait]uint32
	all     []scheduler.RecordTrait
}

// traitsMost limits the distinct combinations, a small multiple of the number of targets. Records beyond the limit are
// examined individually.
const traitsMost = 1 << 16

// anyTrait is the number of all combinations beyond the limit.
const anyTrait = 0

func newTraits() traits {
	return traits{numbers: map[scheduler.RecordTrait]uint32{}, all: make([]scheduler.RecordTrait, 1)}
}

func (t *traits) number(of scheduler.RecordTrait) uint32 {
	n, ok := t.numbers[of]
	if !ok && len(t.all) < traitsMost {
		n = uint32(len(t.all))
		t.all = append(t.all, of)
		t.numbers[of] = n
	}
	return n // anyTrait beyond the limit
}
