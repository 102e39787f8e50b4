package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// ErrOvertaken states that a compare-and-set lost against an edit.
var ErrOvertaken = errors.New("overtaken")

// Config configures an [Executor]. Store, Secrets and Load are required.
type Config struct {
	Store   scheduler.Store
	Secrets scheduler.Sealer

	// Load reads the current job.
	Load func(ctx context.Context, k scheduler.Key) (*scheduler.Job, error)

	// Current returns a job of at least a revision, possibly from a cache. Default: Load.
	Current func(ctx context.Context, k scheduler.Key, atLeast uint64) (*scheduler.Job, error)

	// Persist runs a write to the store, and may repeat it. Default: run once.
	Persist func(ctx context.Context, k scheduler.Key, write func(context.Context) error) error

	// Pause waits until a merge is worth another try. It returns false if the process stops: another one merges. Default:
	// [flow.Pause].
	Pause func(ctx context.Context, d time.Duration) bool

	// OnRecord is called with every record after it is stored. Default: none.
	OnRecord func(*scheduler.Record)
}

// Executor executes steps.
type Executor struct {
	cfg Config

	mu     sync.Mutex
	bursts scheduler.BurstCounter // counts the armed batons

	merges flow.Combiner[scheduler.Key, merging]
}

// New returns an executor.
func New(cfg Config) *Executor {
	if cfg.Current == nil {
		cfg.Current = func(ctx context.Context, k scheduler.Key, _ uint64) (*scheduler.Job, error) { return cfg.Load(ctx, k) }
	}
	if cfg.Persist == nil {
		cfg.Persist = func(ctx context.Context, _ scheduler.Key, write func(context.Context) error) error { return write(ctx) }
	}
	if cfg.Pause == nil {
		cfg.Pause = flow.Pause
	}
	if cfg.OnRecord == nil {
		cfg.OnRecord = func(*scheduler.Record) {}
	}
	return &Executor{
		cfg: cfg, bursts: scheduler.BurstCounter{Waits: cfg.Store.Waits()},
		merges: flow.Combiner[scheduler.Key, merging]{Now: cfg.Store.Now},
	}
}

// From is the location of the baton that a step moves. If Waiting and Running are zero, the job has no baton.
type From struct {
	BatonKey scheduler.BatonKey
	Waiting  uint64           // sequence of the waiting baton; 0: none
	Firing   bool             // the server may be firing the waiting baton, see [scheduler.Stored.MayFire]
	Running  uint64           // sequence of the running baton; 0: none
	Baton    *scheduler.Baton // a detached run to merge, or the waiting baton from [Executor.Find]
	Schedule int              // schedule generation at the decision

	// Doubtful: nothing waits. Another process may have continued from the running or missing baton, and later runs may
	// have ended.
	Doubtful bool
}

// CarryOut writes the records of the step, unless the history has them, and then moves the job's baton or writes its
// end.
func (e *Executor) CarryOut(ctx context.Context, j *scheduler.Job, s scheduler.Step, from From) error {
	if err := e.Record(ctx, j, s.Records, true); err != nil {
		return err
	}
	if s.Next != nil && !s.Next.Gap.IsZero() {
		there, err := e.recordedSkips(ctx, j.Key, j.Incarnation(), scheduler.HistoryDepth)
		if err != nil {
			return err
		}
		gaps := map[int64]bool{} // by their Unix seconds
		for _, r := range there {
			gaps[r.Nominal.Unix()] = gaps[r.Nominal.Unix()] || r.Reason == scheduler.ReasonDST
		}
		next := j.PassRecordedGaps(*s.Next, gaps)
		s.Next = &next
	}
	return e.Move(ctx, j, s, from)
}

// Record writes the records of a decision about j, in order. It omits skipped times that the history already has: an edit that
// was interrupted may have recorded the times of a schedule last. If doubtful, it looks further back, also for the times of a
// trigger.
func (e *Executor) Record(ctx context.Context, j *scheduler.Job, records []scheduler.Record, doubtful bool) error {
	records, err := e.unrecorded(ctx, j, records, doubtful)
	if err != nil {
		return err
	}
	for i := range records {
		if _, err := e.Append(ctx, &records[i]); err != nil {
			return err
		}
	}
	return nil
}

// Append writes a record. The response to a first try may have been lost, so a repetition first searches the history.
// again reports a repetition: in the meantime, another process may have continued from the record.
func (e *Executor) Append(ctx context.Context, r *scheduler.Record) (again bool, err error) {
	tried := false
	err = e.cfg.Persist(ctx, r.Job, func(ctx context.Context) error {
		if again = tried; again {
			if there, err := e.recorded(ctx, r); there || err != nil {
				return err
			}
		}
		tried = true
		return e.cfg.Store.Append(ctx, r)
	})
	if err == nil {
		e.cfg.OnRecord(r)
	}
	return again, err
}

// Move publishes the next baton of the step, writes the job's end, or merges a detached run. j is its last known
// definition.
func (e *Executor) Move(ctx context.Context, j *scheduler.Job, s scheduler.Step, from From) error {
	switch {
	case s.Merge:
		return e.merge(ctx, j.Key, from, s.Progress)
	case s.Next == nil:
		return e.end(ctx, j, s, from)
	}
	next, at := *s.Next, s.At
	if at.IsZero() {
		at = e.ArmAt(j, &next)
	}
	doubtful := from.Doubtful
	return e.cfg.Persist(ctx, j.Key, func(ctx context.Context) error {
		if doubtful && from.Running != 0 {
			if err := e.unmoved(ctx, from.BatonKey, next.UID); err != nil {
				return err
			}
		}
		next.Suspect = next.Suspect || doubtful
		doubtful = true // the response may be lost, and later runs may have ended before the repetition
		return e.publish(ctx, next.Encode(), at, from)
	})
}

// unmoved checks that an earlier try, whose response was lost, has not passed on the running baton: the waiting baton
// may have changed since, and must not be replaced. The error is [scheduler.ErrConflict] if a baton of the incarnation
// waits.
func (e *Executor) unmoved(ctx context.Context, slot scheduler.BatonKey, incarnation string) error {
	st, err := e.cfg.Store.Waiting(ctx, slot)
	switch {
	case err == nil && st.IsOf(incarnation):
		return fmt.Errorf("job %s: %w: its baton was passed on already", slot.Key, scheduler.ErrConflict)
	case err == nil, errors.Is(err, scheduler.ErrNotFound):
		return nil
	}
	return err
}

// ArmAt returns when JetStream fires the baton b of j, and counts b for its herd. Zero means immediately.
func (e *Executor) ArmAt(j *scheduler.Job, b *scheduler.Baton) time.Time {
	due, now := b.Wake(), e.cfg.Store.Now()
	e.mu.Lock()
	before := e.bursts.Join(due, now)
	e.mu.Unlock()
	if j.Def.Overlap != scheduler.OverlapAllow { // counters are merged into it while it waits
		due = due.Add(-e.cfg.Store.Ahead())
	}
	return j.ArmAt(due, now, before)
}

// publish arms a baton for at, or fires it if at is zero.
func (e *Executor) publish(ctx context.Context, body []byte, at time.Time, from From) (err error) {
	ctx, span := tracing.Arm(ctx, from.BatonKey.Key, at)
	defer func() { span.End(err) }()
	switch {
	case from.Running != 0:
		return e.cfg.Store.Reschedule(ctx, from.BatonKey, body, at, from.Running)
	case at.IsZero():
		return e.cfg.Store.Fire(ctx, from.BatonKey, body, from.Waiting)
	}
	return e.cfg.Store.ScheduleAt(ctx, from.BatonKey, body, at, from.Waiting)
}

// EventAt returns a published event, or the event of a history record. [scheduler.ErrNotFound] if it is no longer stored.
func (e *Executor) EventAt(ctx context.Context, sequence uint64, record bool) (*scheduler.Event, error) {
	if !record {
		return e.cfg.Store.EventAt(ctx, sequence)
	}
	found, err := e.cfg.Store.RecordsAt(ctx, []uint64{sequence})
	if err != nil || len(found) == 0 {
		return nil, cmp.Or(err, scheduler.ErrNotFound)
	}
	end, _ := scheduler.EventOf(found[0])
	return &end, nil
}

// Hasten fires a waiting baton immediately. On a conflict, it has moved, which is not an error: its worker decides. A run
// that waits for its condition stays due when it was.
func (e *Executor) Hasten(ctx context.Context, slot scheduler.BatonKey, b scheduler.Baton, waiting uint64) error {
	now := e.cfg.Store.Now().UTC()
	if b.Unmet {
		b.DeferredUntil = now
	} else {
		b.Due, b.DeferredUntil, b.Queued = now, time.Time{}, false
	}
	err := e.cfg.Store.Fire(ctx, slot, b.Encode(), waiting)
	return scheduler.Ignore(err, scheduler.ErrConflict)
}

// recorded reports whether r is among its job's last records.
func (e *Executor) recorded(ctx context.Context, r *scheduler.Record) (there bool, err error) {
	n := 0
	err = e.cfg.Store.Newest(ctx, r.Job, []scheduler.Outcome{r.Outcome}, func(other *scheduler.Record) bool {
		n++
		there = r.Same(other)
		return !there && n < scheduler.HistoryDepth
	})
	return there, err
}

// recordedSkips reads the last skipped records of a job, up to depth, and returns the incarnation's, oldest first.
func (e *Executor) recordedSkips(
	ctx context.Context, k scheduler.Key, incarnation string, depth int,
) (there []*scheduler.Record, err error) {
	err = e.cfg.Persist(ctx, k, func(ctx context.Context) error {
		n := 0
		there = nil
		return e.cfg.Store.Recent(ctx, k, 0, []scheduler.Outcome{scheduler.OutcomeSkipped}, func(r *scheduler.Record) bool {
			n++
			if r.UID == incarnation {
				there = append(there, r)
			}
			return n < depth
		})
	})
	slices.Reverse(there)
	return there, err
}

// unrecorded returns the records of a decision about j that the history lacks: a time is recorded as skipped only once,
// even if the process that recorded it ended before it passed the baton on.
func (e *Executor) unrecorded(
	ctx context.Context, j *scheduler.Job, records []scheduler.Record, doubtful bool,
) (left []scheduler.Record, err error) {
	omits := func(r scheduler.Record) bool {
		return r.Outcome == scheduler.OutcomeSkipped && (doubtful || r.Kind == scheduler.Planned)
	}
	first := slices.IndexFunc(records, omits)
	if first < 0 {
		return records, nil
	}
	depth := len(records)
	if doubtful {
		depth = scheduler.HistoryDepth
	}
	there, err := e.recordedSkips(ctx, records[first].Job, records[first].UID, depth)
	for _, r := range records {
		if !omits(r) || r.Beyond(there, j) {
			left = append(left, r)
		}
	}
	return left, err
}
