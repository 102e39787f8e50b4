package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// finalizer writes the final forms of ended jobs in the background. No client waits for them, because readers derive
// the end from the history ([scheduler.Job.Lifecycle]). The final form starts the period after which the job expires.
//
// If the process stops first, or the buffer is full, the next consistency check finds the job: it is enabled, has no
// baton, and its last record ended it.
type finalizer struct {
	write func(ctx context.Context, endings []scheduler.Completion, again bool) error // again: the last batch failed
	busy  func() bool

	mu         sync.Mutex
	queue      []endings
	size       int  // number of buffered endings
	overflowed bool // some endings did not fit
	wake       chan struct{}
}

// endings is a batch of completions that wait to be written.
type endings struct {
	all   []scheduler.Completion
	since time.Time // when the first one was added
}

// The limits of the finalizer.
const (
	finalKept = 1 << 17 // buffered endings, about 300 bytes each

	// The finalizer writes when the worker has been idle for finalQuiet; it checks every finalLook. On a worker that is
	// never idle, an ending waits for at most finalPatience.
	finalQuiet    = 250 * time.Millisecond
	finalLook     = 50 * time.Millisecond
	finalPatience = 10 * time.Second

	finalAway   = 5 * time.Second        // pause after a failed write
	finalMoment = 500 * time.Millisecond // time for the remaining endings during shutdown
)

func newFinalizer(write func(context.Context, []scheduler.Completion, bool) error, busy func() bool) *finalizer {
	return &finalizer{write: write, busy: busy, wake: make(chan struct{}, 1)}
}

// add buffers an ending. It does not block.
func (f *finalizer) add(x scheduler.Completion) {
	f.mu.Lock()
	if f.size < finalKept {
		f.keep(x)
	} else {
		f.overflowed = true
	}
	first := f.size == 1
	f.mu.Unlock()
	if first {
		flow.Signal(f.wake)
	}
}

// keep adds an ending to the last batch. The caller holds mu.
func (f *finalizer) keep(x scheduler.Completion) {
	last := len(f.queue) - 1
	if last < 0 || len(f.queue[last].all) >= step.EndBatch {
		f.queue = append(f.queue, endings{make([]scheduler.Completion, 0, min(1+f.size, step.EndBatch)), time.Now()})
		last++
	}
	f.queue[last].all = append(f.queue[last].all, x)
	f.size++
}

// work writes endings until ctx is done, then spends a moment on the remaining ones. It calls rest if some are left to
// a consistency check.
func (f *finalizer) work(ctx context.Context, rest func()) {
	for {
		select {
		case <-f.wake:
		case <-ctx.Done():
			f.flush(context.WithoutCancel(ctx))
			return
		}
		for quiet, away := false, false; !f.oldest().IsZero() && f.leisure(ctx, &quiet); {
			began, batch := time.Now(), f.next()
			err := f.write(context.WithoutCancel(ctx), batch.all, away)
			if away = errors.Is(err, scheduler.ErrUnavailable); away {
				f.back(batch)
				flow.Pause(ctx, finalAway)
				continue
			}
			step.Rest(ctx, time.Since(began))
		}
		if f.rested() {
			rest()
		}
	}
}

// flush writes as many ends as it can in a short time.
func (f *finalizer) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finalMoment)
	defer cancel()
	for batch := f.next(); len(batch.all) > 0 && ctx.Err() == nil; batch = f.next() {
		_ = f.write(ctx, batch.all, true) // this is the last attempt
	}
}

// leisure waits until the worker is idle or the oldest ending has waited too long. quiet states whether the worker was
// idle for the previous batch: then it counts as idle until it is busy again. leisure returns false if ctx is done
// first.
func (f *finalizer) leisure(ctx context.Context, quiet *bool) bool {
	*quiet = *quiet && !f.busy()
	for was := time.Duration(0); !*quiet && time.Since(f.oldest()) < finalPatience; *quiet = was >= finalQuiet {
		if !flow.Pause(ctx, finalLook) {
			return false
		}
		if was += finalLook; f.busy() {
			was = 0
		}
	}
	return ctx.Err() == nil
}

// oldest returns when the first ending was added, or zero without any.
func (f *finalizer) oldest() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return time.Time{}
	}
	return f.queue[0].since
}

// next takes a batch from the queue.
func (f *finalizer) next() (batch endings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) > 0 {
		batch, f.queue[0] = f.queue[0], endings{}
		f.queue = f.queue[1:]
		f.size -= len(batch.all)
	}
	return batch
}

// back returns a batch to the end of the queue, so that others are tried first.
func (f *finalizer) back(batch endings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, batch)
	f.size += len(batch.all)
}

// rested reports, once, whether some endings did not fit.
func (f *finalizer) rested() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	over := f.overflowed && len(f.queue) == 0
	f.overflowed = f.overflowed && !over
	return over
}

// finalize writes final forms. It logs an unavailable store once, and leaves other failures to the consistency check.
func (w *Worker) finalize(ctx context.Context, endings []scheduler.Completion, again bool) error {
	bounded, cancel := context.WithTimeout(ctx, finalPatience)
	defer cancel()
	overtaken, err := w.steps.EndAll(bounded, endings)
	if overtaken > 0 && !errors.Is(err, scheduler.ErrUnavailable) { // otherwise they are counted when the batch is retried
		w.cfg.OnTakeover() // an edit may have adopted a baton that was about to be removed
	}
	if err != nil && !again && ctx.Err() == nil { // otherwise the shutdown timed out
		w.log.Warn("the ends of jobs are not written yet", "first", endings[0].Key.String(), "err", err)
	}
	return err
}

// busy reports whether the worker has more urgent work: attempts wait for a slot, definitions are being read, or a held
// baton is due soon.
func (w *Worker) busy() bool {
	return w.limiter.Backlog() || w.loader.pending() || w.timers.within(finalLook) || w.buffer.Size() > w.cfg.HoldMemory/2
}
