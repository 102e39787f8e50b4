package worker

import (
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// stage is a run in one of the places of its life.
type stage any

// The stages of a run's life, in order. Each is in a file of its name.
type (
	received  struct{ *run } // the store has delivered the baton
	held      struct{ *run } // it is known, and waits in memory for its exact instant
	crowded   struct{ *run } // it is off the straight way: the memory is full of others, and it waits outside until it is almost due
	admitted  struct{ *run } // it is due: package scheduler decides whether it may run
	attempted struct{ *run } // it has a slot of its target: the action is called
	recorded  struct{ *run } // the attempt is over: the history gets it, and what follows is decided
	passed    struct{ *run } // what follows is known: the next baton is stored, this one acknowledged

	// deferred is off the straight way: the target's limits do not let it run.
	deferred struct {
		*run
		limits.Deferral
	}
)

// live takes a run through its life from a stage on, until it waits in a queue,
// which takes it on, or has left this process.
//
//nolint:contextcheck,nolintlint // a run ends with the worker; the finding is where it is called
func (w *Worker) live(s stage) {
	for s != nil {
		switch at := s.(type) {
		case received: // → held; or passed, when the history has the attempt already
			s = w.receive(at.run)
		case held: // → admitted, by the timers
			s = w.hold(at.run)
		case crowded: // the end
			s = w.letWait(at.run)
		case admitted: // → attempted or deferred, by the limiter; or passed, when it does not run
			s = w.admit(at.run)
		case deferred: // → passed
			s = w.sendBack(at.run, at.Deferral)
		case attempted: // → recorded; or admitted again, when its turn came too late
			s = w.attempt(at.run)
		case recorded: // → passed, shortly after, with others
			w.pace.join()
			s = w.record(at.run)
		case passed: // the end
			s = w.pass(at.run)
		}
	}
}

// connect makes the queues between the stages, which take runs on.
func (w *Worker) connect() {
	w.loader = newLoader(w.jobs, func(r *run) {
		w.know(r)
		w.live(held{r})
	})
	w.timers = newTimers(w.due) // admitted
	w.limiter = limits.New(limits.Config[*run]{
		Concurrency: w.cfg.Concurrency, PerTarget: w.cfg.PerTarget,
		Start: func(r *run) { w.liveOn(attempted{r}) },
		Defer: func(r *run, d limits.Deferral) { w.liveOn(deferred{r, d}) },
	})
}

// liveOn is live in a goroutine of its own, for which a stop waits.
func (w *Worker) liveOn(s stage) { w.lives.Go(func() { w.live(s) }) }

// run is a delivered baton on its way through this process.
type run struct {
	limits.Call

	delivery *scheduler.Delivery
	baton    scheduler.Baton
	weight   int                   // bytes that it counts for in the room
	index    int                   // among what is held
	suspect  bool                  // it may have been run before
	known    *scheduler.Job        // while it is held: its job, as long as that has not changed
	since    uint32                // the changes of jobs like its own that were known then
	job      *scheduler.Job        // the definition it runs under
	action   *scheduler.ActionSpec // of it, the main action or an errorAction
	skipped  []scheduler.Record    // on the way to the attempt, recorded before it
	changes  uint32                // of jobs like its own that were known when it began to wait for a slot
	started  time.Time             // when the attempt began
	result   scheduler.Result      // of the attempt
	attempt  *scheduler.Record     // of it, in the history
	faulted  bool                  // the history says already that its occurrence faulted
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
	r.job, r.action = j, j.Def.Action.In(r.baton.Position())
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
	case scheduler.Astray:
		return w.astray(r)
	case scheduler.Restart:
		old := j
		if !r.baton.Gap.IsZero() || r.baton.PostponementRecorded {
			old = w.definition(r, j)
		}
		r.step = j.Restart(old, r.baton, time.Now())
	case scheduler.Run, scheduler.Detach, scheduler.Skip, scheduler.Wait, scheduler.Proceed:
		r.step = d.Step
	}
	r.current = j
	return passed{r}
}

// jobOf returns the job of r as it is now, nil when there is none.
func (w *Worker) jobOf(r *run) (*scheduler.Job, error) {
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
