package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// Reader reads jobs and their histories.
type Reader struct {
	shared *shared
	plans  *planner
}

// Get returns a job with its status. For a damaged job, the view describes the damage. It returns scheduler.ErrNotFound
// if the job does not exist.
func (r Reader) Get(ctx context.Context, k scheduler.Key) (*v1.Job, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	j, err := r.shared.load(ctx, k)
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
		return v1.NewDamaged(damaged), nil
	}
	if err != nil {
		return nil, err
	}
	return r.view(ctx, j)
}

// view adds the status: from the baton or, for a job without one, from the history.
func (r Reader) view(ctx context.Context, j *scheduler.Job) (*v1.Job, error) {
	if j.State.Final() {
		return v1.NewJob(j, j.Progress, r.shared.Store.Now()), nil
	}
	k := j.Key
	b, running, err := r.plans.baton(ctx, j)
	switch {
	case err != nil:
		return nil, fmt.Errorf("job %s: %w", j.Key, err)
	case j.State == scheduler.Disabled && (b == nil || b.NeedsOpen()):
		return v1.NewJob(j, j.Progress, r.shared.Store.Now()), nil
	case b == nil:
		if j, err = r.shared.steps.Settled(ctx, j); err != nil {
			return nil, fmt.Errorf("job %s: %w", k, err)
		}
		return v1.NewJob(j, j.Progress, r.shared.Store.Now()), nil
	}
	return r.shared.running(ctx, j, b, running), nil
}

// running returns the view of a job with its baton.
func (h *shared) running(ctx context.Context, j *scheduler.Job, b *scheduler.Baton, withWorker bool) *v1.Job {
	v := v1.NewRunning(j, b, withWorker, h.Store.Now())
	if closed := h.closed(ctx, j.Key.Collection); closed != "" {
		return v.Closed(b, closed)
	}
	return v
}

// open reports whether the jobs of a collection may run.
func (h *shared) open(ctx context.Context, collection string) bool {
	return h.closed(ctx, collection) == ""
}

// closed returns why the jobs of a collection do not run, or "". A damaged collection does not stop its jobs.
func (h *shared) closed(ctx context.Context, collection string) string {
	c, err := h.Collections.Get(ctx, collection)
	if err != nil {
		return ""
	}
	return c.Closed()
}

// exists returns ErrNotFound if a collection does not exist, and ErrInvalid for a name that none can have. A damaged
// collection exists.
func (h *shared) exists(ctx context.Context, collection string) error {
	if err := scheduler.ValidateCollection(collection); err != nil {
		return err
	}
	_, err := h.Collections.Get(ctx, collection)
	if _, damaged := errors.AsType[*scheduler.DamagedError](err); damaged {
		return nil
	}
	return err
}

// changeable returns a collection whose jobs and sources may change: it exists and is not being deleted.
func (h *shared) changeable(ctx context.Context, collection string) (*scheduler.Collection, error) {
	c, err := h.Collections.Get(ctx, collection)
	if errors.Is(err, scheduler.ErrNotFound) {
		err = fmt.Errorf("collection %s: %w; create it first", collection, scheduler.ErrNotFound)
	}
	if err == nil {
		err = c.CheckKept()
	}
	return c, err
}

// keys returns the jobs of a collection from the store's index, in no particular order.
func (r Reader) keys(ctx context.Context, collection string) (keys []scheduler.Key, err error) {
	err = r.shared.Store.EachJob(ctx, collection, func(k scheduler.Key) error { keys = append(keys, k); return nil })
	return keys, err
}

// batchKeys limits the definitions per request.
const batchKeys = 1024

// existing returns the first n of keys whose jobs exist. The store's index also has jobs that were deleted during the
// last hour.
func (r Reader) existing(ctx context.Context, keys []scheduler.Key, n int) ([]scheduler.Key, error) {
	var found []scheduler.Key
	for batch := range slices.Chunk(keys, min(max(n, 1), batchKeys)) {
		there := make(map[scheduler.Key]bool, len(batch))
		if err := r.shared.Store.LoadJobs(ctx, batch, func(st scheduler.Stored) { there[st.Key] = true }); err != nil {
			return nil, err
		}
		for _, k := range batch {
			if there[k] {
				found = append(found, k)
			}
		}
		if len(found) >= n {
			return found[:n], nil
		}
	}
	return found, nil
}

// If returns the service for requests that require a condition on their job or collection. The condition is checked
// atomically with the change. If it does not hold, the error is [scheduler.ErrPrecondition].
//
// The condition applies to Put, Patch, Enable, Disable, Turn, Delete and Trigger of a job, and to changes of a
// collection. It does not apply to the repetition of a published spec that was already applied.
func (s *Service) If(when scheduler.Condition) *Service {
	if when.IsZero() {
		return s
	}
	held := *s
	held.Editor.when, held.Runner.when, held.CollectionKeeper.when, held.SourceKeeper.when = when, when, when, when
	return &held
}

// meets checks the condition of a job's edit. cur is nil if the job does not exist.
func (e Editor) meets(k scheduler.Key, cur *scheduler.Job) error {
	return checkJob(e.when, k, cur)
}

func checkJob(when scheduler.Condition, k scheduler.Key, j *scheduler.Job) error {
	if when.IsZero() {
		return nil
	}
	etag := ""
	if j != nil {
		etag = j.ETag()
	}
	return when.Check("job "+k.String(), etag)
}

// meets checks whether a collection, which may be nil, can be changed, and the condition of the change.
func (c CollectionKeeper) meets(name string, cur *scheduler.Collection) error {
	etag := ""
	if cur != nil {
		if err := cur.CheckKept(); err != nil {
			return err
		}
		etag = cur.ETag()
	}
	return c.when.Check("collection "+name, etag)
}

// noCollection is the error of a change to a missing collection.
func noCollection(name string) error {
	return fmt.Errorf("collection %s: %w", name, scheduler.ErrNotFound)
}

// DetachedRun is a run that is concurrent with a job's schedule: it overlaps the next occurrence, is a manual run of a
// disabled job, or was started by events.
type DetachedRun struct {
	Nominal   time.Time
	Due       time.Time // of the current or the next attempt
	Manual    bool
	Resubmits string // id of the occurrence that it repeats; "": none
	Retry     int    // retries so far
	Running   bool   // a worker has it, and it is due
	Cause     string // the events that started it; "": the schedule or a user
	Ledger    string // the number of runs of its key, if the trigger limits them
}

// DetachedRuns returns the first 256 runs of the job that are concurrent with its schedule, earliest first; of more than
// 1024, running ones first. A missing or damaged job has none.
func (r Reader) DetachedRuns(ctx context.Context, k scheduler.Key) ([]DetachedRun, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	j, err := r.shared.load(ctx, k)
	_, damaged := errors.AsType[*scheduler.DamagedError](err)
	if damaged || errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	places, ledgers, err := r.detached(ctx, j)
	if err != nil {
		return nil, err
	}
	all, now := make([]DetachedRun, len(places)), r.shared.Store.Now()
	for i, p := range places {
		all[i] = runOf(k, p.Baton, p.Running, now)
		if c := p.Baton.Cause; c != nil && ledgers[c.Key] != nil {
			all[i].Ledger = ledgers[c.Key].Describe(c.Key)
		}
	}
	slices.SortFunc(all, func(a, b DetachedRun) int { return a.Nominal.Compare(b.Nominal) })
	return all[:min(len(all), detachedShown)], nil
}

func runOf(k scheduler.Key, b *scheduler.Baton, withWorker bool, now time.Time) DetachedRun {
	due := b.MayRun()
	d := DetachedRun{
		Nominal: b.Nominal.UTC(), Due: due.UTC(), Manual: b.Kind.IsManual(), Retry: b.Attempt, Running: withWorker && !due.After(now),
	}
	if b.Resubmits != nil {
		d.Resubmits = scheduler.OccurrenceID(k, b.Resubmits.Nominal)
	}
	if b.Cause != nil {
		d.Cause = b.Cause.Describe()
	}
	return d
}

// Reruns returns the active reruns of an occurrence of a job, as [Reader.DetachedRuns] does. The one in place of the next
// scheduled run is the last.
func (r Reader) Reruns(ctx context.Context, k scheduler.Key, occurrence string) ([]DetachedRun, error) {
	all, err := r.DetachedRuns(ctx, k)
	j, _ := r.shared.load(ctx, k)
	if err != nil || j == nil {
		return nil, err
	}
	b, running, err := r.plans.baton(ctx, j)
	if err != nil {
		return nil, err
	}
	if b != nil {
		all = append(all, runOf(k, b, running, r.shared.Store.Now()))
	}
	return slices.DeleteFunc(all, func(d DetachedRun) bool { return d.Resubmits != occurrence }), nil
}

// detachedShown is the most detached runs of a job that are shown.
const detachedShown = 256
