package limits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestStats follows what is told of a limiter whose one target has a circuit, and whose other has none.
func TestStats(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 8, 8)
		want := func(when string, want Stats) {
			t.Helper()
			if diff := cmp.Diff(want, o.Stats(time.Now())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		want("nothing", Stats{})
		plain := o.submit("plain", 1)
		o.rule = &scheduler.TargetRule{Concurrency: 3, Breaker: circuit}
		runs := o.submit("a", 5)
		want("two targets", Stats{InFlight: 4, Queued: 2, Circuits: Circuits{Closed: 1}})
		o.Done(plain[0], well)
		for _, r := range runs[:3] {
			o.Done(r, failed)
		}
		want("it opened", Stats{InFlight: 2, Circuits: Circuits{Open: 1}, Opened: 1})
		time.Sleep(time.Minute)
		want("its time is over", Stats{InFlight: 2, Circuits: Circuits{HalfOpen: 1}, Opened: 1})
		o.Done(runs[3], well)
		o.Done(runs[4], well)
		want("it answers again", Stats{Opened: 1})
	})
}
