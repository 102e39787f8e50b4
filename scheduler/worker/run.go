package worker

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// run is a delivered baton on its way through this process. A herd waits for its
// instant, and then for its slots, as many of these and no more: what is needed for
// one that is looked at is its course.
type run struct {
	limits.Call
	*course // nil while it is packed

	delivery *scheduler.Delivery
	wake     time.Time         // while it is held: when it is due
	packed   *scheduler.Packed // its job, which has yet to be read for the attempt; nil: it has not
	lane     int32
	weight   int32  // bytes that it counts for in the room
	index    int32  // among what is held
	since    uint32 // the changes of jobs like its own that were known when its job was looked at
	suspect  bool   // it may have been run before
	doubtful bool   // others may have gone on from the record of its attempt, which was written twice
	faulted  bool   // the history says already that its occurrence faulted
}

// course is what a run comes to.
type course struct {
	baton   scheduler.Baton
	known   *scheduler.Job        // while it is held: its job, as long as that has not changed
	latest  *scheduler.Job        // its job as it was when it began to wait for a slot
	job     *scheduler.Job        // the definition it runs under
	action  *scheduler.ActionSpec // of it, the main action or an errorAction
	skipped []scheduler.Record    // on the way to the attempt, recorded before it
	started time.Time             // when the attempt began
	result  scheduler.Result      // of the attempt
	attempt *scheduler.Record     // of it, in the history
	current *scheduler.Job        // the definition that what follows was decided for
	step    scheduler.Step        // what follows

	halt context.CancelCauseFunc // ends the attempt while it runs

	before, after *run // in [underway], while the attempt is
}

// place names the message that a run came with.
type place struct {
	lane     int
	sequence uint64
}

func (r *run) place() place { return place{int(r.lane), r.delivery.Sequence} }

func (r *run) key() scheduler.Key { return r.delivery.Slot.Key }

// named is what a log line says of r, beside more: its job, and its trace if it has one.
func (r *run) named(more ...any) []any {
	of := []any{"job", r.key().String()}
	if r.course != nil && r.baton.Trace != nil {
		of = append(of, "trace", r.baton.Trace.ID())
	}
	return append(of, more...)
}

// use sets the definition that r runs under.
func (r *run) use(j *scheduler.Job) {
	r.job, r.action = j, j.Def.Action.In(r.baton.Position())
	r.Target = r.action.Run.Target()
}

// jobOf returns the job of r as it is now, nil when there is none.
func (w *Worker) jobOf(r *run) (*scheduler.Job, error) {
	if r.latest != nil && w.jobs.Unchanged(r.key(), r.since) {
		return r.latest, nil
	}
	j, err := w.jobs.Current(w.settles, r.key(), r.baton.Revision)
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil //nolint:nilnil // absence is an answer
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

// weighs sets how many bytes r counts for.
func (r *run) weighs(bytes int) { r.weight = int32(min(bytes, math.MaxInt32)) }
