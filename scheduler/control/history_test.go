package control_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/storetest"
)

// countedReads counts the records that are read for a page.
type countedReads struct {
	scheduler.Store

	recent atomic.Int64
	onward atomic.Int64
}

func (s *countedReads) Recent(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	return s.Store.Recent(ctx, k, before, outcomes, func(r *scheduler.Record) bool {
		s.recent.Add(1)
		return f(r)
	})
}

func (s *countedReads) RecordsFrom(ctx context.Context, k scheduler.Key, from uint64, f func(*scheduler.Record) bool) error {
	return s.Store.RecordsFrom(ctx, k, from, func(r *scheduler.Record) bool {
		s.onward.Add(1)
		return f(r)
	})
}

// finding is a service that runs, and so finds records by an index.
type finding struct {
	*harness

	counted *countedReads
	found   *control.Service
}

// started is the start of the first made-up record.
var started = time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)

// find returns one, on a store that keeps so many records of each job and outcome.
func (w *harness) find(perJob int64) *finding {
	w.t.Helper()
	w.store = w.open(perJob)
	counted := &countedReads{Store: w.store}
	f := &finding{w, counted, w.over(counted)}
	storetest.Run(w.t, f.found.Run)
	return f
}

// ready waits until the index has what there is.
func (f *finding) ready() {
	f.t.Helper()
	must.Await(f.t, "the index", func() bool {
		before := f.counted.recent.Load()
		q := control.HistoryQuery{RecordFilter: scheduler.RecordFilter{Targets: []string{"none"}}}
		if _, _, err := f.found.History(f.t.Context(), q, v1.Page{}); err != nil {
			f.t.Fatal(err)
		}
		return f.counted.recent.Load() == before
	})
}

// pages returns the sequences of all pages of a service. between is done after each.
func (f *finding) pages(s *control.Service, q control.HistoryQuery, top int, between func()) (all []uint64) {
	f.t.Helper()
	for before := uint64(0); ; {
		records, next, err := s.History(f.t.Context(), q, v1.Page{Top: top, Before: before})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, r := range records {
			all = append(all, r.Sequence)
		}
		if next == 0 {
			return all
		}
		if before > 0 && next >= before {
			f.t.Fatalf("the page before %d goes on before %d", before, next)
		}
		before = next
		between()
	}
}

// wanted are the sequences of the records that the store has and a query asks for, the newest first: the plain way.
func (f *finding) wanted(q *control.HistoryQuery) (all []uint64) {
	f.t.Helper()
	incarnations := map[scheduler.Key]string{} // "": the job is missing
	must.Do(f.t, f.store.RecordsFrom(f.t.Context(), scheduler.Key{}, 0, func(r *scheduler.Record) bool {
		present, known := incarnations[r.Job]
		if !known {
			if st, err := f.store.LoadJob(f.t.Context(), r.Job); err == nil {
				present = scheduler.StoredIncarnation(st.Data)
			}
			incarnations[r.Job] = present
		}
		if (q.Key.Collection == "" || r.Job.Collection == q.Key.Collection) && (q.Key.Job == "" || r.Job.Job == q.Key.Job) &&
			q.Admits(r, present, present != "") {
			all = append(all, r.Sequence)
		}
		return true
	}))
	slices.Reverse(all)
	return all
}

// TestHistoryReadsNoMoreThanItFinds: once there is an index, a page of records that are rare among many reads none of the others,
// whatever tells them.
func TestHistoryReadsNoMoreThanItFinds(t *testing.T) {
	w := newHarness(t)
	job, rare := scheduler.Key{Collection: "default", Job: "job"}, scheduler.Key{Collection: "other", Job: "rare"}
	w.collection("other", "{}")
	w.put(job, later)
	w.put(rare, later)
	f := w.find(conn.Unlimited)
	uid, rareUID := w.incarnation(job), w.incarnation(rare)
	var appends errgroup.Group
	appends.SetLimit(100)
	for i := range 9 * 300 {
		at := started.Add(time.Duration(i) * time.Second)
		r := &scheduler.Record{
			Job: job, UID: uid, Outcome: scheduler.OutcomeCompleted, Started: at, Ended: at, Target: "many:80",
		}
		switch i % 300 {
		case 1:
			r.Outcome = scheduler.OutcomeFailed
		case 2:
			r.Job, r.UID = rare, rareUID
		case 3:
			r.Target = "rare:443"
		case 4:
			r.Kind = scheduler.Manual
		case 5:
			r.Late = true
		}
		appends.Go(func() error { return w.store.Append(t.Context(), r) })
	}
	must.Do(t, appends.Wait())
	f.ready()
	yes := true
	for name, q := range map[string]control.HistoryQuery{
		"an outcome":               {RecordFilter: scheduler.RecordFilter{Outcomes: []scheduler.Outcome{scheduler.OutcomeFailed}}},
		"a job":                    {Key: rare},
		"a job by its uid":         {Key: rare, RecordFilter: scheduler.RecordFilter{UID: rareUID}},
		"a collection":             {Key: scheduler.Key{Collection: "other"}},
		"a target":                 {RecordFilter: scheduler.RecordFilter{Targets: []string{"rare"}}},
		"runs by hand":             {RecordFilter: scheduler.RecordFilter{Manual: &yes}},
		"late":                     {RecordFilter: scheduler.RecordFilter{Late: true}},
		"an old minute":            {RecordFilter: scheduler.RecordFilter{Since: started, Until: started.Add(8 * time.Second)}},
		"an old minute of its end": {RecordFilter: scheduler.RecordFilter{EndedSince: started, EndedUntil: started.Add(8 * time.Second)}},
	} {
		before := f.counted.recent.Load() + f.counted.onward.Load()
		records, next, err := f.found.History(t.Context(), q, v1.Page{})
		if err != nil || len(records) != 9 || next != 0 {
			t.Errorf("%s: %d records, next %d, %v", name, len(records), next, err)
		}
		if n := f.counted.recent.Load() + f.counted.onward.Load() - before; n > 0 {
			t.Errorf("%s: %d records were read", name, n)
		}
		if diff := f.wanted(&q); !slices.Equal(sequences(records), diff) {
			t.Errorf("%s: got %v, want %v", name, sequences(records), diff)
		}
	}
}

func sequences(records []*scheduler.Record) (all []uint64) {
	for _, r := range records {
		all = append(all, r.Sequence)
	}
	return all
}

// TestHistoryAgreesWithTheStore makes random histories, of jobs that have more records than are kept, are deleted and put
// again, and asks for random parts of them, with an index and without: the pages have what is there, once and in order; and
// what stays while they are read is not left out.
func TestHistoryAgreesWithTheStore(t *testing.T) {
	w := newHarness(t)
	w.collection("other", "{}")
	f := w.find(20)
	random := rand.New(rand.NewPCG(1, 2))
	keys := []scheduler.Key{{Collection: "default", Job: "a"}, {Collection: "default", Job: "b"}, {Collection: "other", Job: "a"}}
	n := 0
	add := func(many int) {
		for range many {
			k, at := keys[random.IntN(len(keys))], started.Add(time.Duration(n)*time.Second)
			n++
			r := &scheduler.Record{
				Job: k, UID: w.incarnation(k), Outcome: scheduler.Outcomes[random.IntN(3)], Started: at, Ended: at.Add(time.Second),
				Target: "host" + strconv.Itoa(random.IntN(3)) + ":80", Kind: []scheduler.Kind{scheduler.Planned, scheduler.Manual}[random.IntN(2)],
			}
			if random.IntN(9) == 0 {
				r.UID = []string{"", "earlier1"}[random.IntN(2)]
			}
			must.Do(t, w.store.Append(t.Context(), r))
		}
	}
	query := func() (q control.HistoryQuery) {
		q.Key = []scheduler.Key{{}, {Collection: "default"}, keys[random.IntN(len(keys))]}[random.IntN(3)]
		if random.IntN(2) == 0 {
			q.Outcomes = scheduler.Outcomes[random.IntN(2):][:1]
		}
		if random.IntN(2) == 0 {
			q.Targets = []string{"host1"}
		}
		if q.Key.Job != "" && random.IntN(2) == 0 {
			q.UID = []string{w.incarnation(q.Key), "earlier1"}[random.IntN(2)]
		}
		if random.IntN(3) == 0 {
			q.Since, q.Until = started.Add(time.Duration(n/3)*time.Second), started.Add(time.Duration(n)*time.Second)
		}
		return q
	}
	for round := range 5 {
		for _, k := range keys {
			if round == 0 || random.IntN(4) == 0 {
				if err := w.service.Delete(t.Context(), k, 0); err != nil && round > 0 {
					t.Fatal(err)
				}
				w.put(k, later)
			}
		}
		add(60)
		if round%2 == 1 { // otherwise the index is behind
			f.ready()
		}
		for range 10 {
			q := query()
			want := f.wanted(&q)
			for name, s := range map[string]*control.Service{"with an index": f.found, "without": w.service} {
				if got := f.pages(s, q, 1+random.IntN(30), func() {}); !slices.Equal(got, want) {
					t.Errorf("%s, %+v: got %v, want %v", name, q, got, want)
				}
			}
		}
		q := control.HistoryQuery{RecordFilter: scheduler.RecordFilter{Outcomes: scheduler.Outcomes[:1]}}
		earlier := f.wanted(&q)
		got := f.pages(f.found, q, 3, func() { add(2) })
		kept := f.wanted(&q)
		for i, sequence := range got {
			if i > 0 && sequence >= got[i-1] {
				t.Errorf("%d comes after %d", sequence, got[i-1])
			}
		}
		for _, sequence := range earlier {
			if slices.Contains(kept, sequence) && !slices.Contains(got, sequence) {
				t.Errorf("%d is there, and was left out: %s", sequence, fmt.Sprint(got))
			}
		}
	}
}
