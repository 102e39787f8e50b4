package scheduler_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestMovedJob moves stored jobs to another store: only the spec sequence changes.
func TestMovedJob(t *testing.T) {
	j := job(t, once)
	plain := must.Get(j.Encode(nil))(t)
	if moved := scheduler.MovedJob(plain); !bytes.Equal(moved, plain) {
		t.Errorf("a job that no spec wrote: %s, want %s", moved, plain)
	}
	j.SpecSequence = 77
	written := must.Get(j.Encode(nil))(t)
	if moved := scheduler.MovedJob(written); !bytes.Equal(moved, plain) {
		t.Errorf("a job that a spec wrote: %s, want %s", moved, plain)
	}
	for name, data := range map[string][]byte{
		"damaged":         bytes.Replace(written, []byte(`"enabled"`), []byte(`"enablex"`), 1),
		"of a later form": bytes.Replace(written, []byte(`{"form":"1`), []byte(`{"form":"2`), 1),
		"of no form":      formless(written),
		"no job":          []byte("no job"),
		"nothing":         nil,
	} {
		if moved := scheduler.MovedJob(data); !bytes.Equal(moved, data) {
			t.Errorf("%s: %s, want %s", name, moved, data)
		}
		if moved := scheduler.MovedJobDisabled(data, &scheduler.Progress{Runs: 3}); !bytes.Equal(moved, data) {
			t.Errorf("%s, to come disabled: %s, want %s", name, moved, data)
		}
	}
}

// TestMovedJobDisabled moves jobs to a store as disabled: they keep the progress of their batons.
func TestMovedJobDisabled(t *testing.T) {
	at := time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name  string
		state scheduler.State
		had   scheduler.Progress
		baton *scheduler.Progress
		want  scheduler.Progress
		is    scheduler.State
	}{
		{"fresh", scheduler.Enabled, scheduler.Progress{}, nil, scheduler.Progress{}, scheduler.Disabled},
		{
			"with a baton", scheduler.Enabled,
			scheduler.Progress{},
			&scheduler.Progress{Number: 3, Runs: 3, Seen: at},
			scheduler.Progress{Number: 3, Runs: 3, Seen: at},
			scheduler.Disabled,
		},
		{
			"counted beside the baton", scheduler.Enabled,
			scheduler.Progress{Number: 9, Executions: 9},
			&scheduler.Progress{Number: 3, Runs: 3, Seen: at},
			scheduler.Progress{Number: 9, Runs: 3, Executions: 9, Seen: at},
			scheduler.Disabled,
		},
		{"disabled", scheduler.Disabled, scheduler.Progress{Runs: 2}, nil, scheduler.Progress{Runs: 2}, scheduler.Disabled},
		{"at its end", scheduler.Completed, scheduler.Progress{Runs: 2}, &scheduler.Progress{Runs: 7}, scheduler.Progress{Runs: 2}, scheduler.Completed},
	} {
		j := job(t, once)
		j.State, j.Progress, j.SpecSequence = test.state, test.had, 5
		data := must.Get(j.Encode(nil))(t)
		got, err := scheduler.ReadJob(key, 1, scheduler.MovedJobDisabled(data, test.baton), noActions{}, nil)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		j.State, j.Progress, j.SpecSequence = test.is, test.want, 0
		want := must.Get(j.Encode(nil))(t)
		if again, err := got.Encode(nil); err != nil || !bytes.Equal(again, want) {
			t.Errorf("%s: %s, %v, want %s", test.name, again, err, want)
		}
	}
}

// TestMovedCause moves batons with events: in another store, their sequences name other events.
func TestMovedCause(t *testing.T) {
	at := time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]*scheduler.Cause{
		"one":     {Event: "default.orders", Key: "k", Sequence: 7, Count: 1, Since: at},
		"several": {Event: "default.orders", Key: "k", Sequence: 7, Count: 2, Since: at, Sequences: []uint64{3, 7}},
	} {
		e := &scheduler.Event{Topic: scheduler.Topic{Collection: "default", Name: "orders"}, Sequence: 7}
		moved := scheduler.Baton{Kind: scheduler.Triggered, Keyed: true, Cause: c}.Moved(9, false).Cause
		if !c.Holds(e) || moved.Holds(e) {
			t.Errorf("%s: the baton has the event before the move: %t, and after it: %t", name, c.Holds(e), moved.Holds(e))
		}
		if all, err := moved.Each(func(uint64, bool) error { return context.Canceled }); all || err != nil {
			t.Errorf("%s: the events are known after the move: %t (%v)", name, all, err)
		}
		if moved.Count != c.Count || moved.Key != "k" || !moved.Since.Equal(at) || moved.Describe() == c.Describe() {
			t.Errorf("%s: it is moved as %+v: %s", name, moved, moved.Describe())
		}
	}
	if moved := (scheduler.Baton{}).Moved(9, false); moved.Cause != nil {
		t.Error("a baton without events has a cause after the move")
	}
}

// TestArmMoved arms batons in another store.
func TestArmMoved(t *testing.T) {
	now := time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name        string
		due         time.Duration
		others      int
		least, most time.Duration
	}{
		{"in an hour", time.Hour, 10, time.Hour - 2500*time.Millisecond, time.Hour - 500*time.Millisecond},
		{"in a moment", time.Second, 0, 2 * time.Second, 2 * time.Second},
		{"long ago", -time.Hour, 0, 2 * time.Second, 2 * time.Second},
		{"long ago, of many", -time.Hour, 100_000, 2 * time.Second, 12 * time.Second},
		{"in a hundred years", 100 * 365 * 24 * time.Hour, 0, 50 * 365 * 24 * time.Hour, 50 * 365 * 24 * time.Hour},
	} {
		b := scheduler.Baton{Nominal: now.Add(test.due), Due: now.Add(test.due)}
		for _, name := range []string{"a", "b", "report"} {
			at := b.ArmMoved(scheduler.Key{Collection: "default", Job: name}, now, test.others)
			if in := at.Sub(now); in < test.least || in > test.most {
				t.Errorf("%s: in %v, want between %v and %v", test.name, in, test.least, test.most)
			}
		}
	}
	moved := scheduler.Baton{Revision: 900}.Moved(7, true)
	if moved.Revision != 7 || !moved.Suspect {
		t.Errorf("a baton that ran is moved as %+v", moved)
	}
	if moved := (scheduler.Baton{Revision: 900}).Moved(7, false); moved.Suspect {
		t.Error("a baton that waited is suspected to have run")
	}
}
