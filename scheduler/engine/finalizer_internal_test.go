package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
)

// writing is a finalizer at work.
type writing struct {
	*finalizer

	busy   atomic.Bool
	rested atomic.Int32
	stop   context.CancelFunc
	ended  sync.WaitGroup

	mu      sync.Mutex
	written int
	largest int // batch
	away    bool
	told    int // batches that were not taken after one that was
}

func (w *writing) setAway(away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = away
}

// newWriting runs a finalizer whose batches take so long.
func newWriting(t *testing.T, took time.Duration) *writing {
	t.Helper()
	w := &writing{}
	w.finalizer = newFinalizer(func(_ context.Context, batch []scheduler.Completion, again bool) error {
		time.Sleep(took)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.away {
			if !again {
				w.told++
			}
			return scheduler.ErrUnavailable
		}
		w.written += len(batch)
		w.largest = max(w.largest, len(batch))
		return nil
	}, w.busy.Load)
	ctx, cancel := context.WithCancel(t.Context())
	w.stop = cancel
	w.ended.Go(func() { w.work(ctx, func() { w.rested.Add(1) }) })
	t.Cleanup(w.end)
	return w
}

// end stops the finalizer and returns when it has ended.
func (w *writing) end() { w.stop(); w.ended.Wait() }

func (w *writing) addAll(n int) {
	for i := range n {
		w.add(scheduler.Completion{Key: scheduler.Key{Collection: "c", Job: fmt.Sprint("j", i)}})
	}
}

func (w *writing) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written
}

// TestFinalizerWaitsForLeisure: nothing is written while there is better to do, for ten seconds at most, and soon after.
func TestFinalizerWaitsForLeisure(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := newWriting(t, 0)
		w.busy.Store(true)
		w.addAll(1000)
		time.Sleep(5 * time.Second)
		if n := w.count(); n != 0 {
			t.Errorf("%d written while it was busy", n)
		}
		w.busy.Store(false)
		time.Sleep(finalQuiet - 2*finalLook)
		if n := w.count(); n != 0 {
			t.Errorf("%d written at once", n)
		}
		time.Sleep(time.Second)
		if n := w.count(); n != 1000 || w.largest != step.EndBatch {
			t.Errorf("%d written in batches of %d", n, w.largest)
		}
		w.busy.Store(true)
		w.addAll(1)
		time.Sleep(finalPatience + time.Second)
		if n := w.count(); n != 1001 {
			t.Errorf("%d written after its patience", n)
		}
	})
}

// TestFinalizerStepsBack: what falls due while endings are written comes first.
func TestFinalizerStepsBack(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := newWriting(t, 10*time.Millisecond)
		w.addAll(1000 * step.EndBatch)
		time.Sleep(time.Second)
		w.busy.Store(true)
		time.Sleep(100 * time.Millisecond)
		before := w.count()
		time.Sleep(5 * time.Second)
		if n := w.count(); before == 0 || n != before {
			t.Errorf("%d written before, %d while it was busy", before, n-before)
		}
	})
}

// TestFinalizerTakesAQuarterOfTheTime: batches that take long have others work three times as long in between.
func TestFinalizerTakesAQuarterOfTheTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := newWriting(t, 100*time.Millisecond)
		w.addAll(20 * step.EndBatch)
		time.Sleep(4 * time.Second)
		if batches := w.count() / step.EndBatch; batches < 5 || batches > 10 {
			t.Errorf("%d batches of a tenth of a second in four seconds", batches)
		}
	})
}

// TestFinalizerStops: a worker that stops writes what it can in a moment, and leaves the rest.
func TestFinalizerStops(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := newWriting(t, 100*time.Millisecond)
		w.busy.Store(true)
		w.addAll(100 * step.EndBatch)
		time.Sleep(time.Second)
		began := time.Now()
		w.end()
		if took, n := time.Since(began), w.count(); took > 2*finalMoment || n < step.EndBatch || n > 10*step.EndBatch {
			t.Errorf("%d written in %s", n, took)
		}
	})
}

// TestFinalizerIsBounded: what does not fit is left to an audit, which is asked for once when the rest is written.
func TestFinalizerIsBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := newWriting(t, 0)
		w.busy.Store(true)
		w.addAll(finalKept + 10)
		if n := w.rested.Load(); n != 0 {
			t.Errorf("asked for %d audits at once", n)
		}
		w.busy.Store(false)
		time.Sleep(time.Hour)
		if n, asked := w.count(), w.rested.Load(); n != finalKept || asked != 1 {
			t.Errorf("%d written, %d audits asked for", n, asked)
		}
	})
}

// TestFinalizerTriesAgain: what the store does not take is written when it is back, and not left to an audit.
func TestFinalizerTriesAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := newWriting(t, 0)
		for again := range 2 {
			w.setAway(true)
			w.addAll(1000)
			time.Sleep(time.Minute)
			if n := w.count() - 1000*again; n != 0 {
				t.Errorf("%d written while the store was away", n)
			}
			w.setAway(false)
			time.Sleep(finalAway + time.Second)
			if n := w.count() - 1000*again; n != 1000 || w.told != again+1 || w.rested.Load() > 0 {
				t.Errorf("%d written once it was back; %d told, %d left to an audit", n, w.told, w.rested.Load())
			}
		}
	})
}
