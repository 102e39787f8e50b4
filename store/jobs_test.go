package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
)

// save saves the job and returns its revision.
func (w *harness) save(body string, replaces uint64, final bool) uint64 {
	w.t.Helper()
	return must.Get(w.store.SaveJob(w.t.Context(), job, []byte(body), replaces, final))(w.t)
}

// TestJobWrites makes each write from each state. A conflict changes nothing.
func TestJobWrites(t *testing.T) {
	save := func(replaces uint64) func(context.Context, *store.Store) error {
		return func(ctx context.Context, s *store.Store) error {
			return second(s.SaveJob(ctx, job, []byte("new"), replaces, false))
		}
	}
	rewrite := func(replaces uint64, final bool) func(context.Context, *store.Store) error {
		return func(ctx context.Context, s *store.Store) error {
			return second(s.RewriteJob(ctx, job, []byte("new"), replaces, final))
		}
	}
	remove := func(revision uint64) func(context.Context, *store.Store) error {
		return func(ctx context.Context, s *store.Store) error { return s.RemoveJob(ctx, job, revision, 0) }
	}
	none := func(*harness) {}
	one := func(w *harness) { w.save("old", 0, false) }                            // revision 1
	two := func(w *harness) { w.save("older", 0, false); w.save("old", 1, false) } // revision 2
	deleted := func(w *harness) { one(w); w.must(w.store.RemoveJob(w.t.Context(), job, 1, 0)) }
	final := func(w *harness) { w.save("old", 0, true) }
	expired := func(w *harness) { final(w); time.Sleep(200 * time.Minute) }
	type row struct {
		before func(*harness)
		write  func(context.Context, *store.Store) error
		want   error
		body   string // afterwards; "" without a job
	}
	inBubbles(t, map[string]row{
		"save a new job": {none, save(0), nil, "new"},
		"save a new job over a revision there never was": {none, save(3), scheduler.ErrConflict, ""},
		"save a new job that there is already":           {one, save(0), scheduler.ErrConflict, "old"},
		"save over the last revision":                    {two, save(2), nil, "new"},
		"save over an earlier revision":                  {two, save(1), scheduler.ErrConflict, "old"},
		"save over the last revision of a deleted job":   {deleted, save(1), scheduler.ErrConflict, ""},
		"save over the marker of a deleted job":          {deleted, save(2), nil, "new"},
		"save as new what was deleted a moment ago":      {deleted, save(0), scheduler.ErrConflict, ""},
		"save over a final one that has expired":         {expired, save(1), scheduler.ErrConflict, ""},
		"save over the marker of an expired one":         {expired, save(2), nil, "new"},

		"rewrite the last revision":                  {two, rewrite(2, false), nil, "new"},
		"rewrite an earlier revision":                {two, rewrite(1, false), scheduler.ErrConflict, "old"},
		"rewrite a deleted job":                      {deleted, rewrite(1, false), scheduler.ErrConflict, ""},
		"rewrite a final one":                        {final, rewrite(1, true), nil, "new"},
		"rewrite an earlier revision as a final one": {two, rewrite(1, true), scheduler.ErrConflict, "old"},
		"rewrite a final one that was deleted":       {deleted, rewrite(1, true), scheduler.ErrConflict, ""},
		"rewrite a final one that has expired":       {expired, rewrite(1, true), scheduler.ErrConflict, ""},

		"remove the last revision":     {two, remove(2), nil, ""},
		"remove an earlier revision":   {two, remove(1), scheduler.ErrConflict, "old"},
		"remove a deleted job":         {deleted, remove(1), scheduler.ErrConflict, ""},
		"remove a job there never was": {none, remove(1), scheduler.ErrConflict, ""},
	}, func(t *testing.T, w *harness, test row) {
		test.before(w)
		mustBe(t, "the write", test.write(t.Context(), w.store), test.want)
		st, err := w.store.LoadJob(t.Context(), job)
		if test.body == "" {
			mustBe(t, "LoadJob", err, scheduler.ErrNotFound)
		} else if err != nil || string(st.Data) != test.body {
			t.Errorf("stored is %q, %v, want %q", st.Data, err, test.body)
		}
	})
}

// TestFinalJobsExpire checks the retention of final definitions: 3 h here. Rewriting one does not extend it, except to
// the minimum of an hour.
func TestFinalJobsExpire(t *testing.T) {
	rewritten := func(after time.Duration) func(w *harness) {
		return func(w *harness) {
			rev := w.save("final", 0, true)
			time.Sleep(after)
			must.Get(w.store.RewriteJob(w.t.Context(), job, []byte("final"), rev, true))(t)
		}
	}
	ended := func(before time.Duration) func(w *harness) {
		return func(w *harness) {
			ended := time.Now()
			w.save("active", 0, false)
			w.save("active", 1, false)
			time.Sleep(before)
			for i, err := range w.store.EndJobs(w.t.Context(), []scheduler.JobEnd{
				{Key: job, Data: []byte("stale"), Replaces: 1, Ended: ended}, {Key: job, Data: []byte("final"), Replaces: 2, Ended: ended},
			}) {
				mustBe(w.t, "EndJobs", err, []error{scheduler.ErrConflict, nil}[i])
			}
		}
	}
	type row struct {
		write func(w *harness)
		kept  time.Duration // 0: no expiry
	}
	inBubbles(t, map[string]row{
		"a final one":                                        {func(w *harness) { w.save("final", 0, true) }, 3 * time.Hour},
		"one that is not final":                              {func(w *harness) { w.save("active", 0, false) }, 0},
		"rewritten at once":                                  {rewritten(time.Second), 3 * time.Hour},
		"rewritten after an hour and a half":                 {rewritten(90 * time.Minute), 3 * time.Hour},
		"rewritten shortly before its end":                   {rewritten(179 * time.Minute), 179*time.Minute + time.Hour},
		"an end that is written at once":                     {ended(0), 3 * time.Hour},
		"an end that is written an hour and a half after":    {ended(90 * time.Minute), 3 * time.Hour},
		"an end that is written after it would have expired": {ended(5 * time.Hour), 6 * time.Hour},
		"one that was not final, rewritten as final": {func(w *harness) {
			w.save("active", 0, false)
			time.Sleep(time.Hour)
			must.Get(w.store.RewriteJob(w.t.Context(), job, []byte("final"), 1, true))(t)
		}, 4 * time.Hour},
	}, func(t *testing.T, w *harness, test row) {
		began := time.Now()
		test.write(w)
		end, want := test.kept, scheduler.ErrNotFound
		if end == 0 {
			end, want = 6*time.Hour, nil
		}
		time.Sleep(time.Until(began.Add(end - 5*time.Second)))
		_, err := w.store.LoadJob(t.Context(), job)
		mustBe(t, "before", err, nil)
		time.Sleep(10 * time.Second)
		_, err = w.store.LoadJob(t.Context(), job)
		mustBe(t, "after", err, want)
	})
}

// TestDeleteMarker checks the content and retention of a delete marker.
func TestDeleteMarker(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for _, specSequence := range []uint64{0, 42} {
			rev := uint64(0)
			if st, err := w.store.LoadJob(t.Context(), job); errors.Is(err, scheduler.ErrNotFound) {
				rev = st.Revision
			}
			rev = w.save("body", rev, false)
			w.must(w.store.RemoveJob(t.Context(), job, rev, specSequence))
			st, err := w.store.LoadJob(t.Context(), job)
			mustBe(t, "deleted", err, scheduler.ErrNotFound)
			if st.SpecSequence != specSequence || st.Revision != rev+1 {
				t.Errorf("the marker is %+v, want spec %d at revision %d", st, specSequence, rev+1)
			}
		}
		time.Sleep(61 * time.Minute)
		st, err := w.store.LoadJob(t.Context(), job)
		mustBe(t, "long deleted", err, scheduler.ErrNotFound)
		if st.SpecSequence != 0 {
			t.Errorf("the marker is still there: %+v", st)
		}
	})
}

// TestLoadJobAt: the last eight revisions are retained until the job is final.
func TestLoadJobAt(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, s := t.Context(), w.store
		strange := must.Get(s.SaveJob(ctx, alike[0], []byte("alike"), 0, false))(t)
		var revs []uint64
		for i := range 9 {
			replaces := uint64(0)
			if i > 0 {
				replaces = revs[i-1]
			}
			revs = append(revs, w.save(strconv.Itoa(i), replaces, false))
		}
		at := func(when string, revision uint64, body string) {
			t.Helper()
			st, err := s.LoadJobAt(ctx, job, revision)
			if body == "" {
				mustBe(t, when, err, scheduler.ErrNotFound)
			} else if err != nil || string(st.Data) != body || st.Revision != revision || st.Key != job {
				t.Errorf("%s: %+v, %v, want %q", when, st, err, body)
			}
		}
		at("the ninth from the end", revs[0], "")
		at("the eighth from the end", revs[1], "1")
		at("the last", revs[8], "8")
		at("one that is to come", revs[8]+1, "")
		at("one of another job", strange, "")
		last := w.save("final", revs[8], true)
		at("one before it became final", revs[8], "")
		at("the final one", last, "final")
		w.must(s.RemoveJob(ctx, job, last, 0))
		at("the delete marker", last+1, "")
	})
}

// TestListJobs lists jobs by name and by index, which has deleted jobs for an hour.
func TestListJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, s := t.Context(), w.store
		each := func(collection string) (all []string) {
			w.must(s.EachJob(ctx, collection, func(k scheduler.Key) error { all = append(all, k.String()); return nil }))
			slices.Sort(all)
			return all
		}
		if got := each(""); len(got) != 0 {
			t.Errorf("listed %q in an empty store", got)
		}
		rev := w.save("job", 0, false)
		for _, k := range alike {
			must.Get(s.SaveJob(ctx, k, []byte(k.Job), 0, false))(t)
		}
		w.must(s.RemoveJob(ctx, job, rev, 0))

		var loaded []string
		keys := append([]scheduler.Key{job, {Collection: "c", Job: "never"}}, alike...)
		w.must(s.LoadJobs(ctx, keys, func(st scheduler.Stored) {
			loaded = append(loaded, fmt.Sprintf("%s %s %d", st.Key, st.Data, st.Revision))
		}))
		slices.Sort(loaded)
		if want := []string{"c/jo jo 3", "c/job2 job2 2", "c2/job job 4"}; !slices.Equal(loaded, want) {
			t.Errorf("loaded %q, want %q", loaded, want)
		}
		w.must(s.LoadJobs(ctx, keys[:2], func(st scheduler.Stored) { t.Errorf("loaded %s", st.Key) }))

		for collection, want := range map[string][]string{
			"": {"c/jo", "c/job", "c/job2", "c2/job"}, "c": {"c/jo", "c/job", "c/job2"}, "c2": {"c2/job"}, "c3": nil,
		} {
			if got := each(collection); !slices.Equal(got, want) {
				t.Errorf("collection %q: listed %q, want %q", collection, got, want)
			}
		}
		time.Sleep(61 * time.Minute)
		if got, want := each("c"), []string{"c/jo", "c/job2"}; !slices.Equal(got, want) {
			t.Errorf("an hour later: listed %q, want %q", got, want)
		}
		mustStop(t, func(f func() error) error { return s.EachJob(ctx, "", func(scheduler.Key) error { return f() }) })
	})
}

// TestEachKnownJob: each job is returned once, with its last revision, and jobs deleted within the last hour as
// deleted.
func TestEachKnownJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, s := t.Context(), w.store
		known := func() (all []string) {
			w.must(s.EachKnownJob(ctx, func(k scheduler.Key, deleted bool) error {
				all = append(all, fmt.Sprint(k, " ", deleted))
				return nil
			}))
			slices.Sort(all)
			return all
		}
		if got := known(); len(got) != 0 {
			t.Errorf("told %q in an empty store", got)
		}
		remove := func(name string) uint64 {
			k := scheduler.Key{Collection: "c", Job: name}
			rev := must.Get(s.SaveJob(ctx, k, []byte("{}"), 0, false))(t)
			w.must(s.RemoveJob(ctx, k, rev, 0))
			return rev + 1
		}
		w.save("edited", w.save("first", 0, false), false)
		remove("deleted")
		again := remove("again")
		must.Get(s.SaveJob(ctx, scheduler.Key{Collection: "c", Job: "again"}, []byte("{}"), again, false))(t)
		must.Get(s.SaveJob(ctx, scheduler.Key{Collection: "c", Job: "final"}, []byte("{}"), 0, true))(t)
		if got, want := known(), []string{"c/again false", "c/deleted true", "c/final false", "c/job false"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		mustStop(t, func(f func() error) error {
			return s.EachKnownJob(ctx, func(scheduler.Key, bool) error { return f() })
		})
		time.Sleep(61 * time.Minute)
		if got, want := known(), []string{"c/again false", "c/final false", "c/job false"}; !slices.Equal(got, want) {
			t.Errorf("an hour later: told %q, want %q", got, want)
		}
		time.Sleep(2 * time.Hour)
		if got, want := known(), []string{"c/again false", "c/final true", "c/job false"}; !slices.Equal(got, want) {
			t.Errorf("when the final one has expired: told %q, want %q", got, want)
		}
	})
}

// TestEachStoredJobWhileWritten: jobs that are deleted or written during a read neither stall it nor hide others.
func TestEachStoredJobWhileWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, s := t.Context(), w.store
		key := func(i int) scheduler.Key { return scheduler.Key{Collection: "c", Job: strconv.Itoa(i)} }
		const jobs, edited = 1200, 1100 // from edited on, each job has all its revisions
		revisions := make([]uint64, jobs)
		save := func(i int) {
			revisions[i] = must.Get(s.SaveJob(ctx, key(i), []byte("{}"), revisions[i], false))(t)
		}
		for i := range jobs {
			for range 1 + i/edited*7 {
				save(i)
			}
		}
		seen, began := map[scheduler.Key]uint64{}, time.Now()
		before := slices.Clone(revisions)
		w.must(s.EachStoredJob(ctx, func(st scheduler.Stored) error {
			if len(seen) == 0 {
				for i := 600; i < 640; i++ {
					w.must(s.RemoveJob(ctx, key(i), revisions[i], 0))
				}
				for i := edited; i < jobs; i++ {
					save(i)
				}
			}
			if i, _ := strconv.Atoi(st.Key.Job); st.Revision < before[i] {
				t.Errorf("job %d in revision %d, want at least %d", i, st.Revision, before[i])
			}
			seen[st.Key] = st.Revision
			return nil
		}))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s", took)
		}
		for i := range jobs {
			if removed := i >= 600 && i < 640; !removed && seen[key(i)] == 0 {
				t.Fatalf("job %d is missing; %d were returned", i, len(seen))
			}
		}
	})
}

// TestWatchJobs: a watch delivers changes from its start until its context ends or it fails. It may omit a change that
// is overwritten immediately.
func TestWatchJobs(t *testing.T) {
	type row struct {
		do   func(w *harness, cancel func())
		want error
	}
	inBubbles(t, map[string]row{
		"ended":           {func(_ *harness, cancel func()) { cancel() }, nil},
		"connection lost": {func(w *harness, _ func()) { w.nc.Close() }, scheduler.ErrUnavailable},
	}, func(t *testing.T, w *harness, end row) {
		w.save("before", 0, false)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ready, ended := make(chan struct{}), make(chan error, 1)
		seen := make(chan string, 100)
		go func() {
			ended <- w.store.WatchJobs(ctx, func() { close(ready) }, func(k scheduler.Key, revision uint64) {
				seen <- fmt.Sprintf("%s %d", k, revision)
			})
		}()
		<-ready
		_, other := w.open()
		rev := must.Get(other.SaveJob(t.Context(), job, []byte("after"), 1, false))(t)
		time.Sleep(time.Second)
		w.must(other.RemoveJob(t.Context(), job, rev, 0))
		must.Get(other.SaveJob(t.Context(), alike[2], []byte("final"), 0, true))(t)
		for _, want := range []string{"c/job 2", "c/job 3", "c2/job 4"} {
			if got := <-seen; got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		time.Sleep(time.Second)
		if len(seen) > 0 {
			t.Errorf("told %q, too", <-seen)
		}
		end.do(w, cancel)
		mustEnd(t, ended, time.Minute, end.want)
	})
}
