package engine

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/limits"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// stage is a run at a stage of its lifecycle.
type stage any

// The stages of a run, in order.
type (
	received  struct{ *run } // the store has delivered the baton
	held      struct{ *run } // the run waits in memory until it is due
	crowded   struct{ *run } // spilled: the memory is full, so the run waits outside the process until it is almost due
	admitted  struct{ *run } // the run is due: package scheduler decides whether it runs
	attempted struct{ *run } // the run has a slot: the worker calls the action
	recorded  struct{ *run } // the attempt has ended: the worker records it and decides the next step
	passed    struct{ *run } // the next step is known: the worker stores the next baton and acknowledges this one

	// deferred is a run that its target's limits hold back.
	deferred struct {
		*run
		limits.Deferral
	}
)

// live takes a run through its stages until it waits in a queue or leaves the process.
//
//nolint:contextcheck,nolintlint // a run ends with the worker; the finding is where it is called
func (w *Worker) live(s stage) {
	for s != nil {
		switch at := s.(type) {
		case received: // → held; or passed if the history already has the attempt
			s = w.receive(at.run)
		case held: // → admitted by the timers
			s = w.hold(at.run)
		case crowded: // final
			s = w.letWait(at.run)
		case admitted: // → attempted or deferred by the limiter; or passed if it does not run
			s = w.admit(at.run)
		case deferred: // → passed
			s = w.sendBack(at.run, at.Deferral)
		case attempted: // → recorded; or admitted again after a long wait for the slot
			s = w.attempt(at.run)
		case edited: // final: these runs continue elsewhere
			w.abort(at)
			s = nil
		case recorded: // → passed, shortly after, together with others
			w.pace.join()
			s = w.record(at.run)
		case passed: // final
			s = w.pass(at.run)
		}
	}
}

// connect creates the queues between the stages.
func (w *Worker) connect() {
	w.loader = newLoader(w.jobs, w.pack, func(r *run) {
		if !r.isPacked() {
			w.know(r)
		}
		w.live(held{r})
	})
	w.pool = flow.NewWorkerPool(w.cfg.Concurrency, w.live)
	w.timers = newTimers(w.cfg.Store.Now, w.due) // admitted
	w.limiter = limits.New(limits.Config[*run]{
		Concurrency: w.cfg.Concurrency, PerTarget: w.cfg.PerTarget, Now: w.cfg.Store.Now,
		Start: func(r *run) { w.liveOn(attempted{r}) },
		Defer: func(r *run, d limits.Deferral) { w.liveOn(deferred{r, d}) },
	})
}

// liveOn continues a run in a separate goroutine, for which a shutdown waits.
func (w *Worker) liveOn(s stage) { w.pool.Run(s) }

// carry executes a decision not to run r. j is the definition that it was made for.
func (w *Worker) carry(r *run, j *scheduler.Job, d scheduler.Decision) stage {
	switch d.Verdict {
	case scheduler.Drop:
		return w.ack(r)
	case scheduler.Orphan:
		return w.dropOrphan(r)
	case scheduler.Astray:
		return w.astray(r)
	case scheduler.Restart, scheduler.Ask, scheduler.Run, scheduler.Detach, scheduler.Skip, scheduler.Wait, scheduler.Proceed:
		r.step = d.Step
	}
	r.current = j
	return passed{r}
}

// restart decides about r, whose baton was armed for another schedule than j's current one. The current schedule may
// already have run: an overtaken edit may have armed the baton later.
func (w *Worker) restart(r *run, j *scheduler.Job) (d scheduler.Decision, err error) {
	search, err := w.steps.Position(w.settles, j)
	if err != nil {
		return d, err
	}
	open := w.cfg.Collections.Open(r.key().Collection)
	d = search.Restart(w.definition(&r.baton, j), open, r.baton, w.cfg.Store.Now())
	if d.Verdict == scheduler.Proceed {
		r.baton.Schedule = j.ScheduleGen // subsequent steps, including the end, belong to the current schedule
		r.attempt = search.Found
	}
	return d, nil
}

// run is a delivered baton on its way through this process. It is kept small, because a herd holds many runs that wait.
// runState has the data of the few runs that are being processed.
type run struct {
	limits.Call
	*runState // nil while the run is encoded

	delivery scheduler.Delivery
	wake     time.Time        // due time, while held
	packed   scheduler.Packed // its encoded job for the attempt, if any
	lane     int32
	weight   int32  // size in bytes
	index    int32  // index in the timers' heap
	since    uint32 // count of changes when its job was read
	suspect  bool   // it may have run before
	doubtful bool   // the record of its attempt was written twice, so other workers may have continued from it
	faulted  bool   // the history already has a fault of its occurrence
}

// runState is the data of a run in progress.
type runState struct {
	baton   scheduler.Baton
	known   *scheduler.Job        // its job, while held and unchanged
	latest  *scheduler.Job        // its job at the start of the wait for a slot
	job     *scheduler.Job        // the definition of the attempt
	action  *scheduler.ActionSpec // the main action or an errorAction
	skipped []scheduler.Record    // recorded before the attempt
	started time.Time             // start of the attempt
	result  scheduler.Result      // of the attempt
	attempt *scheduler.Record     // record of the attempt
	current *scheduler.Job        // the definition that step was decided for
	step    scheduler.Step        // the next step

	halt     func()      // cancels the attempt while it runs, because a user canceled its occurrence
	canceled atomic.Bool // halt was called
}

// isPacked reports whether r is held in encoded form.
func (r *run) isPacked() bool { return r.packed.Data != nil }

// place identifies the message of a run.
type place struct {
	lane     int
	sequence uint64
}

func (r *run) place() place { return place{int(r.lane), r.delivery.Sequence} }

func (r *run) key() scheduler.Key { return r.delivery.BatonKey.Key }

// named returns the log attributes of r: more, its job, and its trace if any.
func (r *run) named(more ...any) []any {
	of := []any{"job", r.key().String()}
	if r.runState != nil && r.baton.Trace != nil {
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
	j, err := w.jobs.Current(w.settles, r.key(), max(r.baton.Revision, r.baton.Edit))
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
