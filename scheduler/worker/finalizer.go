package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/step"
)

// finalizer writes the final forms of jobs whose ends the history tells, when there
// is leisure: nobody waits for them, as everybody asks the history ([scheduler.Job.Course]).
// A job is kept for a while after its end, and then expires; that begins with its
// final form.
//
// What is here when the process dies, or does not fit, the next audit finds: the job
// is enabled, has no baton, and its last record ended it.
type finalizer struct {
	write func(ctx context.Context, endings []scheduler.Ending, again bool) error // again: the last batch was not taken
	busy  func() bool

	mu    sync.Mutex
	queue []ending
	over  bool // some did not fit
	wake  chan struct{}
}

// ending is one that waits for leisure.
type ending struct {
	scheduler.Ending

	since time.Time
}

// The bounds of how endings are written.
const (
	finalKept = 1 << 17 // endings in memory, about 300 bytes each

	// Leisure is when nothing was to be done for finalQuiet, looked for every
	// finalLook. Where it never comes, as when jobs end all the time, an ending
	// waits for finalPatience.
	finalQuiet    = 250 * time.Millisecond
	finalLook     = 50 * time.Millisecond
	finalPatience = 10 * time.Second

	finalAway   = 5 * time.Second        // until what the store did not take is tried again
	finalMoment = 500 * time.Millisecond // for what is left when the worker stops
)

func newFinalizer(write func(context.Context, []scheduler.Ending, bool) error, busy func() bool) *finalizer {
	return &finalizer{write: write, busy: busy, wake: make(chan struct{}, 1)}
}

// add takes an ending to be written. It does not block.
func (f *finalizer) add(x scheduler.Ending) {
	f.mu.Lock()
	if len(f.queue) < finalKept {
		f.queue = append(f.queue, ending{x, time.Now()})
	} else {
		f.over = true
	}
	first := len(f.queue) == 1
	f.mu.Unlock()
	if !first {
		return
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// work writes endings until ctx is done, and then of those that are left what takes
// a moment. rest is called when some were left to an audit.
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
			err := f.write(context.WithoutCancel(ctx), plain(batch), away)
			if away = errors.Is(err, scheduler.ErrUnavailable); away {
				f.back(batch)
				intake.Pause(ctx, finalAway)
				continue
			}
			step.Rest(ctx, time.Since(began))
		}
		if f.rested() {
			rest()
		}
	}
}

// flush writes what it can in a moment.
func (f *finalizer) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finalMoment)
	defer cancel()
	for batch := f.next(); len(batch) > 0 && ctx.Err() == nil; batch = f.next() {
		_ = f.write(ctx, plain(batch), true) // nobody is left to try again
	}
}

// leisure waits until there is, or the oldest ending has waited for too long. quiet
// says whether there was for the batch before: then there is until the worker is
// busy again. False when ctx is done before.
func (f *finalizer) leisure(ctx context.Context, quiet *bool) bool {
	*quiet = *quiet && !f.busy()
	for was := time.Duration(0); !*quiet && time.Since(f.oldest()) < finalPatience; *quiet = was >= finalQuiet {
		if !intake.Pause(ctx, finalLook) {
			return false
		}
		if was += finalLook; f.busy() {
			was = 0
		}
	}
	return ctx.Err() == nil
}

// oldest is since when the first ending waits; zero without any.
func (f *finalizer) oldest() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return time.Time{}
	}
	return f.queue[0].since
}

// next takes a batch from the queue.
func (f *finalizer) next() []ending {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(f.queue), step.EndBatch)
	batch := slices.Clone(f.queue[:n])
	clear(f.queue[:n])
	if f.queue = f.queue[n:]; len(f.queue) == 0 {
		f.queue = nil
	}
	return batch
}

// back returns a batch to the queue, behind those that may fare better.
func (f *finalizer) back(batch []ending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, batch...)
}

// plain is a batch without since when it waits.
func plain(batch []ending) []scheduler.Ending {
	endings := make([]scheduler.Ending, len(batch))
	for i, x := range batch {
		endings[i] = x.Ending
	}
	return endings
}

// rested reports, once, whether some did not fit.
func (f *finalizer) rested() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	over := f.over && len(f.queue) == 0
	f.over = f.over && !over
	return over
}

// finalize writes final forms. That the store is away is told once; what else cannot
// be written is left to the audit.
func (w *Worker) finalize(ctx context.Context, endings []scheduler.Ending, again bool) error {
	bounded, cancel := context.WithTimeout(ctx, finalPatience)
	defer cancel()
	overtaken, err := w.steps.EndAll(bounded, endings)
	if overtaken > 0 && !errors.Is(err, scheduler.ErrUnavailable) { // else they are counted when it is tried again
		w.cfg.OnTakeover() // an edit may have taken a baton that was about to go for one that goes on
	}
	if err != nil && !again && ctx.Err() == nil { // else the moment was over that a worker has which stops
		w.log.Warn("the ends of jobs are not written yet", "first", endings[0].Key.String(), "err", err)
	}
	return err
}

// busy reports whether there is better to do than to write final forms: attempts
// wait for a slot, definitions of batons that have come are to be read, or a baton
// that is held is due in a moment.
func (w *Worker) busy() bool {
	return w.limiter.Backlog() || w.loader.pending() || w.timers.within(finalLook) || w.room.Size() > w.cfg.HoldMemory/2
}
