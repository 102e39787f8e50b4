package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
)

// TestLedgerOfAClusterHasOneWriterAtATime: over two servers of a cluster no two jobs are made over the same entry of a ledger,
// whatever each server knows of it.
func TestLedgerOfAClusterHasOneWriterAtATime(t *testing.T) {
	servers := startCluster(t)
	var stores []*store.Store
	for _, s := range servers[:2] {
		st, _ := openReplicated(t, s)
		stores = append(stores, st)
	}
	const makers = 24
	var mu sync.Mutex
	over := map[uint64]string{} // who made a job over which entry
	var lost atomic.Int64
	var all sync.WaitGroup
	for i := range makers {
		all.Go(func() {
			st, k := stores[i%2], scheduler.Key{Collection: "c", Job: fmt.Sprintf("job%d", i)}
			for t.Context().Err() == nil {
				at, err := st.Ledger(t.Context(), "c")
				if err == nil {
					_, err = st.CreateJob(t.Context(), k, []byte("{}"), 0, at, false)
				}
				if errors.Is(err, scheduler.ErrConflict) || errors.Is(err, scheduler.ErrUnavailable) {
					if _, err := st.LoadJob(t.Context(), k); err == nil { // it was made, and the answer was lost
						lost.Add(1)
						return
					}
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if other, twice := over[at]; twice {
					t.Errorf("%s and %s were made over entry %d", other, k.Job, at)
				}
				over[at] = k.Job
				return
			}
		})
	}
	all.Wait()
	if made := len(over) + int(lost.Load()); made != makers {
		t.Errorf("%d jobs were made, want %d", made, makers)
	}
}
