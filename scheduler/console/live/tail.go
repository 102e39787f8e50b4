package live

import (
	"slices"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// The rate limit of sent lines, so that the browser stays responsive and the page readable. Other lines are counted.
const (
	perTurn  = 25  // lines per turn, on average
	atOnce   = 200 // lines per event, after a pause
	lineRoom = atOnce
)

// tail buffers new records until they are sent. It is safe for concurrent use: the service fills it, and the request
// empties it. It is bounded: it keeps the newest records and counts the others.
type tail struct {
	mu      sync.Mutex
	records []*scheduler.Record // oldest first
	missed  int                 // number of older, dropped records
	passed  uint64              // sequence of the last record, matching or not
	credit  int                 // lines that may be sent
}

func newTail() *tail { return &tail{credit: atOnce} }

// add adds a record.
func (t *tail) add(r *scheduler.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.records) == lineRoom {
		t.records = slices.Delete(t.records, 0, 1)
		t.missed++
	}
	t.records = append(t.records, r)
	t.passed = r.Sequence
}

// pass stores the sequence of a record that does not match.
func (t *tail) pass(sequence uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed = sequence
}

// batch is the content of one event.
type batch struct {
	records []*scheduler.Record // newest first
	Missed  int                 // number of older records that are not sent
	Before  uint64              // sequence of the oldest record; the missed ones precede it
	last    uint64              // the event covers all records up to this sequence
}

func (b *batch) empty() bool { return len(b.records) == 0 && b.Missed == 0 }

// take empties the tail. It is called once per turn.
func (t *tail) take() batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.credit = min(atOnce, t.credit+perTurn)
	over := max(0, len(t.records)-t.credit)
	sent := slices.Clone(t.records[over:])
	b := batch{Missed: t.missed + over, last: t.passed}
	t.credit -= len(sent)
	t.records, t.missed = t.records[:0], 0
	slices.Reverse(sent)
	b.records = sent
	if n := len(sent); n > 0 {
		b.Before = sent[n-1].Sequence
	}
	return b
}
