package service

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestReadingKeepsSome reads far more than is kept: who is too far behind is told so, and nobody gets a record twice, or misses one.
func TestReadingKeepsSome(t *testing.T) {
	r := &reading{floor: 10, came: make(chan struct{})}
	if _, _, kept := r.since(9); kept {
		t.Error("there is something that was not read")
	}
	slow, _, _ := r.since(10)
	at := uint64(10)
	for sequence := uint64(12); sequence <= 10*streamKept; sequence += 2 { // others are not kept any more
		_, came, _ := r.since(sequence)
		r.add(&scheduler.Record{Sequence: sequence})
		select {
		case <-came:
		default:
			t.Fatal("nobody is told")
		}
		if sequence%100 == 0 {
			records, _, kept := r.since(at)
			for _, rec := range records {
				if rec.Sequence != at+2 {
					t.Fatalf("%d after %d", rec.Sequence, at)
				}
				at = rec.Sequence
			}
			if !kept || at != sequence {
				t.Fatalf("at %d, and not at %d; kept: %t", at, sequence, kept)
			}
		}
		if len(r.kept) > streamKept {
			t.Fatalf("%d records are kept", len(r.kept))
		}
	}
	if _, _, kept := r.since(10); kept || len(slow) != 0 {
		t.Error("who is behind is not told")
	}
	if records, _, kept := r.since(r.floor); !kept || len(records) < streamKept/2 || records[0].Sequence != r.floor+2 {
		t.Errorf("%d records after %d", len(records), r.floor)
	}
}
