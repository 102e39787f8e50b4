package step

import (
	"context"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// Snapshot is a snapshot of the batons of jobs, and of the last records of jobs without one.
type Snapshot struct {
	steps  *Executor
	batons map[scheduler.Key]batons
	last   map[scheduler.Key][]*scheduler.Record
}

// batons are a job's own batons at one instant.
type batons struct {
	scheduler.Found

	bad error // one of them cannot be decoded
}

// Maximum number of jobs per request to the store.
const (
	batonsAtOnce = 512
	lastAtOnce   = 1024 / 5 // 1,024 subjects: one for each of scheduler.PlaceOutcomes
)

// Snapshot takes a snapshot for jobs that are stored as enabled, and were read before. It needs one or two requests for
// several hundred jobs.
func (e *Executor) Snapshot(ctx context.Context, keys []scheduler.Key) (*Snapshot, error) {
	l := &Snapshot{e, make(map[scheduler.Key]batons, len(keys)), map[scheduler.Key][]*scheduler.Record{}}
	for chunk := range slices.Chunk(keys, batonsAtOnce) {
		if err := e.cfg.Store.FindBatons(ctx, chunk, l.load); err != nil {
			return nil, err
		}
	}
	var bare []scheduler.Key
	for _, k := range keys {
		if !l.Occupied(k) {
			bare = append(bare, k)
		}
	}
	for chunk := range slices.Chunk(bare, lastAtOnce) {
		take := func(r *scheduler.Record) { l.last[r.Job] = append(l.last[r.Job], r) }
		if err := e.cfg.Store.LastRecords(ctx, chunk, scheduler.PlaceOutcomes, take); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// load adds a baton.
func (l *Snapshot) load(st scheduler.Stored, running bool) {
	found := l.batons[st.Key]
	b, err := scheduler.DecodeBaton(st.Data)
	if err == nil {
		err = b.Check(scheduler.BatonKey{Key: st.Key})
	}
	switch {
	case err != nil:
		found.bad = err
	case running:
		found.Running = &b
	default:
		found.Waiting = &b
	}
	l.batons[st.Key] = found
}

// Occupied reports whether a baton occupies the place of the job's own.
func (l *Snapshot) Occupied(k scheduler.Key) bool {
	_, there := l.batons[k]
	return there
}

// Own is the result of a [Snapshot] for one job.
type Own struct {
	Baton      *scheduler.Baton     // nil: none, or one of another job
	Running    bool                 // a worker has the baton
	Lifecycle  scheduler.Lifecycle  // status of a job that is stored as enabled
	Completion scheduler.Completion // if Lifecycle is [scheduler.AtEnd]
	Bad        error                // error of decoding the baton; the other fields are then unset
}

// Job returns j with the end that its history contains, or else j.
func (o *Own) Job(j *scheduler.Job) *scheduler.Job {
	if o.Lifecycle != scheduler.AtEnd {
		return j
	}
	next, verdict := j.End(o.Completion)
	if verdict != scheduler.WriteCompletion {
		return j
	}
	return next
}

// Own returns the result for one of the jobs. A job whose attempt is recorded, but whose baton is not yet removed,
// counts as active.
func (l *Snapshot) Own(ctx context.Context, j *scheduler.Job) (o Own, err error) {
	found := l.batons[j.Key]
	var search *scheduler.PositionSearch
	switch b := found.Found; {
	case found.bad != nil:
		o.Bad = found.bad
		return o, nil //nolint:nilerr // reported in Bad
	case b.Waiting != nil && b.Waiting.BelongsTo(j):
		o.Baton = b.Waiting
	case b.Running != nil && b.Running.BelongsTo(j):
		o.Baton, o.Running = b.Running, true
	default:
		if search, err = l.place(ctx, j); err != nil {
			return o, err
		}
	}
	o.Lifecycle, o.Completion = j.Lifecycle(found.Found, search)
	return o, nil
}

// place is [Executor.Position] for a job without a baton. For nearly all jobs, the last records are sufficient.
func (l *Snapshot) place(ctx context.Context, j *scheduler.Job) (*scheduler.PositionSearch, error) {
	if !l.Occupied(j.Key) {
		if search := scheduler.NewPositionSearch(j); search.VisitLast(l.last[j.Key]) {
			return search, nil
		}
	}
	return l.steps.Position(ctx, j)
}

// Position searches the history for the schedule position of a job's own baton.
func (e *Executor) Position(ctx context.Context, j *scheduler.Job) (*scheduler.PositionSearch, error) {
	search := scheduler.NewPositionSearch(j)
	return search, e.cfg.Store.Recent(ctx, j.Key, 0, scheduler.PlaceOutcomes, search.Visit)
}

// Settled returns j with its end if the history contains it, even if the definition does not, or the baton still
// exists. A baton that cannot be decoded is left to its worker.
func (e *Executor) Settled(ctx context.Context, j *scheduler.Job) (*scheduler.Job, error) {
	j, _, err := e.Find(ctx, j)
	return j, err
}

// Waiting returns the value of a slot with the baton that waits in it, nil for none and for an unreadable one.
func (e *Executor) Waiting(ctx context.Context, slot scheduler.BatonKey) (st scheduler.Stored, b *scheduler.Baton, err error) {
	if st, err = e.cfg.Store.Waiting(ctx, slot); err == nil {
		if decoded, err := scheduler.DecodeBaton(st.Data); err == nil {
			b = &decoded
		}
	}
	return st, b, scheduler.Ignore(err, scheduler.ErrNotFound)
}

// Find is [Executor.Settled], and also returns the waiting baton of j with its sequence. Without one, from is zero.
func (e *Executor) Find(ctx context.Context, j *scheduler.Job) (_ *scheduler.Job, from From, err error) {
	if j.State != scheduler.Enabled {
		return j, from, nil
	}
	slot := scheduler.BatonKey{Key: j.Key}
	if st, b, err := e.Waiting(ctx, slot); err == nil && b != nil && b.Check(slot) == nil && b.BelongsTo(j) { // cheaper than Visit
		return j, From{BatonKey: slot, Waiting: st.Revision, Baton: b}, nil
	}
	look, err := e.Snapshot(ctx, []scheduler.Key{j.Key})
	if err != nil {
		return nil, from, err
	}
	own, err := look.Own(ctx, j)
	if err == nil && own.Running {
		var search *scheduler.PositionSearch
		if search, err = e.Position(ctx, j); err == nil {
			own.Lifecycle, own.Completion = j.Lifecycle(scheduler.Found{Running: own.Baton}, search)
		}
	}
	if err != nil {
		return nil, from, err
	}
	return own.Job(j), from, nil
}
