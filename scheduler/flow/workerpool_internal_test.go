package flow

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

// TestWorkerPoolReuses: as many goroutines wait for the next run as may, no run waits for one, and all go in the end.
func TestWorkerPoolReuses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) { // which ends when its goroutines have
		var lived atomic.Int32
		c := NewWorkerPool(3, func(any) {
			time.Sleep(time.Second)
			lived.Add(1)
		})
		resting := func() int {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.idle)
		}
		for _, round := range []struct{ runs, before, rest int }{{2, 0, 2}, {1, 2, 2}, {5, 2, 3}, {3, 3, 3}} {
			lived.Store(0)
			if got := resting(); got != round.before {
				t.Fatalf("%d rest, want %d", got, round.before)
			}
			for range round.runs {
				c.Run(nil)
			}
			if got, want := resting(), max(0, round.before-round.runs); got != want {
				t.Errorf("%d rest beside %d runs, want %d", got, round.runs, want)
			}
			began := time.Now()
			c.Wait()
			if took := time.Since(began); took != time.Second || int(lived.Load()) != round.runs {
				t.Errorf("%d of %d runs in %s", lived.Load(), round.runs, took)
			}
			if got := resting(); got != round.rest {
				t.Errorf("%d rest after %d runs, want %d", got, round.runs, round.rest)
			}
		}
		c.Run(nil)
		c.End()
		c.Run(nil)
		c.Wait()
		if lived.Load() != 5 {
			t.Errorf("%d runs, want those that were under way, too", lived.Load())
		}
	})
}

// TestWorkerPoolRunsDuringWait: runs may come while a stop waits for those under way.
func TestWorkerPoolRunsDuringWait(*testing.T) {
	c := NewWorkerPool(1, func(any) {})
	taken := make(chan struct{})
	go func() {
		for range 20_000 {
			c.Run(nil)
		}
		close(taken)
	}()
	for ended := false; !ended; {
		c.Wait()
		select {
		case <-taken:
			ended = true
		default:
		}
	}
	c.End()
	c.Wait()
}
