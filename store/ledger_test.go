package store_test

import (
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestJobIsCreatedWithItsLedger: a job is made only where neither it nor the ledger of its collection is stale; then both are
// written, or neither.
func TestJobIsCreatedWithItsLedger(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		other := scheduler.Key{Collection: job.Collection, Job: "other"}
		third := scheduler.Key{Collection: job.Collection, Job: "third"}
		create := func(k scheduler.Key, replaces, ledger uint64) (uint64, error) {
			return w.store.CreateJob(ctx, k, []byte("new"), replaces, ledger, false)
		}
		standsAt := func(want uint64) {
			t.Helper()
			if at, err := w.store.Ledger(ctx, job.Collection); err != nil || at != want {
				t.Errorf("the ledger stands at %d (%v), want %d", at, err, want)
			}
		}
		standsAt(0)
		first, err := create(job, 0, 0)
		w.must(err)
		standsAt(first - 1)
		for name, stale := range map[string]func() (uint64, error){
			"the ledger": func() (uint64, error) { return create(other, 0, 0) },
			"the job":    func() (uint64, error) { return create(job, 0, first-1) },
		} {
			if _, err := stale(); !errors.Is(err, scheduler.ErrConflict) {
				t.Errorf("%s is stale: %v", name, err)
			}
		}
		standsAt(first - 1)
		if _, err := w.store.LoadJob(ctx, other); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("a job was made over a stale ledger: %v", err)
		}
		second, err := create(other, 0, first-1)
		w.must(err)
		standsAt(second - 1)
		n := 0
		w.must(w.store.EachJob(ctx, "", func(scheduler.Key) error { n++; return nil }))
		if n != 2 {
			t.Errorf("%d jobs are listed, want 2", n)
		}
		w.must(w.store.DropLedger(ctx, job.Collection))
		if at, err := w.store.Ledger(ctx, job.Collection); err != nil || at <= second {
			t.Errorf("a dropped ledger stands at %d (%v), which a count of before could match", at, err)
		}
		if _, err := create(third, 0, second-1); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("over a dropped ledger: %v", err)
		}
	})
}
