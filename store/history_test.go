package store_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/storetest"
)

// record appends a record with the message text.
func (w *harness) record(k scheduler.Key, outcome scheduler.Outcome, text string) {
	w.t.Helper()
	w.must(w.store.Append(w.t.Context(), &scheduler.Record{Job: k, Outcome: outcome, Message: text, Ended: time.Now()}))
}

// recent returns the messages of up to n records.
func (w *harness) recent(k scheduler.Key, before uint64, n int, outcomes ...scheduler.Outcome) (all []string) {
	w.t.Helper()
	w.must(w.store.Recent(w.t.Context(), k, before, outcomes, func(r *scheduler.Record) bool {
		if r.Job != k || r.Sequence == 0 || r.Stored.IsZero() {
			w.t.Errorf("record %+v of %s", r, k)
		}
		all = append(all, r.Message)
		return len(all) < n
	}))
	return all
}

// TestRecent reads records newest first, by outcome and from a sequence.
func TestRecent(t *testing.T) {
	const (
		completed, failed = scheduler.OutcomeCompleted, scheduler.OutcomeFailed
		faulted, skipped  = scheduler.OutcomeFaulted, scheduler.OutcomeSkipped
	)
	type outcomes = []scheduler.Outcome
	inBubble(t, func(t *testing.T, w *harness) {
		w.record(alike[0], completed, "alike") // 1
		for i, o := range []scheduler.Outcome{completed, failed, failed, faulted, skipped, completed} {
			w.record(job, o, strconv.Itoa(i+2)) // 2 to 7
		}
		w.record(alike[1], completed, "alike") // 8
		w.record(job, scheduler.OutcomePostponed, "9")
		tests := []struct {
			name     string
			job      scheduler.Key
			before   uint64
			outcomes outcomes
			most     int
			want     []string
		}{
			{"all", job, 0, nil, 99, []string{"9", "7", "6", "5", "4", "3", "2"}},
			{"the last", job, 0, nil, 1, []string{"9"}},
			{"the last three", job, 0, nil, 3, []string{"9", "7", "6"}},
			{"failed", job, 0, outcomes{failed}, 99, []string{"4", "3"}},
			{"completed and skipped", job, 0, outcomes{completed, skipped}, 99, []string{"7", "6", "2"}},
			{"of an outcome there is none of", alike[0], 0, outcomes{faulted}, 99, nil},
			{"before the last", job, 9, nil, 99, []string{"7", "6", "5", "4", "3", "2"}},
			{"before one of another job", job, 8, nil, 2, []string{"7", "6"}},
			{"before one in the middle", job, 5, nil, 99, []string{"4", "3", "2"}},
			{"failed before the second of them", job, 4, outcomes{failed}, 99, []string{"3"}},
			{"before the first", job, 2, nil, 99, nil},
			{"before all that there is", job, 1, nil, 99, nil},
			{"before what is to come", job, 1000, nil, 2, []string{"9", "7"}},
			{"of a job that has none", scheduler.Key{Collection: "c", Job: "none"}, 0, nil, 99, nil},
		}
		for _, test := range tests {
			if got := w.recent(test.job, test.before, test.most, test.outcomes...); !slices.Equal(got, test.want) {
				t.Errorf("%s: found %q, want %q", test.name, got, test.want)
			}
		}
	})
}

// TestHistoryIsBounded checks the limits on age and number of records. The number is per outcome, so a frequent outcome
// does not displace others.
func TestHistoryIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.store = must.Get(open(t, storetest.Connect(t, w.server), store.Config{Prefix: "few", HistoryPerJob: 3, HistoryAge: time.Hour}))(t)
		w.record(job, scheduler.OutcomeFaulted, "faulted")
		for i := range 10 {
			w.record(job, scheduler.OutcomeCompleted, strconv.Itoa(i))
		}
		if got, want := w.recent(job, 0, 99), []string{"9", "8", "7", "faulted"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		if age := w.store.HistoryAge(); age != time.Hour {
			t.Errorf("records are kept for %s", age)
		}
		time.Sleep(61 * time.Minute)
		if got := w.recent(job, 0, 99); len(got) != 0 {
			t.Errorf("found %q after an hour", got)
		}
	})
}

// TestHistoryPerJobIsBroughtUp changes the record limit of an existing store.
func TestHistoryPerJobIsBroughtUp(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.store.Forget(t.Context(), job, 1e5))
		for _, test := range []struct{ most, want int }{{3, 3}, {conn.Unlimited, 1203}, {5, 5}} {
			w.store = must.Get(open(t, storetest.Connect(t, w.server), store.Config{HistoryPerJob: int64(test.most), HistoryAge: time.Hour}))(t)
			for range 1200 {
				w.record(job, scheduler.OutcomeSkipped, "")
			}
			if got := len(w.recent(job, 0, 9999)); got != test.want {
				t.Errorf("of at most %d, %d are kept, want %d", test.most, got, test.want)
			}
		}
	})
}

// TestForget removes the records of one job.
func TestForget(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.store.Forget(t.Context(), job, 1e5)) // it has none
		for _, k := range append(alike, job) {
			w.record(k, scheduler.OutcomeCompleted, "1")
			w.record(k, scheduler.OutcomeSkipped, "2")
		}
		w.must(w.store.Forget(t.Context(), job, 1e5))
		if got := w.recent(job, 0, 99); len(got) != 0 {
			t.Errorf("found %q", got)
		}
		for _, k := range alike {
			if got := w.recent(k, 0, 99); len(got) != 2 {
				t.Errorf("found %q of %s", got, k)
			}
		}
	})
}

// TestUnreadableRecord: a damaged record is reported as such and hides no other.
func TestUnreadableRecord(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		f := w.follow(job, 0)
		must.Get(w.js.Publish(t.Context(), "carillon.history.c.job.completed", []byte("?")))(t)
		w.record(job, scheduler.OutcomeFailed, "fine")
		const unreadable = "this record cannot be read: invalid character '?' looking for beginning of value"
		f.mustSee("1 c/job "+unreadable, "2 c/job fine")
		if got := w.recent(job, 0, 99); !slices.Equal(got, []string{"fine", unreadable}) {
			t.Errorf("found %q", got)
		}
		if got := w.recent(job, 0, 99, scheduler.OutcomeFailed); !slices.Equal(got, []string{"fine"}) {
			t.Errorf("found %q", got)
		}
	})
}

// follower collects the records that Follow delivers.
type follower struct {
	t     *testing.T
	seen  chan string
	stop  context.CancelFunc
	ended chan error
}

// follow follows the records after a sequence.
func (w *harness) follow(k scheduler.Key, after uint64) *follower {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	f := &follower{w.t, make(chan string, 100), cancel, make(chan error, 1)}
	go func() {
		f.ended <- w.store.Follow(ctx, k, after, func(r *scheduler.Record) {
			f.seen <- fmt.Sprintf("%d %s %s", r.Sequence, r.Job, r.Message)
		})
	}()
	return f
}

func (f *follower) mustSee(want ...string) {
	f.t.Helper()
	time.Sleep(time.Second)
	var got []string
	for len(f.seen) > 0 {
		got = append(got, <-f.seen)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("told %q, want %q", got, want)
	}
}

// TestLastRecords finds the last record of each outcome of many jobs, in as many requests as necessary.
func TestLastRecords(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		outcomes := []scheduler.Outcome{scheduler.OutcomeCompleted, scheduler.OutcomeFailed, scheduler.OutcomeFaulted}
		var keys []scheduler.Key
		want := map[string]bool{}
		for i := range 400 { // 1,200 subjects
			k := scheduler.Key{Collection: "c", Job: fmt.Sprint("j", i)}
			keys = append(keys, k)
			if i%3 == 0 {
				continue // without a history
			}
			w.record(k, scheduler.OutcomeCompleted, "old")
			w.record(k, scheduler.OutcomeSkipped, "not asked for")
			w.record(k, scheduler.OutcomeCompleted, k.Job+" completed")
			want[k.Job+" completed"] = true
			if i%2 == 0 {
				w.record(k, scheduler.OutcomeFaulted, k.Job+" faulted")
				want[k.Job+" faulted"] = true
			}
		}
		got := 0
		w.must(w.store.LastRecords(t.Context(), keys, outcomes, func(r *scheduler.Record) {
			got++
			if !want[r.Message] || r.Sequence == 0 || r.Job.Job+" "+string(r.Outcome) != r.Message {
				t.Errorf("found %q of %s, %s", r.Message, r.Job, r.Outcome)
			}
		}))
		if got != len(want) {
			t.Errorf("found %d, want %d", got, len(want))
		}
		w.must(w.store.LastRecords(t.Context(), nil, outcomes, func(*scheduler.Record) { t.Error("found one of no job") }))
	})
}

// TestFollow: Follow delivers the records of a job, a collection or all jobs after a sequence, until its context ends.
func TestFollow(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.record(job, scheduler.OutcomeCompleted, "before")
		span, err := w.store.HistorySpan(t.Context())
		if want := (scheduler.HistorySpan{First: 1, Last: 1, Records: 1}); err != nil || span != want {
			t.Errorf("there is %+v, %v", span, err)
		}
		last := span.Last
		ofJob, ofCollection, ofAll := w.follow(job, last), w.follow(scheduler.Key{Collection: "c"}, last), w.follow(scheduler.Key{}, last)
		for i, k := range []scheduler.Key{job, alike[0], alike[2]} {
			w.record(k, scheduler.Outcomes[i], strconv.Itoa(i))
		}
		ofJob.mustSee("2 c/job 0")
		ofCollection.mustSee("2 c/job 0", "3 c/job2 1")
		ofAll.mustSee("2 c/job 0", "3 c/job2 1", "4 c2/job 2")
		ofAll.stop()
		if err := <-ofAll.ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		w.record(job, scheduler.OutcomeCompleted, "after")
		ofAll.mustSee()
		ofJob.mustSee("5 c/job after")
		w.follow(job, 0).mustSee("1 c/job before", "2 c/job 0", "5 c/job after") // resumed
		w.follow(job, 2).mustSee("5 c/job after")
	})
}

// TestRecentOfMany reads the records of many jobs backwards, with dense and rare matches.
func TestRecentOfMany(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		type stored struct {
			k       scheduler.Key
			outcome scheduler.Outcome
			text    string
		}
		var all []stored
		for i := range 1500 {
			r := stored{job, scheduler.OutcomeCompleted, strconv.Itoa(i + 1)}
			switch {
			case i == 3 || i == 1200:
				r.outcome = scheduler.OutcomeFaulted // rare
			case i%7 == 0:
				r.k = alike[2]
			case i%100 == 1:
				r.k, r.outcome = alike[0], scheduler.OutcomeFailed
			case i > 700 && i < 1100:
				r.k = alike[1] // removed later
			}
			w.record(r.k, r.outcome, r.text)
			all = append(all, r)
		}
		w.must(w.store.Forget(t.Context(), alike[1], 1e5))
		for _, test := range []struct {
			of       scheduler.Key
			before   uint64
			most     int
			outcomes []scheduler.Outcome
		}{
			{most: 2000},
			{most: 5},
			{most: 300, before: 900},
			{of: scheduler.Key{Collection: "c2"}, most: 2000},
			{of: scheduler.Key{Collection: "none"}, most: 1},
			{outcomes: []scheduler.Outcome{scheduler.OutcomeFaulted}, most: 2000},
			{outcomes: []scheduler.Outcome{scheduler.OutcomeFaulted, scheduler.OutcomeFailed}, most: 2000},
			{outcomes: []scheduler.Outcome{scheduler.OutcomeSkipped}, most: 1},
			{of: scheduler.Key{Collection: "c"}, outcomes: scheduler.Outcomes, most: 2000, before: 1201},
			{most: 1, before: 1},
			{most: 9, before: 5000},
		} {
			var want, got []string
			for i, r := range slices.Backward(all) {
				if r.k != alike[1] && (test.of.Collection == "" || r.k.Collection == test.of.Collection) &&
					(test.before == 0 || uint64(i+1) < test.before) && len(want) < test.most &&
					(test.outcomes == nil || slices.Contains(test.outcomes, r.outcome)) {
					want = append(want, r.text)
				}
			}
			w.must(w.store.Recent(t.Context(), test.of, test.before, test.outcomes, func(r *scheduler.Record) bool {
				got = append(got, r.Message)
				return len(got) < test.most
			}))
			if !slices.Equal(got, want) {
				t.Errorf("%+v: found %d, want %d: %.200q, want %.200q", test, len(got), len(want), got, want)
			}
		}
	})
}

// TestRecentFindsManyBehindFew: after a range with few matches, a range has more matches than a request returns.
func TestRecentFindsManyBehindFew(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const dense, others = 1300, 1400
		for i := range dense {
			w.record(scheduler.Key{Collection: "dense", Job: "j" + strconv.Itoa(i%2)}, scheduler.OutcomeCompleted, "")
		}
		for i := range others {
			w.record(alike[i%2], scheduler.OutcomeCompleted, "")
		}
		next := uint64(dense)
		w.must(w.store.Recent(t.Context(), scheduler.Key{Collection: "dense"}, 0, nil, func(r *scheduler.Record) bool {
			if r.Sequence != next {
				t.Errorf("found %d, want %d", r.Sequence, next)
			}
			next--
			return !t.Failed()
		}))
		if next != 0 {
			t.Errorf("%d were not found", next)
		}
	})
}

// TestHistoryIsReadInBatches counts the requests for the records of a job among other jobs' records.
func TestHistoryIsReadInBatches(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for i := range 300 {
			w.record(job, scheduler.OutcomeCompleted, strconv.Itoa(i))
			for range 5 {
				w.record(alike[0], scheduler.OutcomeFailed, "other")
			}
		}
		for _, outcomes := range [][]scheduler.Outcome{nil, {scheduler.OutcomeCompleted, scheduler.OutcomeSkipped}} {
			n, before := 0, w.nc.Stats().OutMsgs
			w.must(w.store.Recent(t.Context(), job, 0, outcomes, func(r *scheduler.Record) bool {
				if want := strconv.Itoa(299 - n); r.Job != job || r.Message != want {
					t.Errorf("record %q of %s, want %s", r.Message, r.Job, want)
				}
				n++
				return n < 100
			}))
			if requests := w.nc.Stats().OutMsgs - before; n != 100 || requests > 20 {
				t.Errorf("%d requests for %d records", requests, n)
			}
		}
	})
}

// TestHistoryScanReadsOnce reads a range with few records of a job after one with more than a batch: records read ahead
// are not read again.
func TestHistoryScanReadsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for range 1000 {
			w.record(job, scheduler.OutcomeCompleted, "")
			w.record(job, scheduler.OutcomeFailed, "")
			w.record(job, scheduler.OutcomeSkipped, "")
		}
		for range 4000 {
			w.record(alike[0], scheduler.OutcomeCompleted, "")
		}
		n, before := 0, w.nc.Stats().InMsgs
		w.must(w.store.Recent(t.Context(), job, 0, nil, func(*scheduler.Record) bool { n++; return true }))
		if got := w.nc.Stats().InMsgs - before; n != 3000 || got > 3000+60 {
			t.Errorf("%d messages for %d records", got, n)
		}
	})
}
