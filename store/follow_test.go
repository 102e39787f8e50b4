package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestFollowSurvivesItsConnection: the server repeatedly closes a follower's connection while records are stored. The
// follower misses and repeats none.
func TestFollowSurvivesItsConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		_, writer := w.open()
		f := w.follow(job, 0)
		time.Sleep(time.Second) // its consumer exists
		stored := 0
		for range 5 {
			var want []string
			for i := range 6 {
				if i == 3 {
					id := must.Get(w.nc.GetClientID())(t)
					w.must(w.server.DisconnectClientByID(id))
				}
				stored++
				w.must(writer.Append(t.Context(), &scheduler.Record{
					Job: job, Outcome: scheduler.OutcomeCompleted, Message: strconv.Itoa(stored), Ended: time.Now(),
				}))
				want = append(want, strconv.Itoa(stored)+" c/job "+strconv.Itoa(stored))
			}
			time.Sleep(time.Minute) // it reconnects and notices that its consumer has advanced
			f.mustSee(want...)
		}
		if n := w.nc.Stats().Reconnects; n != 5 {
			t.Errorf("the connection was made again %d times", n)
		}
	})
}

// TestRecordsFrom reads a history in order, across removed records.
func TestRecordsFrom(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.store = must.Get(open(t, storetest.Connect(t, w.server), store.Config{HistoryPerJob: 1000, HistoryAge: 2 * time.Hour}))(t)
		for i := range 2500 { // more than one request returns
			w.record(alike[i%2], scheduler.OutcomeCompleted, strconv.Itoa(i))
		}
		w.record(job, scheduler.OutcomeFailed, "last")
		w.must(w.store.Forget(t.Context(), alike[1], 1e5))
		for _, from := range []uint64{0, 1, 2, 1500, 2500, 2501, 2502} {
			next := max(501, from|1) // a job retains 1,000; older ones are gone
			w.must(w.store.RecordsFrom(t.Context(), scheduler.Key{}, from, func(r *scheduler.Record) bool {
				if r.Sequence != next {
					t.Errorf("from %d: got %d, want %d", from, r.Sequence, next)
				}
				next = r.Sequence + 2
				return true
			}))
			if next != 2503 {
				t.Errorf("from %d: ended before %d", from, next)
			}
		}
		n := 0
		w.must(w.store.RecordsFrom(t.Context(), scheduler.Key{}, 1, func(*scheduler.Record) bool { n++; return n < 3 }))
		records, err := w.store.RecordsAt(t.Context(), []uint64{2501, 500, 501}) // 500 was removed
		if err != nil || len(records) != 2 || records[0].Sequence != 2501 || records[1].Sequence != 501 {
			t.Errorf("got %v, %v", records, err)
		}
		span, err := w.store.HistorySpan(t.Context())
		if n != 3 || err != nil || span.First != 501 || span.Last != 2501 || span.Records != 1001 {
			t.Errorf("got %d, and there is %+v, %v", n, span, err)
		}
	})
}
