package jobcache

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// planOf returns the plan of a recurrence in the dialect of RFC 5545.
func planOf(t *testing.T, rrule string) *spec.Plan {
	t.Helper()
	rule, err := spec.ParseRRule(rrule, spec.RFC5545)
	if err != nil {
		t.Fatal(err)
	}
	p, err := spec.NewPlan(spec.Timing{Recurrence: &spec.Recurrence{Rule: rule}}, time.Unix(1.7e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlansKeepWhatIsCostly shows that plans which take long to compile are kept by the revision of their job, the reason
// of one that has none with them, and others not.
func TestPlansKeepWhatIsCostly(t *testing.T) {
	var plans Plans
	k, broken := scheduler.Key{Collection: "default", Job: "a"}, errors.New("too costly")
	costly := planOf(t, "DTSTART:20240101T000000Z RRULE:FREQ=WEEKLY EXRULE:FREQ=HOURLY;INTERVAL=7")
	plans.Keep(k, 1, costly, nil)
	plans.Keep(k, 2, planOf(t, "DTSTART:20240101T000000Z RRULE:FREQ=WEEKLY"), nil)
	plans.Keep(k, 3, nil, broken)
	for revision, want := range map[uint64]kept{1: {plan: costly}, 3: {err: broken}} {
		if plan, ok, err := plans.Kept(k, revision); !ok || plan != want.plan || !errors.Is(err, want.err) {
			t.Errorf("revision %d: %v, %t, %v", revision, plan, ok, err)
		}
	}
	for _, revision := range []uint64{2, 4} {
		if plan, ok, err := plans.Kept(k, revision); ok || plan != nil || err != nil {
			t.Errorf("revision %d: %v, %t, %v", revision, plan, ok, err)
		}
	}
}

// TestPlansAreBounded shows that the oldest plans make room for the latest.
func TestPlansAreBounded(t *testing.T) {
	var plans Plans
	key := func(i int) scheduler.Key { return scheduler.Key{Collection: "default", Job: strconv.Itoa(i)} }
	const n = 3 * mostWork
	for i := range n {
		plans.Keep(key(i), 1, nil, errors.New("too costly"))
	}
	if len(plans.kept) != mostWork || len(plans.order) != mostWork || plans.work > mostWork {
		t.Errorf("%d plans of %v are kept, in order %d", len(plans.kept), plans.work, len(plans.order))
	}
	if _, ok, _ := plans.Kept(key(0), 1); ok {
		t.Error("the oldest is kept")
	}
	if _, ok, _ := plans.Kept(key(n-1), 1); !ok {
		t.Error("the latest is not kept")
	}
}
