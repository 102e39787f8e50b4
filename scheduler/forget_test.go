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
		if b.end(rule, blameless, now, false) {
			t.Fatal("opened")
		}
	}
	b.end(rule, failed, now, false)
	if b.end(rule, blameless, now, false) || !b.end(rule, failed, now, false) {
		t.Error("a blameless failure between two others was counted")
	}
	now = now.Add(2 * time.Minute)
	if !b.begin(now) || b.begin(now) {
		t.Error("not one attempt finds out")
	}
	b.end(rule, blameless, now, false) // of an attempt that began before
	if b.admits(now) {
		t.Error("another attempt finds out beside the first")
	}
	b.end(rule, blameless, now, true)
	if !b.admits(now) || b.open(now) {
		t.Error("a blameless failure of the attempt that finds out is not followed by another")
	}
	if !b.end(rule, failed, now, b.begin(now)) {
		t.Error("the attempt that finds out failed, and the circuit did not open")
	}
}
