package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
)

// What the records that are looked for are told apart by.
const (
	historyCollections = 20
	historyPerJob      = 100             // records of a job
	historyTargets     = 100             // jobs in a row call another one each
	historyFailed      = 100             // one record in so many is of an attempt that failed
	historySkipped     = 10_000          // one in so many is of an instant that was skipped
	historyEvery       = 2 * time.Second // between two records
	historyWriters     = 64              // records that are written at once
)

// historyLook is how often the index of the history is looked for: to find that there is none is work.
const historyLook = 2 * time.Second

// searchHistory looks for records among many.
func searchHistory(ctx context.Context, b *bench) (parts []part, err error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return nil, err
	}
	defer st.close()
	w := &written{stage: st, jobs: max(1, b.n/historyPerJob), first: time.Now().UTC().Add(-time.Duration(b.n) * historyEvery)}
	filled, err := w.fill(ctx)
	if err != nil {
		return nil, err
	}
	for _, pass := range []struct {
		prefix string
		pages  int
		args   []string
		ready  func(context.Context, *serving) (figures, error)
	}{
		{
			"without index: ", pagesSlow,
			[]string{"--history-memory", "0"},
			func(context.Context, *serving) (figures, error) { return filled, nil },
		},
		{"", pagesAsked, nil, w.indexed},
	} {
		asked, err := st.withServing(ctx, func(p *serving) ([]part, error) {
			fs, err := pass.ready(ctx, p)
			if err != nil {
				return nil, err
			}
			asked, err := st.askAll(ctx, p, pass.prefix, pass.pages, w.questions())
			return append([]part{{pass.prefix + partIndex, fs}}, asked...), err
		}, pass.args...)
		if err != nil {
			return nil, err
		}
		parts = append(parts, asked...)
	}
	return parts, nil
}

// written is a history that was written for jobs that do not run: the records follow each other in time.
type written struct {
	*stage

	jobs  int
	first time.Time
	uids  map[scheduler.Key]string
}

// job is the job of record i.
func (w *written) job(i int) scheduler.Key {
	n := i % w.jobs
	return scheduler.Key{Collection: fmt.Sprintf("c%d", n%historyCollections), Job: fmt.Sprintf("job-%d", n/historyCollections)}
}

// fill puts the jobs and writes their records.
func (w *written) fill(ctx context.Context) (figures, error) {
	_, err := w.withServing(ctx, func(p *serving) ([]part, error) { return nil, w.putJobs(ctx, p) })
	if err != nil {
		return nil, err
	}
	nc, err := w.engine.connect()
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	st, err := store.Open(ctx, nc, store.Config{Logger: w.progress.log(), SyncAlways: w.engine.waits})
	if err != nil {
		return nil, err
	}
	w.uids = map[scheduler.Key]string{}
	err = st.EachStoredJob(ctx, func(s scheduler.Stored) error {
		w.uids[s.Key] = scheduler.StoredIncarnation(s.Data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := w.write(ctx, st); err != nil {
		return nil, err
	}
	took := time.Since(began)
	return figures{{"written_s", took.Seconds()}, {"written_per_s", float64(w.n) / took.Seconds()}}, nil
}

// putJobs puts the collections and the jobs, through the API on HTTP.
func (w *written) putJobs(ctx context.Context, p *serving) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(remotePutters)
	put := func(path, document string) error {
		_, err := p.answer(ctx, http.MethodPut, p.http+path, []byte(document))
		return err
	}
	for c := range min(w.jobs, historyCollections) {
		if err := put("/jobCollections/"+w.job(c).Collection, `{}`); err != nil {
			return err
		}
	}
	for i := range w.jobs {
		g.Go(func() error {
			k := w.job(i)
			document := w.distant().document(0, w.sink.url)
			return put("/jobCollections/"+k.Collection+"/jobs/"+k.Job, string(document))
		})
	}
	return g.Wait()
}

// write writes the records.
func (w *written) write(ctx context.Context, st *store.Store) error {
	var next atomic.Int64
	stop := w.progress.follow("records", w.n, func() int { return min(int(next.Load()), w.n) })
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for range historyWriters {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= w.n || ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := st.Append(ctx, w.record(i)); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// record is record i.
func (w *written) record(i int) *scheduler.Record {
	k := w.job(i)
	at := w.first.Add(time.Duration(i) * historyEvery)
	r := &scheduler.Record{
		Job: k, Occurrence: scheduler.OccurrenceID(k, at), Nominal: at, Due: at, Started: at, Ended: at.Add(20 * time.Millisecond),
		Outcome: scheduler.OutcomeCompleted, UID: w.uids[k], Type: "http",
		Target: fmt.Sprintf("host-%d.example.com:443", i%w.jobs%historyTargets),
		Status: http.StatusOK, Message: "200 OK", Response: body, Duration: 20 * time.Millisecond,
	}
	r.ID = r.Occurrence + "#0"
	switch {
	case i%historySkipped == historySkipped/2:
		*r = scheduler.Record{
			Job: k, Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonOverlap, Nominal: at, From: at, To: at, Count: 1,
			Ended: at, UID: r.UID, Occurrence: r.Occurrence, Message: "1 skipped",
		}
	case i%historyFailed == historyFailed/2:
		r.Outcome, r.Status, r.Message = scheduler.OutcomeFailed, http.StatusServiceUnavailable, "503 Service Unavailable"
	}
	return r
}

// noTarget is what no record has.
const noTarget = "/history?$filter=target+eq+'nowhere.example.com'"

// indexed waits until the scheduler has its index of the history: then a page of what is not there is the only one.
func (w *written) indexed(ctx context.Context, p *serving) (figures, error) {
	before, err := p.heapStats(ctx, "&gc=1")
	if err != nil {
		return nil, err
	}
	began, spent := time.Now(), w.readCPU()
	err = w.awaitIndex(ctx, p, historyLook, func() (bool, error) {
		page, err := p.page(ctx, p.http+noTarget)
		return page.NextLink == "", err
	})
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	spent = w.readCPU() - spent
	after, err := p.heapStats(ctx, "&gc=1")
	return figures{
		{"index_s", took.Seconds()},
		{"index_cpu_s", spent.Seconds()},
		{"index_bytes_per_record", float64(int64(after["HeapAlloc"]-before["HeapAlloc"])) / float64(w.n)},
	}, err
}

// questions are what is asked of the history.
func (w *written) questions() []question {
	k := w.job(w.jobs / 2)
	const all = "/history"
	collection, job := "/jobCollections/"+k.Collection+all, apiPath(k)+all
	filter := func(text string) parameters { return parameters{"$filter": text} }
	middle := w.first.Add(time.Duration(w.n/2) * historyEvery)
	within := fmt.Sprintf("startTime ge %s and startTime lt %s", middle.Format(time.RFC3339),
		middle.Add(time.Duration(max(1, w.n/100))*historyEvery).Format(time.RFC3339))
	deep := strconv.Itoa(w.n / 2) // the place of a record
	return []question{
		asks("all", all, nil),
		asks("all, from the middle", all, parameters{"$skiptoken": deep}),
		asks("collection, 1 in 20", collection, nil),
		asks("collection, from the middle", collection, parameters{"$skiptoken": deep}),
		asks("job, 1 in 10,000", job, nil),
		asks("job, by its uid", job, parameters{"uid": w.uids[k]}),
		asks("failed, 1 in 100", all, filter("status eq Failed")),
		asks("failed, from the middle", all, parameters{"$filter": "status eq Failed", "$skiptoken": deep}),
		asks("skipped, 1 in 10,000", all, filter("status eq Skipped")),
		asks("action", all, filter("actionType eq Http")),
		asks("target, 1 in 100", all, filter("target eq 'host-7.example.com'")),
		asks("target of a collection", collection, filter("target eq 'host-7.example.com'")),
		asks("time, 1 in 100", all, filter(within)),
		asks("failed, of a target, at a time", all, filter("status eq Failed and target eq 'host-50.example.com' and "+within)),
		asks("earlier jobs, none", all, parameters{"earlier": "true"}),
	}
}
