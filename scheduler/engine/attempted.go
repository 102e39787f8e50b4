package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/limits"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// errStopping is the cancellation cause of the attempts that a shutdown interrupts.
var errStopping = errors.New("the scheduler is stopping")

// attempt runs the action of a run that has a slot, and frees the slot.
func (w *Worker) attempt(r *run) stage {
	if !w.unrecorded.begin(w.attempts) {
		w.limiter.Forgo(r)
		return w.nak(r)
	}
	next := w.attemptOnce(r)
	if _, ran := next.(recorded); !ran {
		w.unrecorded.end(r)
	}
	return next
}

// attemptOnce runs the action of a run if it is still eligible.
func (w *Worker) attemptOnce(r *run) stage {
	if !r.delivery.Lease.Stands() {
		w.limiter.Forgo(r)
		return w.drop(r)
	}
	if r.isPacked() && !w.open(r) {
		w.limiter.Forgo(r)
		return admitted{r}
	}
	if r.Waited(w.cfg.Store.Now()) >= patience {
		switch w.eligibility(r) {
		case scheduler.Eligible:
		case scheduler.Gone:
			w.limiter.Forgo(r)
			return w.astray(r)
		case scheduler.Foreign:
			w.limiter.Forgo(r)
			return w.dropOrphan(r)
		case scheduler.JobEnded, scheduler.Dropped, scheduler.Closed:
			w.limiter.Forgo(r)
			return admitted{r} // decide again
		}
	}
	ctx, cancel := context.WithTimeout(w.attempts, r.job.Def.Timeout)
	defer cancel()
	state := r.runState
	state.canceled.Store(false)
	r.started, r.halt = w.cfg.Store.Now(), func() {
		state.canceled.Store(true)
		cancel()
	}
	w.underway.begin(r)
	if w.canceled(r) { // before it was listed
		w.underway.end(r)
		w.limiter.Forgo(r)
		return admitted{r}
	}
	redactor := &secrets.Redactor{}
	attempt := r.baton.AttemptOf(r.key())
	attempt.Timeout, attempt.Redact, attempt.Veiled = r.job.Def.Timeout, redactor.Add, redactor.Veiled
	attempt.Shared = func(name string) (string, error) { return w.cfg.Secrets.Shared(ctx, name) }
	within, spans := w.cfg.Tracer.Begin(ctx, tracing.Fired{
		Job: r.job, Baton: &r.baton, Action: r.action, Attempt: attempt, At: r.delivery.Fired, Wake: r.wake, Now: r.started,
	})
	attempt.Trace = spans.Context()
	began := time.Now()
	r.result = redactor.Clean(w.invoke(within, r.action.Run, attempt))
	w.underway.end(r)
	r.result.Duration = time.Since(began)
	r.result.Final = r.result.Failed && r.action.Retry.Final(r.result)
	spans.End(r.result, ctx.Err())
	if r.result.Failed && r.canceled.Load() {
		r.result.Message, r.result.Summary = "canceled while it ran", ""
		w.limiter.Forgo(r) // it says nothing about the target
	} else {
		w.limiter.Done(r, r.result)
	}
	if r.result.Failed && errors.Is(context.Cause(ctx), errStopping) {
		return w.nak(r) // interrupted by the shutdown, not by the target: repeated with the same idempotency key
	}
	r.baton.Trace = spans.Trace()
	w.unrecorded.wait(r)
	return recorded{r}
}

// canceled reports whether the occurrence of r was canceled since its job was read. If the job cannot be read now, the
// worker checks again after the attempt.
func (w *Worker) canceled(r *run) bool {
	if w.jobs.Unchanged(r.key(), r.since) {
		return false
	}
	j, err := w.jobs.Current(w.settles, r.key(), r.job.Revision)
	return err == nil && r.baton.BelongsTo(j) && j.Canceling(&r.baton) != nil
}

// invoke calls the action. A panic counts as a failed attempt.
func (w *Worker) invoke(ctx context.Context, action scheduler.Action, a scheduler.Attempt) (res scheduler.Result) {
	defer func() {
		if p := recover(); p != nil {
			w.log.ErrorContext(ctx, "action panicked", "job", a.Job.String(), "occurrence", a.Occurrence,
				"attempt", a.ID, "err", p, "stack", string(debug.Stack()))
			res = scheduler.Result{Failed: true, Message: fmt.Sprintf("the action panicked: %v", p)}
		}
	}()
	return action.Invoke(ctx, a)
}

// record records the skips before the attempt, then the attempt, and decides the next step.
func (w *Worker) record(r *run) stage {
	attempt, b := scheduler.AttemptRecord(r.job, r.baton, r.started, r.result)
	err := w.steps.Record(w.settles, r.job, r.skipped, r.suspect)
	if err == nil {
		r.doubtful, err = w.steps.Append(w.settles, attempt)
	}
	w.unrecorded.end(r)
	if err != nil {
		return w.nak(r)
	}
	r.skipped, r.attempt = nil, attempt
	j, err := w.jobOf(r)
	if err != nil {
		return w.retryLater(r, err) // the record shows the progress
	}
	if j == nil {
		if j, err = w.ranUnder(r); err != nil {
			return w.retryLater(r, err)
		}
	}
	r.baton = b
	d := scheduler.After(r.job, j, b, r.result, attempt.Ended)
	if r.faulted {
		d.Step = d.Step.WithoutFaulted()
	}
	return w.carry(r, j, d)
}

// recordPatience is how long an ended attempt may wait for its record before this worker stops starting attempts.
const recordPatience = time.Second

// unrecorded limits the attempts that a crash of this process would repeat: running ones, and ended ones without a
// record. They never exceed the number of slots. No attempt starts while a record has waited longer than
// recordPatience.
type unrecorded struct {
	most int

	mu    sync.Mutex
	freed sync.Cond
	begun int
	waits map[*run]time.Time // since when the record waits
	first time.Time          // no record has waited for longer than since first
}

func newUnrecorded(most int) *unrecorded {
	u := &unrecorded{most: most, waits: map[*run]time.Time{}}
	u.freed.L = &u.mu
	return u
}

// begin waits until an attempt may start. It returns false if ctx ends first.
func (u *unrecorded) begin(ctx context.Context) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.full() {
		stop := context.AfterFunc(ctx, func() {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.freed.Broadcast()
		})
		defer stop()
	}
	for u.full() && ctx.Err() == nil {
		u.freed.Wait()
	}
	if ctx.Err() != nil {
		return false
	}
	u.begun++
	return true
}

func (u *unrecorded) full() bool {
	if u.begun >= u.most {
		return true
	}
	now := time.Now()
	if now.Sub(u.first) <= recordPatience {
		return false
	}
	u.first = now
	for _, since := range u.waits {
		if since.Before(u.first) {
			u.first = since
		}
	}
	return now.Sub(u.first) > recordPatience
}

// wait notes that the attempt of r has ended and waits for its record.
func (u *unrecorded) wait(r *run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waits[r] = time.Now()
}

// end notes that the attempt of r is recorded, or leaves this process without a record.
func (u *unrecorded) end(r *run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.begun--
	delete(u.waits, r)
	u.freed.Broadcast()
}

const (
	// paceEvery limits how long an ended run waits for others. At 500 runs per second, ten settle together, for 40 % of
	// the server's work for ten single ones. Half the wait would save half as much.
	paceEvery = 20 * time.Millisecond

	// paceMost limits the waiting runs. A larger batch gains little, and after a crash the history lacks all waiting
	// attempts.
	paceMost = 16
)

// pace lets runs that end shortly after each other settle together. Their writes, and the responses, then share
// packets; each packet wakes a goroutine or two on either side, which is most of a run's cost at some hundred runs per
// second. A single run, or a herd, does not wait. The zero value is ready for use.
type pace struct {
	mu     sync.Mutex
	opened time.Time     // start of the current batch
	joined int           // runs since then
	gone   chan struct{} // closed when the waiting runs may continue; nil: none waits
}

// join returns when a run may settle.
func (p *pace) join() {
	if gone := p.company(time.Now()); gone != nil {
		<-gone
	}
}

// company returns the channel that a run must wait for; nil: it may continue.
func (p *pace) company(now time.Time) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil && now.Sub(p.opened) >= paceEvery {
		p.opened, p.joined = now, 0
	}
	p.joined++
	switch {
	case p.joined == 1, p.joined > paceMost:
		return nil
	case p.joined == paceMost:
		p.release()
		return nil
	case p.gone == nil:
		gone := make(chan struct{})
		p.gone = gone
		time.AfterFunc(p.opened.Add(paceEvery).Sub(now), func() { p.next(gone) })
	}
	return p.gone
}

// next releases the batch of gone, unless it is released. Later runs join the next batch.
func (p *pace) next(gone chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == gone {
		p.release()
		p.opened, p.joined = time.Now(), 1
	}
}

// release releases the waiting runs. The caller holds the lock.
func (p *pace) release() {
	if p.gone != nil {
		close(p.gone)
		p.gone = nil
	}
}

// How long a test run waits for a slot, and how often it tries.
const (
	trialPatience = 10 * time.Second
	trialLook     = 50 * time.Millisecond
)

// Try runs one attempt of an action now, independently of all jobs, and returns its result. It takes a slot of the
// target like any attempt and waits briefly for one. It records nothing, and a failure does not count against the
// target, because a job under test may itself be wrong. Without a slot it returns ErrConflict.
func (w *Worker) Try(ctx context.Context, action scheduler.Action, a scheduler.Attempt) (scheduler.Result, error) {
	r := &run{Call: limits.Call{Key: a.Job, Target: action.Target()}}
	r.Rule = w.cfg.Collections.Rule(a.Job.Collection, r.Target)
	for deadline := w.cfg.Store.Now().Add(trialPatience); ; {
		refused := w.limiter.Enter(r)
		if refused == nil {
			break
		}
		if refused.Hard || refused.Until.After(deadline) || w.cfg.Store.Now().After(deadline) {
			return scheduler.Result{}, fmt.Errorf("job %s: %w: no test run was made: %s", a.Job, scheduler.ErrConflict, refused.Why)
		}
		if !flow.Pause(ctx, trialLook) {
			return scheduler.Result{}, context.Cause(ctx)
		}
	}
	began := time.Now() // before the timeout begins: an attempt that timed out took at least that long
	limited, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	res := w.invoke(limited, action, a)
	res.Duration = time.Since(began)
	counted := res
	counted.SkipCircuit = counted.Failed
	w.limiter.Done(r, counted)
	return res, nil
}
