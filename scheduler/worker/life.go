package worker

import (
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// stage is where a run is in its life. To enter it is to do what belongs there.
// That returns the next one, or nil when the run waits in a queue, which takes it
// on, or has left this process.
type stage interface {
	enter(w *Worker) stage
}

// The stages of a run, in order. Each is entered once.
//
//	received   the store has delivered the baton             received.go
//	   │       (definitions are read, many at once: loader.go)
//	held       in memory, until the exact instant            held.go
//	   │       (one timer for all of them)
//	admitted   scheduler.Decide: may it run, and what?       admitted.go
//	   │       (a slot of its target: package limits)
//	attempted  the action is called                          attempted.go
//	   │
//	recorded   the history has it; scheduler.After           recorded.go
//	   │
//	passed     the next baton is stored, this one is done    passed.go
//
// A run that is not to begin goes from admitted to passed, one that is found in
// the history from received to passed, one that has to wait for its target from
// admitted to passed (deferred.go), and one whose turn came too late from
// attempted back to admitted.
type (
	received  struct{ *run }
	held      struct{ *run }
	admitted  struct{ *run }
	attempted struct{ *run }
	recorded  struct{ *run }
	passed    struct{ *run }
)

// live takes a run through its life from a stage on, as far as it goes at once.
func (w *Worker) live(s stage) {
	for s != nil {
		s = s.enter(w)
	}
}

// liveOn is live in a goroutine of its own, for which a stop waits.
func (w *Worker) liveOn(s stage) { w.lives.Go(func() { w.live(s) }) }

// run is a delivered baton on its way through this process.
type run struct {
	limits.Call

	delivery *scheduler.Delivery
	baton    scheduler.Baton
	suspect  bool                  // it may have been run before
	job      *scheduler.Job        // the definition it runs under
	action   *scheduler.ActionSpec // of it, the main action or the errorAction
	skipped  []scheduler.Record    // on the way to the attempt, recorded before it
	changes  uint32                // of jobs like its own that were known when it began to wait for a slot
	started  time.Time             // when the attempt began
	result   scheduler.Result      // of the attempt
	current  *scheduler.Job        // the definition that what follows was decided for
	step     scheduler.Step        // what follows
}

// place names the message that a run came with.
type place struct {
	slot     scheduler.Slot
	sequence uint64
}

func (r *run) place() place { return place{r.delivery.Slot, r.delivery.Sequence} }

func (r *run) key() scheduler.Key { return r.delivery.Slot.Key }

// use sets the definition that r runs under.
func (r *run) use(j *scheduler.Job) {
	r.job, r.action = j, j.Def.Action.In(r.baton.Phase)
	r.Target = r.action.Run.Target()
}

// carry does what a decision says that does not let r run. j is the definition
// that it was made for.
func (w *Worker) carry(r *run, j *scheduler.Job, d scheduler.Decision) stage {
	switch d.Verdict {
	case scheduler.Drop:
		return w.ack(r)
	case scheduler.Orphan:
		return w.dropOrphan(r)
	case scheduler.Restart:
		r.step = j.Restart(w.definition(r, j), r.baton, time.Now())
	case scheduler.Run, scheduler.Detach, scheduler.Skip, scheduler.Wait, scheduler.Proceed:
		r.step = d.Step
	}
	r.current = j
	return passed{r}
}

// current returns the job of r as it is now, nil when there is none.
func (w *Worker) current(r *run) (*scheduler.Job, error) {
	j, err := w.jobs.Current(w.settles, r.key(), r.baton.Revision)
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil //nolint:nilnil // absence is an answer
	}
	return j, err
}

// definition returns the one that r's baton was armed with, or, when that is not
// kept any more, j.
func (w *Worker) definition(r *run, j *scheduler.Job) *scheduler.Job {
	if j == nil {
		return nil
	}
	return w.jobs.At(w.settles, r.baton.Revision, j)
}
