package live

import (
	"slices"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// The bounds of what is sent: a browser that is to stay quick, and people who are to read it, take no more. What is not sent
// is counted.
const (
	perTurn  = 25  // lines for each turn, on average
	atOnce   = 200 // lines that are sent together after a pause
	lineRoom = atOnce
)

// tail takes the records that come, until they are sent. It is safe for concurrent use: the service fills it, and the
// request empties it. What it has is bounded: the newest are kept, and the others counted.
type tail struct {
	mu      sync.Mutex
	records []*scheduler.Record // oldest first
	missed  int                 // older than these
	passed  uint64              // the last one that came, wanted or not
	credit  int                 // lines that may be sent
}

func newTail() *tail { return &tail{credit: atOnce} }

// add takes a record.
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

// pass notes the place of one that is not wanted.
func (t *tail) pass(sequence uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed = sequence
}

// batch is what is sent together.
type batch struct {
	records []*scheduler.Record // newest first
	Missed  int                 // older than these, and not sent
	Before  uint64              // the oldest of the records: what was missed is before it
	last    uint64              // the place up to which everything is told
}

func (b *batch) empty() bool { return len(b.records) == 0 && b.Missed == 0 }

// take empties the tail. It is called once in a turn.
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
