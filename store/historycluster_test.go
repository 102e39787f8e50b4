package store_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestHistoryInCluster retains records for less than the duplicate window, and distinguishes an equal record of another
// job from a repeated one.
func TestHistoryInCluster(t *testing.T) {
	t.Parallel()
	storetest.DropTimers() // timers left by bubbles
	st, nc := openReplicated(t, startCluster(t)[0])
	at := time.Now().UTC()
	jobs := []scheduler.Key{{Collection: "c", Job: "a"}, {Collection: "c", Job: "b"}}
	for range 2 {
		for _, k := range jobs {
			r := scheduler.Record{
				Job: k, Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonDST, Nominal: at, From: at, To: at, Count: 1,
			}
			must.Do(t, st.Append(t.Context(), &r))
		}
	}
	for _, k := range jobs {
		for _, outcomes := range [][]scheduler.Outcome{nil, {scheduler.OutcomeFailed, scheduler.OutcomeSkipped}} { // none failed
			n := 0
			err := st.Newest(t.Context(), k, outcomes, func(*scheduler.Record) bool { n++; return true })
			if n != 1 || err != nil {
				t.Errorf("%s has %d records of %q, %v; want one", k, n, outcomes, err)
			}
		}
	}
	for _, prefix := range []string{"", "brief"} { // an existing and a new history
		openPatiently(t, nc, store.Config{Prefix: prefix, Replicas: 3, HistoryAge: time.Minute})
	}
}
