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
	if err := checkScope(scheduler.Key{Collection: q.Collection}); err != nil {
		return err
	}
	q.Hours = cmp.Or(q.Hours, forecast.DefaultHours)
	if q.From.IsZero() {
		q.From = now
	}
	switch {
	case q.Hours < 1 || q.Hours > forecast.MaxHours:
		return scheduler.Invalid("hours", fmt.Sprintf("%d is not in 1-%d", q.Hours, forecast.MaxHours))
	case q.Proposals < 0 || q.Proposals > forecast.MaxProposals:
		return scheduler.Invalid("proposals", fmt.Sprintf("%d is not in 0-%d", q.Proposals, forecast.MaxProposals))
	case q.From.Before(now.Add(-time.Minute)):
		return scheduler.Invalid("from", "is in the past: the history has what ran then")
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
	counted := forecast.New(q.From, q.Hours)
	read := &planReader{shared: f.shared, sees: q.Sees, counted: q.Counted, to: counted}
	release, err := read.takeTurn(ctx, q.Collection)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := read.eachPlanned(ctx, q.Collection); err != nil {
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

// planned receives the jobs of a [planReader], one at a time. b is the job's baton if [forecast.NeedsBaton] requires it.
type planned interface {
	Add(j *scheduler.Job, b *scheduler.Baton)
	Closed()  // a job of a disabled collection
	Damaged() // an unreadable job
}

// planReader reads the jobs that have not ended.
type planReader struct {
	shared  *shared
	sees    func(collection string) bool // visible collections; nil: all
	counted func(jobs int)               // see [ForecastQuery]
	to      planned

	definitions jobcache.Definitions // definitions that several jobs share

	mu   sync.Mutex
	open map[string]bool // whether the jobs of a collection may run
	jobs int
}

// planned reads a job, the jobs of a collection, or all visible ones. It requires the baton of a single enabled job if
// needs says so.
func (r *planReader) planned(ctx context.Context, k scheduler.Key, needs func(*scheduler.Job) bool) error {
	if k.Job != "" {
		return r.one(ctx, k, needs)
	}
	release, err := r.takeTurn(ctx, k.Collection)
	if err != nil {
		return err
	}
	defer release()
	return r.eachPlanned(ctx, k.Collection)
}

func (r *planReader) one(ctx context.Context, k scheduler.Key, needs func(*scheduler.Job) bool) error {
	j, err := r.shared.load(ctx, k)
	if _, damaged := errors.AsType[*scheduler.DamagedError](err); damaged {
		return nil
	}
	if err != nil || !r.shared.open(ctx, k.Collection) {
		return err
	}
	var b *scheduler.Baton
	if j.State == scheduler.Enabled && needs(j) {
		if b, _, err = (&planner{r.shared}).baton(ctx, j); err != nil || b == nil {
			return err
		}
	}
	r.to.Add(j, b)
	return nil
}

// takeTurn waits for the turn to read the jobs of a collection ("": all).
func (r *planReader) takeTurn(ctx context.Context, collection string) (release func(), err error) {
	if collection != "" {
		if err := r.shared.exists(ctx, collection); err != nil {
			return nil, err
		}
	}
	return takeTurn(ctx, r.shared.doctoring)
}

// eachPlanned reads the jobs of a collection, or all visible ones, in no particular order. It reads all jobs in the order
// of storage, which is much cheaper for the store than lookups.
func (r *planReader) eachPlanned(ctx context.Context, collection string) error {
	r.open = map[string]bool{}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, runtime.GOMAXPROCS(0)/2)) // it can take minutes: half of the processors remain for due runs
	if collection == "" {
		err := r.shared.eachStored(gctx, r.sees, func(chunk []scheduler.Stored) {
			g.Go(func() error { return r.add(gctx, chunk) })
		})
		return cmp.Or(g.Wait(), err)
	}
	var keys []scheduler.Key
	if r.sees == nil || r.sees(collection) {
		var err error
		if keys, err = (Reader{shared: r.shared}).keys(ctx, collection); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(keys, batchKeys) {
		g.Go(func() error {
			stored, err := r.shared.stored(gctx, chunk)
			if err != nil {
				return err
			}
			return r.add(gctx, stored)
		})
	}
	return g.Wait()
}

// eachStored passes all jobs in chunks, without those that sees rejects (nil: none). A job that is written meanwhile may
// be read twice; its first version counts.
func (h *shared) eachStored(ctx context.Context, sees func(collection string) bool, pass func([]scheduler.Stored)) error {
	seed, seen := maphash.MakeSeed(), map[uint64]struct{}{}
	var chunk []scheduler.Stored
	err := h.Store.EachStoredJob(ctx, func(st scheduler.Stored) error {
		if sees != nil && !sees(st.Key.Collection) {
			return nil
		}
		n := len(seen)
		if seen[maphash.Comparable(seed, st.Key)] = struct{}{}; len(seen) == n {
			return nil
		}
		if chunk = append(chunk, st); len(chunk) >= batchKeys {
			pass(chunk)
			chunk = make([]scheduler.Stored, 0, batchKeys)
		}
		return nil
	})
	if err == nil {
		pass(chunk)
	}
	return err
}

// add passes on stored jobs with their batons.
func (r *planReader) add(ctx context.Context, stored []scheduler.Stored) error {
	var jobs []*scheduler.Job
	var counting []scheduler.Key
	damaged := 0
	for _, st := range stored {
		if scheduler.StoredState(st.Data).Final() {
			continue
		}
		j, err := scheduler.ReadJobWith(&r.definitions, st.Key, st.Revision, st.Data, r.shared.Actions, r.shared.Secrets)
		if _, bad := errors.AsType[*scheduler.DamagedError](err); bad {
			damaged++
			continue
		}
		if err != nil {
			return err
		}
		jobs = append(jobs, j)
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
		r.count()
		r.to.Damaged()
	}
	for i, j := range jobs {
		if i%yieldAfter == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.count()
		if !r.isOpen(ctx, j.Key.Collection) {
			r.to.Closed()
			continue
		}
		r.to.Add(j, batons[j.Key])
	}
	return nil
}

const (
	yieldAfter = 16  // jobs between two checks of ctx
	tellEvery  = 256 // jobs between two calls of counted
)

func (r *planReader) count() {
	r.jobs++
	if r.counted != nil && r.jobs%tellEvery == 0 {
		r.counted(r.jobs)
	}
}

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
			if b, err := scheduler.DecodeBaton(st.Data); err == nil && b.Check(scheduler.BatonKey{Key: st.Key}) == nil {
				found[st.Key] = &b
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
