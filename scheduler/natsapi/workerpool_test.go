package natsapi

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

// TestCrew shows that tasks are done side by side, however many there are, that
// some goroutines stay for those that follow, and that none outlives the pool.
func TestCrew(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := newWorkerPool()
		var began atomic.Int64
		for _, n := range []int{1, crewIdle, 5 * crewIdle, 3} {
			gate, had := make(chan struct{}), began.Load()
			var ended sync.WaitGroup
			for range n {
				ended.Add(1)
				c.do(func() {
					defer ended.Done()
					began.Add(1)
					<-gate
				})
			}
			synctest.Wait()
			if got := began.Load() - had; got != int64(n) {
				t.Fatalf("%d of %d tasks are under way", got, n)
			}
			close(gate)
			ended.Wait()
			synctest.Wait()
			if stay := c.idle.Load(); stay > crewIdle || stay < min(int64(n), crewIdle) {
				t.Errorf("after %d tasks %d goroutines wait for more", n, stay)
			}
		}
		c.dismiss() // the bubble would tell of a goroutine that waits still
	})
}
