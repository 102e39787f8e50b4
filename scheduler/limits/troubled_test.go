package limits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestTroubled follows what is told of a target whose rule limits it, whose circuit opens, and which is slow at last.
func TestTroubled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 8, 8)
		want := func(when string, want ...Target) {
			t.Helper()
			if diff := cmp.Diff(want, o.Troubled(time.Now())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		want("nothing")
		plain := o.submit("plain", 1)
		want("one that has no rule runs")
		o.rule = &scheduler.TargetRule{Concurrency: 3, Breaker: circuit}
		runs := o.submit("a", 5)
		collection := runs[0].call().Key.Collection
		want("runs wait", Target{Name: "a", Collection: collection, State: Limited, InFlight: 3, Queued: 2})
		for _, r := range runs[:3] {
			o.Done(r, failed)
		}
		until := time.Now().Add(circuit.OpenFor)
		want("its circuit is open", Target{Name: "a", Collection: collection, State: Open, Until: until, InFlight: 2})
		time.Sleep(time.Minute)
		want("one attempt is to find out", Target{Name: "a", Collection: collection, State: HalfOpen, Until: until, InFlight: 2})
		o.Done(runs[3], well)
		o.Done(runs[4], well)
		o.Review(time.Now(), func(string, string) *scheduler.TargetRule { return nil })
		want("one that has answered nothing for a minute", Target{Name: "plain", State: Slow, InFlight: 1})
		o.Done(plain[0], well)
	})
}
