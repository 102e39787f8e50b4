package worker

import (
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
		case edited: // the end: these runs live on elsewhere
			w.abort(at)
			s = nil
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
	w.loader = newLoader(w.jobs, w.pack, func(r *run) {
		if r.packed == nil {
			w.know(r)
		}
		w.live(held{r})
	})
	w.crew = newCrew(w.cfg.Concurrency, w.live)
	w.timers = newTimers(w.cfg.Store.Now, w.due) // admitted
	w.limiter = limits.New(limits.Config[*run]{
		Concurrency: w.cfg.Concurrency, PerTarget: w.cfg.PerTarget, Now: w.cfg.Store.Now,
		Start: func(r *run) { w.liveOn(attempted{r}) },
		Defer: func(r *run, d limits.Deferral) { w.liveOn(deferred{r, d}) },
	})
}

// liveOn is live in a goroutine of its own, for which a stop waits.
func (w *Worker) liveOn(s stage) { w.crew.take(s) }

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
	case scheduler.Restart, scheduler.Run, scheduler.Detach, scheduler.Skip, scheduler.Wait, scheduler.Proceed:
		r.step = d.Step
	}
	r.current = j
	return passed{r}
}

// restart decides about r, whose baton was armed for another schedule than the one
// that j has now. That may have run already, when an edit which another one has
// overtaken armed the baton afterwards.
func (w *Worker) restart(r *run, j *scheduler.Job) (d scheduler.Decision, err error) {
	search, err := w.steps.Place(w.settles, j)
	if err != nil {
		return d, err
	}
	open := w.cfg.Collections.Open(r.key().Collection)
	d = search.Restart(w.definition(&r.baton, j), open, r.baton, w.cfg.Store.Now())
	if d.Verdict == scheduler.Proceed {
		r.baton.Schedule = j.ScheduleGen // what follows is of the present one, also the end
		r.attempt = search.Found
	}
	return d, nil
}
