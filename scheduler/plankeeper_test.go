package scheduler_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// keeper caches all plans, by revision.
type keeper map[uint64]struct {
	plan *spec.Plan
	err  error
}

func (k keeper) Kept(_ scheduler.Key, revision uint64) (plan *spec.Plan, ok bool, err error) {
	found, ok := k[revision]
	return found.plan, ok, found.err
}

func (k keeper) Keep(_ scheduler.Key, revision uint64, plan *spec.Plan, err error) {
	k[revision] = struct {
		plan *spec.Plan
		err  error
	}{plan, err}
}

// TestDecodeJobWithKeptPlans checks that a stored job is compiled once per revision, with or without success. A job
// that is too expensive to compile is damaged, with the reason.
func TestDecodeJobWithKeptPlans(t *testing.T) {
	stored := func(rrule string) []byte {
		j := job(t, `"recurrence": {"rrule": "DTSTART:20310101T000000Z RRULE:FREQ=DAILY"}`)
		data := must.Get(j.Encode(nil))(t)
		return scheduler.Signed(bytes.Replace(formless(data), []byte("DTSTART:20310101T000000Z RRULE:FREQ=DAILY"), []byte(rrule), 1))
	}
	kept := keeper{}
	decode := func(revision uint64, data []byte) (*scheduler.Job, error) {
		return scheduler.DecodeJobWith(kept, key, revision, data, noActions{}, nil)
	}
	data := stored("DTSTART:20310101T000000Z RRULE:FREQ=WEEKLY")
	first := must.Get(decode(1, data))(t)
	again, err := decode(1, data)
	if err != nil || again.Plan != first.Plan || again.Plan == nil {
		t.Errorf("again: %v, the same plan: %t", err, again.Plan == first.Plan)
	}
	if edited, err := decode(2, data); err != nil || edited.Plan == first.Plan {
		t.Errorf("another revision: %v, the same plan: %t", err, edited.Plan == first.Plan)
	}
	costly := stored("DTSTART:20310101T000000Z" + strings.Repeat(" RRULE:FREQ=MINUTELY;INTERVAL=438;BYMONTHDAY=-3,-5,13,14,15,16,17,18,19;COUNT=99000000", 20))
	for range 2 {
		_, err := decode(3, costly)
		if damaged, ok := errors.AsType[*scheduler.DamagedError](err); !ok || !strings.Contains(damaged.Reason, "too costly") {
			t.Errorf("too costly: %v", err)
		}
	}
	if len(kept) != 3 || kept[3].err == nil {
		t.Errorf("%d plans are kept: %v", len(kept), kept)
	}
}
