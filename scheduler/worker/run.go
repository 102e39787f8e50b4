package worker

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// run is a delivered baton on its way through this process. It is kept small, because a herd holds many runs that wait.
// course has the data of the few runs that are being processed.
type run struct {
	limits.Call
	*course // nil while the run is encoded

	delivery *scheduler.Delivery
	wake     time.Time // due time, while held
	packed   *scheduler.Packed // its encoded job for the attempt; nil: decoded
	lane     int32
	weight   int32 // size in bytes
	index    int32 // index in the timers' heap
	since    uint32 // count of changes when its job was read
	suspect  bool // it may have run before
	doubtful bool // the record of its attempt was written twice, so other workers may have continued from it
	faulted  bool // the history already has a fault of its occurrence
}

// course is the data of a run in progress.
type course struct {
	baton   scheduler.Baton
	known   *scheduler.Job // its job, while held and unchanged
	latest  *scheduler.Job // its job at the start of the wait for a slot
	job     *scheduler.Job // the definition of the attempt
	action  *scheduler.ActionSpec // the main action or an errorAction
	skipped []scheduler.Record // recorded before the attempt
	started time.Time // start of the attempt
	result  scheduler.Result // of the attempt
	attempt *scheduler.Record // record of the attempt
	current *scheduler.Job // the definition that step was decided for
	step    scheduler.Step // the next step

	halt context.CancelCauseFunc // cancels the attempt while it runs

	before, after *run // in [underway], during the attempt
}

// place identifies the message of a run.
type place struct {
	lane     int
	sequence uint64
}

func (r *run) place() place { return place{int(r.lane), r.delivery.Sequence} }

func (r *run) key() scheduler.Key { return r.delivery.Slot.Key }

// named returns the log attributes of r: more, its job, and its trace if any.
func (r *run) named(more ...any) []any {
	of := []any{"job", r.key().String()}
	if r.course != nil && r.baton.Trace != nil {
		of = append(of, "trace", r.baton.Trace.ID())
	}
	return append(of, more...)
}

// use sets the definition of the attempt.
func (r *run) use(j *scheduler.Job) {
	r.job, r.action = j, j.Def.Action.In(r.baton.Position())
	r.Target = r.action.Run.Target()
}

// jobOf returns the current job of r, or nil.
func (w *Worker) jobOf(r *run) (*scheduler.Job, error) {
	if r.latest != nil && w.jobs.Unchanged(r.key(), r.since) {
		return r.latest, nil
	}
	j, err := w.jobs.Current(w.settles, r.key(), r.baton.Revision)
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil //nolint:nilnil // absence is a valid result
	}
	return j, err
}

// definition returns the definition for the occurrence of b, with the defaults of the collection: the revision that armed b, or
// j if the store has deleted this revision.
func (w *Worker) definition(b *scheduler.Baton, j *scheduler.Job) *scheduler.Job {
	if j == nil {
		return nil
	}
	return w.cfg.Collections.InheritFor(w.settles, b, w.jobs.At(w.settles, b.Revision, j))
}

// weighs sets the size of r in bytes.
func (r *run) weighs(bytes int) { r.weight = int32(min(bytes, math.MaxInt32)) }
