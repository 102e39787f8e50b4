package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/step"
)

// finalizer writes down the final states of jobs behind their last attempts:
// while attempts wait for a slot, punctuality comes first.
//
// The baton is acknowledged before. To keep a lease for each ending was tried
// and rejected: the server looks after every unacknowledged message, and a herd
// of 100,000 took four times the processor time. An ending that is lost with
// the process is found again by the audit, at its restart or, by another
// replica, seconds after it took over: its job is enabled, has no baton, and
// the history says how it ended. So that there is something to take over, one
// baton is kept until nothing is left to write.
type finalizer struct {
	write func(context.Context, scheduler.Ending)
	busy  func() bool

	mu    sync.Mutex
	queue []ending
	open  int    // endings not written yet
	kept  func() // acknowledges the baton that is kept
	wake  chan struct{}
}

// ending is one that waits for a quiet moment.
type ending struct {
	scheduler.Ending

	since time.Time
}

// The bounds of how endings are written.
const (
	finalWriters  = 64
	finalPause    = 5 * time.Millisecond
	finalPatience = 10 * time.Second // how long an ending waits for a quiet moment
)

func newFinalizer(write func(context.Context, scheduler.Ending), busy func() bool) *finalizer {
	return &finalizer{write: write, busy: busy, wake: make(chan struct{}, finalWriters)}
}

// add takes an ending to be written; ack acknowledges its baton.
func (f *finalizer) add(x scheduler.Ending, ack func()) {
	f.mu.Lock()
	f.queue = append(f.queue, ending{x, time.Now()})
	f.open++
	if f.kept == nil {
		f.kept, ack = ack, func() {}
	}
	f.mu.Unlock()
	ack()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// work writes endings until ctx is done, and then those that are left.
func (f *finalizer) work(ctx context.Context) {
	var writers sync.WaitGroup
	for range finalWriters {
		writers.Go(func() {
			for {
				select {
				case <-f.wake:
					f.drain(ctx)
				case <-ctx.Done():
					f.drain(ctx)
					return
				}
			}
		})
	}
	writers.Wait()
}

func (f *finalizer) drain(ctx context.Context) {
	for {
		x, ok := f.next()
		if !ok {
			return
		}
		for ctx.Err() == nil && f.busy() && time.Since(x.since) < finalPatience {
			intake.Pause(ctx, finalPause)
		}
		f.write(context.WithoutCancel(ctx), x.Ending)
		f.written()
	}
}

// written counts an ending off. With the last one the baton that is kept may go.
func (f *finalizer) written() {
	f.mu.Lock()
	f.open--
	ack := func() {}
	if f.open == 0 {
		ack, f.kept = f.kept, nil
	}
	f.mu.Unlock()
	ack()
}

func (f *finalizer) next() (ending, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		f.queue = nil
		return ending{}, false
	}
	x := f.queue[0]
	f.queue = f.queue[1:]
	return x, true
}

// finalize saves a final state. What cannot be written is left to the audit.
func (w *Worker) finalize(ctx context.Context, x scheduler.Ending) {
	ctx, cancel := context.WithTimeout(ctx, finalPatience)
	defer cancel()
	seen, _ := w.jobs.Peek(x.Key)
	err := w.steps.End(ctx, x, seen)
	w.jobs.Forget(x.Key)
	switch {
	case err == nil || errors.Is(err, scheduler.ErrNotFound):
	case errors.Is(err, step.ErrOvertaken):
		w.cfg.OnTakeover() // the edit may have taken the baton that is acknowledged now for one that goes on
	default:
		w.log.Warn("the end of a job was not written; the audit will", "job", x.Key.String(), "err", err)
	}
}
