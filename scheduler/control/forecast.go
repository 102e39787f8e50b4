package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/forecast"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
)

// Forecaster forecasts runs.
type Forecaster struct{ shared *shared }

// ForecastQuery configures a forecast.
type ForecastQuery struct {
	Collection string    // "": all
	From       time.Time // zero: now
	Hours      int       // from 1 to 168; 0: 24
	Proposals  int       // at most; from 0 to 10000

	// Sees reports whether a collection is visible. Default: all.
	Sees func(collection string) bool

	// Counted receives the number of counted jobs from time to time. It must not block. Default: none.
	Counted func(jobs int)
}

func (q *ForecastQuery) check(now time.Time) error {
	if q.Collection != "" {
		if err := scheduler.ValidateCollection(q.Collection); err != nil {
			return err
		}
	}
	if q.Hours == 0 {
		q.Hours = forecast.DefaultHours
	}
	if q.From.IsZero() {
		q.From = now
	}
	switch {
	case q.Hours < 1 || q.Hours > forecast.MaxHours:
		return scheduler.Invalid("hours", fmt.Sprintf("%d is not in 1-%d", q.Hours, forecast.MaxHours))
	case q.Proposals < 0 || q.Proposals > forecast.MaxProposals:
		return scheduler.Invalid("proposals", fmt.Sprintf("%d is not in 0-%d", q.Proposals, forecast.MaxProposals))
	case q.From.Before(now.Add(-time.Minute)):
		return scheduler.Invalid("from", "lies in the past: the history has what ran then")
	case q.From.After(now.AddDate(farthest, 0, 0)):
		return scheduler.Invalid("from", fmt.Sprintf("is more than %d years away", farthest))
	}
	return nil
}

// farthest is the maximum number of years until the start of a forecast.
const farthest = 100

// Forecast counts the planned runs per minute and proposes how to lower their peaks. It reads all definitions. One
// forecast runs at a time, and stops with ctx.
//
// Errors: ErrInvalid; ErrNotFound without the collection; ErrUnavailable if too many requests wait.
func (f Forecaster) Forecast(ctx context.Context, q ForecastQuery) (*forecast.Report, error) {
	if err := q.check(f.shared.Store.Now().UTC()); err != nil {
		return nil, err
	}
	if q.Collection != "" {
		if err := f.shared.exists(ctx, q.Collection); err != nil {
			return nil, err
		}
	}
	release, err := takeTurn(ctx, f.shared.doctoring)
	if err != nil {
		return nil, err
	}
	defer release()
	counted := forecast.New(q.From, q.Hours)
	if err := f.shared.eachPlanned(ctx, q.Collection, q.Sees, telling(counted, q.Counted)); err != nil {
		return nil, err
	}
	report := counted.Report()
	if q.Proposals == 0 {
		return report, nil
	}
	jobs, err := f.shared.compiled(ctx, counted.Candidates(q.Proposals))
	if err != nil {
		return nil, err
	}
	counted.Propose(report, jobs)
	return report, nil
}

// compiled returns the existing jobs, in the order of keys.
func (h *shared) compiled(ctx context.Context, keys []scheduler.Key) (jobs []*scheduler.Job, err error) {
	for chunk := range slices.Chunk(keys, batchKeys) {
		found := map[scheduler.Key]*scheduler.Job{}
		stored, err := h.stored(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, st := range stored {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			if j, err := h.decode(ctx, st); err == nil {
				found[st.Key] = j
			}
		}
		for _, k := range chunk {
			if found[k] != nil {
				jobs = append(jobs, found[k])
			}
		}
	}
	return jobs, nil
}

// planned receives the jobs of [shared.eachPlanned].
type planned interface {
	Add(j *scheduler.Job, b *scheduler.Baton)
	Closed()
	Damaged()
}

// eachPlanned passes the jobs of a collection, or all visible ones, to a receiver, one at a time and in no particular
// order. It includes their batons if [forecast.NeedsBaton] requires them.
func (h *shared) eachPlanned(ctx context.Context, collection string, sees func(string) bool, to planned) error {
	if collection == "" {
		return h.eachStoredPlanned(ctx, sees, to)
	}
	keys, err := h.jobKeys(ctx, collection, sees)
	if err != nil {
		return err
	}
	r := h.newPlanReader(to)
	return inChunks(ctx, keys, func(ctx context.Context, chunk []scheduler.Key) error {
		jobs, damaged, err := r.load(ctx, chunk)
		if err != nil {
			return err
		}
		return r.add(ctx, jobs, len(damaged))
	})
}

// eachStoredPlanned is [shared.eachPlanned] for all jobs. It reads them in the order of storage, which is much cheaper
// for the store than lookups. A job that is written meanwhile may be read twice; its first version counts.
func (h *shared) eachStoredPlanned(ctx context.Context, sees func(string) bool, to planned) error {
	r := h.newPlanReader(to)
	seed, seen := maphash.MakeSeed(), map[uint64]struct{}{}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)/2)) // it takes minutes: half of the processors remain for due runs
	var chunk []scheduler.Stored
	pass := func() {
		full := chunk
		g.Go(func() error {
			jobs, damaged, err := r.readAll(full)
			if err != nil {
				return err
			}
			return r.add(gctx, jobs, len(damaged))
		})
		chunk = make([]scheduler.Stored, 0, batchKeys)
	}
	err := h.Store.EachStoredJob(gctx, func(st scheduler.Stored) error {
		if sees != nil && !sees(st.Key.Collection) {
			return nil
		}
		n := len(seen)
		if seen[maphash.Comparable(seed, st.Key)] = struct{}{}; len(seen) == n {
			return nil
		}
		if chunk = append(chunk, st); len(chunk) >= batchKeys {
			pass()
		}
		return nil
	})
	if err == nil {
		pass()
	}
	return cmp.Or(g.Wait(), err)
}

// jobKeys returns the keys of the jobs of a collection, or of all visible ones.
func (h *shared) jobKeys(ctx context.Context, collection string, sees func(string) bool) (keys []scheduler.Key, err error) {
	err = h.Store.EachJob(ctx, collection, func(k scheduler.Key) error {
		if sees == nil || sees(k.Collection) {
			keys = append(keys, k)
		}
		return nil
	})
	return keys, err
}

// planReader reads jobs in bulk.
type planReader struct {
	shared      *shared
	definitions *jobcache.Definitions // definitions that several jobs share

	mu   sync.Mutex
	to   planned
	open map[string]bool // whether the jobs of a collection may run
}

func (h *shared) newPlanReader(to planned) *planReader {
	return &planReader{shared: h, to: to, definitions: &jobcache.Definitions{}, open: map[string]bool{}}
}

// load reads the jobs that have not ended, and returns the keys of unreadable ones.
func (r *planReader) load(ctx context.Context, keys []scheduler.Key) (jobs []*scheduler.Job, damaged []scheduler.Key, err error) {
	stored, err := r.shared.stored(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	return r.readAll(stored)
}

// readAll decodes stored jobs, as load does.
func (r *planReader) readAll(stored []scheduler.Stored) (jobs []*scheduler.Job, damaged []scheduler.Key, err error) {
	for _, st := range stored {
		if scheduler.StoredState(st.Data).Final() {
			continue
		}
		j, err := scheduler.ReadJobWith(r.definitions, st.Key, st.Revision, st.Data, r.shared.Actions, r.shared.Secrets)
		if _, bad := errors.AsType[*scheduler.DamagedError](err); bad {
			damaged = append(damaged, st.Key)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, damaged, nil
}

// add passes on jobs with their batons, and the number of unreadable ones.
func (r *planReader) add(ctx context.Context, jobs []*scheduler.Job, damaged int) error {
	var counting []scheduler.Key
	for _, j := range jobs {
		if j.State == scheduler.Enabled && forecast.NeedsBaton(j) {
			counting = append(counting, j.Key)
		}
	}
	batons, err := r.batons(ctx, counting)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for range damaged {
		r.to.Damaged()
	}
	for i, j := range jobs {
		if i%yieldAfter == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !r.isOpen(ctx, j.Key.Collection) {
			r.to.Closed()
			continue
		}
		r.to.Add(j, batons[j.Key])
	}
	return nil
}

// yieldAfter is the number of jobs between two checks of ctx.
const yieldAfter = 16

// isOpen reports whether the jobs of a collection may run. It looks up each collection once.
func (r *planReader) isOpen(ctx context.Context, collection string) bool {
	open, known := r.open[collection]
	if !known {
		open = r.shared.open(ctx, collection)
		r.open[collection] = open
	}
	return open
}

// batonsAtOnce limits the batons per request.
const batonsAtOnce = 512

// batons returns the readable batons of jobs.
func (r *planReader) batons(ctx context.Context, keys []scheduler.Key) (map[scheduler.Key]*scheduler.Baton, error) {
	found := make(map[scheduler.Key]*scheduler.Baton, len(keys))
	for chunk := range slices.Chunk(keys, batonsAtOnce) {
		err := r.shared.Store.FindBatons(ctx, chunk, func(st scheduler.Stored, _ bool) {
			if b, err := scheduler.DecodeBaton(st.Data); err == nil && b.Check(scheduler.Slot{Key: st.Key}) == nil {
				found[st.Key] = &b
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// inChunks processes a list in chunks, on all processors.
func inChunks[T any](ctx context.Context, all []T, do func(ctx context.Context, chunk []T) error) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for chunk := range slices.Chunk(all, batchKeys) {
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return context.Cause(gctx)
			}
			return do(gctx, chunk)
		})
	}
	return g.Wait()
}
