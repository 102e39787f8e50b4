package scheduler

import (
	"context"
	"errors"
	"sync"
	"time"
)

// endings writes down the final states of jobs behind their last attempts:
// while attempts wait for a slot, punctuality comes first.
//
// The baton is acknowledged before. To keep a lease for each ending was tried
// and rejected: the server looks after every unacknowledged message, and a herd
// of 100,000 took four times the processor time. An ending that is lost with
// the process is found again by the audit, at its restart or, by another
// replica, seconds after it took over: its job is enabled, has no baton, and
// the history says how it ended. So that there is something to take over, one
// baton, the witness, is kept until nothing is left to write.
type endings struct {
	write func(context.Context, ending)
	busy  func() bool

	mu      sync.Mutex
	queue   []ending
	open    int    // endings not written yet
	witness func() // acknowledges the baton that is kept
	wake    chan struct{}
}

// ending is the end of one job.
type ending struct {
	key      Key
	uid      string // of the job it was planned for
	schedule int    // the schedule generation, likewise
	step     Step
	since    time.Time
}

// The bounds of how endings are written.
const (
	endingWriters  = 64
	endingPause    = 5 * time.Millisecond
	endingPatience = 10 * time.Second // how long an ending waits for a quiet moment
)

func newEndings(write func(context.Context, ending), busy func() bool) *endings {
	return &endings{write: write, busy: busy, wake: make(chan struct{}, endingWriters)}
}

// add takes an ending to be written; ack acknowledges its baton.
func (e *endings) add(x ending, ack func()) {
	x.since = time.Now()
	e.mu.Lock()
	e.queue = append(e.queue, x)
	e.open++
	if e.witness == nil {
		e.witness, ack = ack, func() {}
	}
	e.mu.Unlock()
	ack()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// work writes endings until ctx is done, and then those that are left.
func (e *endings) work(ctx context.Context) {
	var writers sync.WaitGroup
	for range endingWriters {
		writers.Go(func() {
			for {
				select {
				case <-e.wake:
					e.drain(ctx)
				case <-ctx.Done():
					e.drain(ctx)
					return
				}
			}
		})
	}
	writers.Wait()
}

func (e *endings) drain(ctx context.Context) {
	for {
		x, ok := e.next()
		if !ok {
			return
		}
		for ctx.Err() == nil && e.busy() && time.Since(x.since) < endingPatience {
			pause(ctx, endingPause)
		}
		e.write(context.WithoutCancel(ctx), x)
		e.written()
	}
}

// written counts an ending off. With the last one the witness may go.
func (e *endings) written() {
	e.mu.Lock()
	e.open--
	ack := func() {}
	if e.open == 0 {
		ack, e.witness = e.witness, nil
	}
	e.mu.Unlock()
	ack()
}

func (e *endings) next() (ending, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		e.queue = nil
		return ending{}, false
	}
	x := e.queue[0]
	e.queue = e.queue[1:]
	return x, true
}

// writeEnding saves a final state. What cannot be written is left to the audit.
func (w *Worker) writeEnding(ctx context.Context, x ending) {
	ctx, cancel := context.WithTimeout(ctx, endingPatience)
	defer cancel()
	err := w.saveEnd(ctx, x, w.library.peek(x.key))
	w.library.forget(x.key)
	switch {
	case err == nil || errors.Is(err, ErrNotFound):
	case errors.Is(err, errOvertaken):
		w.cfg.OnTakeover() // the edit may have taken the baton that is acknowledged now for one that goes on
	default:
		w.log.Warn("the end of a job was not written; the audit will", "job", x.key.String(), "err", err)
	}
}

// saveEnd saves a job's last state by compare-and-set. j is the definition as
// it was last seen, nil to read it.
func (w *Worker) saveEnd(ctx context.Context, x ending, j *Job) (err error) {
	if j == nil {
		if j, err = w.library.load(ctx, x.key); err != nil {
			return err
		}
	}
	err = w.writeEnd(ctx, j, x)
	for errors.Is(err, ErrConflict) && ctx.Err() == nil {
		pause(ctx, endingPause)
		if j, err = w.library.load(ctx, x.key); err == nil {
			err = w.writeEnd(ctx, j, x)
		}
	}
	return err
}
