package scheduler

import (
	"fmt"
	"testing"
	"time"
)

// TestTargetsAreForgotten shows that hosts which nobody calls any more take no memory, whatever they answered.
func TestTargetsAreForgotten(t *testing.T) {
	rule := &TargetRule{Rate: 1, Per: time.Minute, Breaker: &BreakerRule{Failures: 2, OpenFor: time.Minute, Most: time.Hour}}
	targets := newTargets(10, 10, func(*run) {}, func(deferral) {})
	for i := range 100 {
		r := &run{delivery: &Delivery{Slot: Slot{Key: Key{Collection: "c", Job: "j"}}}, target: fmt.Sprintf("t%d", i)}
		r.join(rule)
		if !targets.submit(r) {
			t.Fatal("not taken")
		}
		targets.done(r, Result{Failed: i%2 == 0, Status: 503})
	}
	same := func(string, string) *TargetRule { return rule }
	targets.review(time.Now(), same)
	if n := len(targets.byName); n != 100 {
		t.Errorf("%d targets are remembered at first, want 100", n)
	}
	targets.review(time.Now().Add(5*time.Minute), same)
	if n := len(targets.byName); n != 50 {
		t.Errorf("%d targets are remembered after five minutes, want the 50 that failed", n)
	}
	targets.review(time.Now().Add(time.Hour), same)
	if n := len(targets.byName); n != 0 {
		t.Errorf("%d targets are remembered in the end", n)
	}
}

// TestBlameless shows that a failure which is not the target's counts neither for nor against it.
func TestBlameless(t *testing.T) {
	rule := &BreakerRule{Failures: 2, OpenFor: time.Minute, Most: time.Hour}
	now, b := time.Now(), breaker{}
	failed, blameless := Result{Failed: true}, Result{Failed: true, Blameless: true}
	for range 5 {
		if b.end(rule, blameless, now) {
			t.Fatal("opened")
		}
	}
	b.end(rule, failed, now)
	if b.end(rule, blameless, now) || !b.end(rule, failed, now) {
		t.Error("a blameless failure between two others was counted")
	}
	now = now.Add(2 * time.Minute)
	b.begin(now)
	b.end(rule, blameless, now)
	if !b.admits(now) || b.open(now) {
		t.Error("a blameless failure of the attempt that finds out is not followed by another")
	}
	b.begin(now)
	if !b.end(rule, failed, now) {
		t.Error("the attempt that finds out failed, and the circuit did not open")
	}
}
