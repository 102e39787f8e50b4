package store_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestRecordsSince reads records since a time, in several batches, until the callback stops.
func TestRecordsSince(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const each = 70
		var begin time.Time
		for half := range 2 {
			time.Sleep(time.Hour)
			begin = time.Now().Add(-time.Minute)
			for i := range each {
				w.record(job, scheduler.Outcomes[i%len(scheduler.Outcomes)], strconv.Itoa(half*each+i))
				w.record(alike[0], scheduler.OutcomeCompleted, "alike")
			}
		}
		since := func(at time.Time, most int) (all []string) {
			w.must(w.store.RecordsSince(t.Context(), job, at, func(r *scheduler.Record) bool {
				all = append(all, r.Message)
				return len(all) < most
			}))
			return all
		}
		var want []string
		for i := range 2 * each {
			want = append(want, strconv.Itoa(i))
		}
		for _, test := range []struct {
			name string
			at   time.Time
			most int
			want []string
		}{
			{"all", time.Time{}, 999, want},
			{"the second half", begin, 999, want[each:]},
			{"the second half, three of them", begin, 3, want[each : each+3]},
			{"as many as a batch has", begin, 64, want[each : each+64]},
			{"none", time.Now().Add(time.Second), 999, nil},
		} {
			if got := since(test.at, test.most); !slices.Equal(got, test.want) {
				t.Errorf("%s: %q, want %q", test.name, got, test.want)
			}
		}
	})
}

// TestKept: the history is complete within its retention, or since the oldest record of an outcome that has reached its
// limit.
func TestKept(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		few := must.Get(open(t, storetest.Connect(t, w.server), store.Config{Prefix: "few", HistoryPerJob: 3, HistoryAge: time.Hour}))(t)
		w.store = few
		kept := func(k scheduler.Key) time.Duration {
			since := must.Get(few.Kept(t.Context(), k))(t)
			return time.Since(since).Round(time.Second)
		}
		for range 5 {
			w.record(job, scheduler.OutcomeCompleted, "")
			time.Sleep(time.Minute)
		}
		w.record(alike[0], scheduler.OutcomeFailed, "")
		if got, other := kept(job), kept(alike[0]); got != 3*time.Minute || other != time.Hour {
			t.Errorf("kept for %s, and %s", got, other)
		}
	})
}

// TestLoadJobAsOf loads the definition of a job at a time.
func TestLoadJobAsOf(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		before := time.Now()
		var revision uint64
		var at []time.Time
		for _, text := range []string{"first", "second", "third"} {
			time.Sleep(time.Minute)
			revision = must.Get(w.store.SaveJob(t.Context(), job, []byte(text), revision, false))(t)
			at = append(at, time.Now().Add(time.Second))
		}
		for i, want := range []string{"first", "second", "third"} {
			if st, err := w.store.LoadJobAsOf(t.Context(), job, at[i]); err != nil || !strings.HasPrefix(string(st.Data), want) {
				t.Errorf("%s: %s, %v", want, st.Data, err)
			}
		}
		if st, err := w.store.LoadJobAsOf(t.Context(), job, before); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("before it was saved: %s, %v", st.Data, err)
		}
	})
}
