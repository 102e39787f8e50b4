package limits

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// job is a run as a worker has them.
type job struct {
	Call

	name string
}

// office is a limiter and what it did.
type office struct {
	*Limiter[*job]

	t        *testing.T
	begin    time.Time
	rule     *scheduler.TargetRule
	started  []string // names, in order
	at       []time.Duration
	deferred []string
	until    []time.Duration
	whys     []Delay
}

func newOffice(t *testing.T, concurrency, perTarget int) *office {
	t.Helper()
	o := &office{t: t, begin: time.Now()}
	o.Limiter = New(Config[*job]{
		Concurrency: concurrency, PerTarget: perTarget, Now: time.Now,
		Start: func(r *job) { o.started, o.at = append(o.started, r.name), append(o.at, time.Since(o.begin)) },
		Defer: func(r *job, d Deferral) {
			o.deferred, o.until = append(o.deferred, r.name), append(o.until, d.Until.Sub(o.begin))
			o.whys = append(o.whys, d.Why)
		},
	})
	return o
}

// TestPriority submits runs of several priorities for a target whose slot is taken.
func TestPriority(t *testing.T) {
	o := newOffice(t, 1, 1)
	first := o.submit("first", 1)[0]
	for i, priority := range []int8{0, 5, -1, 0, 5, 7} {
		r := &job{name: strconv.Itoa(i)}
		r.Target, r.Priority = "first", priority
		o.Submit(r)
	}
	var order []string
	for _, r := range o.groups[first.group].runs {
		order = append(order, r.name)
	}
	o.expect("waiting", &order, "5", "1", "4", "0", "3", "2")
}

// submit submits n runs for a target: a0, a1 and so on for a.
func (o *office) submit(target string, n int) (runs []*job) {
	o.t.Helper()
	for i := range n {
		r := &job{name: fmt.Sprintf("%s%d", target, i)}
		r.Key, r.Target, r.Rule = scheduler.Key{Collection: "shop", Job: r.name}, target, o.rule
		if !o.Submit(r) {
			o.t.Fatalf("%s was not taken", r.name)
		}
		runs = append(runs, r)
	}
	return runs
}

// expect compares what began, or was deferred, since it was called last, and forgets it.
func (o *office) expect(when string, got *[]string, want ...string) {
	o.t.Helper()
	if !slices.Equal(*got, want) {
		o.t.Errorf("%s: %v, want %v", when, *got, want)
	}
	*got = nil
}

// expectUntil compares why and until when runs were deferred, from the first on.
func (o *office) expectUntil(why Delay, want ...time.Duration) {
	o.t.Helper()
	if !slices.Equal(o.until, want) || o.whys[0] != why {
		o.t.Errorf("deferred until %s (%v), want %s (%v)", o.until, o.whys, want, why)
	}
}

// TestTargetsAreForgotten shows that hosts which nobody calls any more take no memory, whatever they answered.
func TestTargetsAreForgotten(t *testing.T) {
	o := newOffice(t, 10, 10)
	o.rule = &scheduler.TargetRule{
		Rate: 1, Per: time.Minute, Breaker: &scheduler.BreakerRule{Failures: 2, OpenFor: time.Minute, Most: time.Hour},
	}
	for i := range 100 {
		r := o.submit(fmt.Sprintf("t%d-", i), 1)[0]
		o.Done(r, scheduler.Result{Failed: i%2 == 0, Status: 503})
	}
	same := func(string, string) *scheduler.TargetRule { return o.rule }
	o.Review(time.Now(), same)
	if n := len(o.groups); n != 100 {
		t.Errorf("%d targets are remembered at first, want 100", n)
	}
	o.Review(time.Now().Add(5*time.Minute), same)
	if n := len(o.groups); n != 50 {
		t.Errorf("%d targets are remembered after five minutes, want the 50 that failed", n)
	}
	o.Review(time.Now().Add(time.Hour), same)
	if n := len(o.groups); n != 0 {
		t.Errorf("%d targets are remembered in the end", n)
	}
}

// TestTurns gives slots to the targets that wait in turn, whoever has more runs.
func TestTurns(t *testing.T) {
	o := newOffice(t, 2, 8)
	a := o.submit("a", 5)
	o.submit("b", 2)
	o.expect("at first", &o.started, "a0", "a1")
	if !o.Backlog() {
		t.Error("no backlog while runs wait for quick targets")
	}
	for _, r := range a[:2] {
		o.Done(r, well)
	}
	o.expect("then", &o.started, "a2", "b0")
	o.Forgo(a[2])
	o.expect("in the end", &o.started, "a3")
}

// TestSlowTargetsGetHalf has two targets answer nothing for two seconds.
func TestSlowTargetsGetHalf(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 8, 8)
		a, b := o.submit("a", 6), o.submit("b", 6)
		time.Sleep(2 * time.Second)
		o.Review(time.Now(), nil)
		o.expect("at first", &o.started, "a0", "a1", "a2", "a3", "a4", "a5", "b0", "b1")
		if o.Backlog() {
			t.Error("a backlog of slow targets is not one that a quick attempt frees")
		}
		late := scheduler.Result{Failed: true, Duration: 2 * time.Second}
		for _, r := range a[:4] {
			o.Done(r, late)
		}
		o.submit("c", 8)
		o.expect("four have ended, four to slow ones run", &o.started, "c0", "c1", "c2", "c3")
		o.Done(a[4], late)
		o.Done(b[0], late)
		o.expect("two more have", &o.started, "b2", "c4")
	})
}

// TestRate begins attempts evenly, and takes a rate back.
func TestRate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 8, 8)
		o.rule = &scheduler.TargetRule{Rate: 4, Per: time.Second}
		runs := o.submit("a", 7)
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		if want := []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond}; !slices.Equal(o.at, want) {
			t.Errorf("attempts began after %s, want %s", o.at, want)
		}
		o.expect("by the rate", &o.started, "a0", "a1", "a2")
		o.Forgo(runs[2]) // what its place in the rate was is free again
		o.expect("one was forgone", &o.started, "a3")
		o.Review(time.Now(), func(collection, target string) *scheduler.TargetRule {
			if collection != "shop" || target != "a" {
				t.Errorf("asked for the rule of %s for %s", collection, target)
			}
			return nil
		})
		o.expect("the rate was taken back", &o.started, "a4", "a5", "a6")
		time.Sleep(time.Minute)
		synctest.Wait()
		o.expect("later", &o.started)
	})
}

// TestPace defers what a rate does not let begin within three seconds, each run to its turn.
func TestPace(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 8, 8)
		o.rule = &scheduler.TargetRule{Rate: 1, Per: time.Second}
		o.submit("a", 6)
		o.Pace(time.Now())
		o.expect("deferred", &o.deferred, "a4", "a5")
		o.expectUntil(DelayPace, 4*time.Second, 5*time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		o.expect("begun", &o.started, "a0", "a1", "a2", "a3")
	})
}

// TestShed defers all but the first two runs for a slow target.
func TestShed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 2, 2)
		o.submit("a", 6)
		o.Shed(time.Now(), 2)
		o.expect("the target is quick", &o.deferred)
		time.Sleep(8 * time.Second)
		o.Review(time.Now(), nil)
		o.Shed(time.Now(), 2)
		o.expect("it is slow", &o.deferred, "a4", "a5")
		o.expectUntil(DelaySlow, 16*time.Second, 20*time.Second)
	})
}

// TestCircuit follows the circuit of a target from closed to closed.
func TestCircuit(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 8, 8)
		o.rule = &scheduler.TargetRule{Concurrency: 3, Breaker: circuit}
		runs := o.submit("a", 5)
		waited := &job{name: "waited", Call: runs[0].Call}
		waited.DeferredSince = time.Now().Add(-time.Hour)
		o.Submit(waited)
		o.expect("closed", &o.started, "a0", "a1", "a2")
		o.Done(runs[0], failed)
		o.expect("one failed, and what has waited for as long as it may goes first", &o.started, "waited")
		o.Done(runs[1], failed)
		o.expect("two failed", &o.started, "a3")
		o.expect("two failed", &o.deferred)
		o.Done(runs[2], failed)
		o.expect("three failed", &o.deferred, "a4")
		o.submit("a", 1)
		o.expect("open", &o.deferred, "a0")
		o.expectUntil(DelayCircuit, time.Minute, time.Minute)
		again := *waited
		o.Submit(&again)
		o.expect("open", &o.started, "waited")

		time.Sleep(time.Minute)
		o.Done(waited, blameless)
		o.Done(runs[3], blameless)
		runs = o.submit("a", 2)
		o.expect("half open", &o.started, "a0")
		o.Forgo(runs[0])
		o.expect("the probe did not begin", &o.started, "a1")
		o.Done(runs[1], well)
		o.submit("a", 2)
		o.expect("closed again", &o.started, "a0", "a1")
	})
}

// TestGroups shows that a collection's rule for a target counts its own attempts only.
func TestGroups(t *testing.T) {
	o := newOffice(t, 8, 8)
	o.submit("a", 2)
	o.rule = &scheduler.TargetRule{Concurrency: 1}
	o.submit("a", 2)
	o.expect("begun", &o.started, "a0", "a1", "a0")
	other := &job{name: "other"}
	other.Key, other.Target, other.Rule = scheduler.Key{Collection: "bank", Job: "j"}, "a", o.rule
	o.Submit(other)
	o.expect("of another collection", &o.started, "other")
}

// TestDrain starts nothing more, neither by time nor because a slot is free.
func TestDrain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 8, 8)
		o.rule = &scheduler.TargetRule{Rate: 1, Per: time.Second}
		runs := o.submit("a", 3)
		if n := len(o.Drain()); n != 2 {
			t.Errorf("%d runs waited, want 2", n)
		}
		o.Done(runs[0], well)
		time.Sleep(time.Minute)
		synctest.Wait()
		o.Review(time.Now(), func(string, string) *scheduler.TargetRule { return nil })
		if o.Submit(runs[1]) {
			t.Error("a run was taken")
		}
		o.expect("begun", &o.started, "a0")
	})
}

// TestWaited counts from when a run was submitted last.
func TestWaited(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOffice(t, 8, 8)
		r := o.submit("a", 1)[0]
		time.Sleep(time.Second)
		o.Forgo(r)
		o.Submit(r)
		time.Sleep(2 * time.Second)
		if d := r.Waited(time.Now()); d != 2*time.Second {
			t.Errorf("waited for %s, want 2s", d)
		}
	})
}

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
