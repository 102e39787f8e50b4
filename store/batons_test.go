package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// moves records the transitions of a slot.
type moves struct {
	*harness

	ctx  context.Context //nolint:containedctx // of the test
	slot scheduler.BatonKey
}

// waiting returns the sequence of the waiting baton, or 0.
func (m *moves) waiting() uint64 {
	st, err := m.store.Waiting(m.ctx, m.slot)
	return m.sequence(st, err)
}

// running returns the sequence of the running baton, or 0.
func (m *moves) running() uint64 {
	st, err := m.store.Running(m.ctx, m.slot)
	return m.sequence(st, err)
}

func (m *moves) sequence(st scheduler.Stored, err error) uint64 {
	m.t.Helper()
	if errors.Is(err, scheduler.ErrNotFound) {
		return 0
	}
	m.must(err)
	if st.Key != m.slot.Key {
		m.t.Errorf("the baton of %s is of %s", m.slot.Key, st.Key)
	}
	return st.Revision
}

// bodies returns the bodies of the waiting and the running baton.
func (m *moves) bodies() (waiting, running string) {
	m.t.Helper()
	if st, err := m.store.Waiting(m.ctx, m.slot); err == nil {
		waiting = string(st.Data)
	}
	if st, err := m.store.Running(m.ctx, m.slot); err == nil {
		running = string(st.Data)
	}
	return waiting, running
}

func (m *moves) arm(body string, waiting uint64) error {
	return m.store.ScheduleAt(m.ctx, m.slot, []byte(body), time.Now().Add(time.Minute), waiting)
}

func (m *moves) fire(body string, waiting uint64) error {
	return m.store.Fire(m.ctx, m.slot, []byte(body), waiting)
}

func (m *moves) passToTimer(body string, running uint64) error {
	return m.store.Reschedule(m.ctx, m.slot, []byte(body), time.Now().Add(time.Minute), running)
}

func (m *moves) passToFire(body string, running uint64) error {
	return m.store.Reschedule(m.ctx, m.slot, []byte(body), time.Time{}, running)
}

// armed arms the baton "old" and returns its sequence.
func (m *moves) armed() uint64 {
	m.must(m.arm("old", 0))
	return m.waiting()
}

// fired fires the waiting baton "old" and returns its former sequence.
func (m *moves) fired() uint64 {
	seq := m.armed()
	time.Sleep(2 * time.Minute)
	return seq
}

// TestMoves makes each transition from each state. A conflict changes nothing.
func TestMoves(t *testing.T) {
	type row struct {
		move             func(m *moves) error
		want             error
		waiting, running string // afterwards
	}
	tests := map[string]row{
		"arm a job that has no baton":          {func(m *moves) error { return m.arm("new", 0) }, nil, "new", ""},
		"arm in place of the baton that waits": {func(m *moves) error { return m.arm("new", m.armed()) }, nil, "new", ""},
		"arm as if none waited": {func(m *moves) error {
			m.armed()
			return m.arm("new", 0)
		}, scheduler.ErrConflict, "old", ""},
		"arm in place of a baton that was replaced": {func(m *moves) error {
			seq := m.armed()
			m.must(m.arm("newer", seq))
			return m.arm("new", seq)
		}, scheduler.ErrConflict, "newer", ""},
		"arm in place of a baton that has fired": {func(m *moves) error { return m.arm("new", m.fired()) }, scheduler.ErrConflict, "", "old"},
		"arm beside a baton that runs": {func(m *moves) error {
			m.fired()
			return m.arm("new", 0)
		}, nil, "new", "old"},
		"arm in place of a baton that was canceled": {func(m *moves) error {
			seq := m.armed()
			m.must(m.store.Cancel(m.ctx, m.slot, 0))
			return m.arm("new", seq)
		}, scheduler.ErrConflict, "", ""},

		"fire a job that has no baton":          {func(m *moves) error { return m.fire("new", 0) }, nil, "", "new"},
		"fire in place of the baton that waits": {func(m *moves) error { return m.fire("new", m.armed()) }, nil, "", "new"},
		"fire beside a baton that waits": {func(m *moves) error {
			m.armed()
			return m.fire("new", 0)
		}, nil, "old", "new"},
		"fire although something runs": {func(m *moves) error {
			m.fired()
			return m.fire("new", 0)
		}, scheduler.ErrConflict, "", "old"},
		"fire in place of a baton that was replaced": {func(m *moves) error {
			seq := m.armed()
			m.must(m.arm("newer", seq))
			return m.fire("new", seq)
		}, scheduler.ErrConflict, "newer", ""},
		"fire in place of a baton that has fired": {func(m *moves) error { return m.fire("new", m.fired()) }, scheduler.ErrConflict, "", "old"},
		"fire in place of a baton that was fired by hand": {func(m *moves) error {
			seq := m.armed()
			m.must(m.fire("newer", seq))
			return m.fire("new", seq)
		}, scheduler.ErrConflict, "", "newer"},

		"pass on to wait": {func(m *moves) error {
			m.fired()
			return m.passToTimer("new", m.running())
		}, nil, "new", "old"},
		"pass on to run at once": {func(m *moves) error {
			m.fired()
			return m.passToFire("new", m.running())
		}, nil, "", "new"},
		"pass on to wait, overtaken by who did so too": {func(m *moves) error {
			m.fired()
			seq := m.running()
			m.must(m.passToFire("newer", seq))
			return m.passToTimer("new", seq)
		}, scheduler.ErrConflict, "", "newer"},
		"pass on to run at once, overtaken likewise": {func(m *moves) error {
			m.fired()
			seq := m.running()
			m.must(m.passToFire("newer", seq))
			return m.passToFire("new", seq)
		}, scheduler.ErrConflict, "", "newer"},
		"pass on what has been removed": {func(m *moves) error {
			m.fired()
			seq := m.running()
			m.must(m.store.Clear(m.ctx, m.slot.Key, nil))
			return m.passToTimer("new", seq)
		}, scheduler.ErrConflict, "", ""},
		"pass on to wait in place of one that waits: whoever runs it is the last to plan": {func(m *moves) error {
			m.fired()
			m.must(m.passToTimer("newer", m.running()))
			return m.passToTimer("new", m.running())
		}, nil, "new", "old"},

		"cancel what waits": {func(m *moves) error {
			m.armed()
			return m.store.Cancel(m.ctx, m.slot, 0)
		}, nil, "", ""},
		"cancel what runs already": {func(m *moves) error {
			m.fired()
			return m.store.Cancel(m.ctx, m.slot, 0)
		}, nil, "", "old"},
		"cancel the baton that waits": {func(m *moves) error { return m.store.Cancel(m.ctx, m.slot, m.armed()) }, nil, "", ""},
		"cancel a baton that was replaced": {func(m *moves) error {
			seq := m.armed()
			m.must(m.arm("newer", seq))
			return m.store.Cancel(m.ctx, m.slot, seq)
		}, scheduler.ErrConflict, "newer", ""},
		"cancel a baton that has fired": {func(m *moves) error { return m.store.Cancel(m.ctx, m.slot, m.fired()) }, scheduler.ErrConflict, "", "old"},
		"cancel nothing":                {func(m *moves) error { return m.store.Cancel(m.ctx, m.slot, 0) }, nil, "", ""},
	}
	for name, slot := range map[string]scheduler.BatonKey{"own": own, "detached": beside("x1")} {
		t.Run(name, func(t *testing.T) {
			inBubbles(t, tests, func(t *testing.T, w *harness, test row) {
				m := &moves{w, t.Context(), slot}
				mustBe(t, "the move", test.move(m), test.want)
				if waiting, running := m.bodies(); waiting != test.waiting || running != test.running {
					t.Errorf("%q waits and %q runs, want %q and %q", waiting, running, test.waiting, test.running)
				}
			})
		})
	}
}

// TestCanceledTimerNeverFires: a timer is removed in the same step that replaces its baton.
func TestCanceledTimerNeverFires(t *testing.T) {
	inBubbles(t, map[string]func(m *moves, waiting uint64) error{
		"fired in its place": func(m *moves, waiting uint64) error { return m.fire("new", waiting) },
		"armed in its place": func(m *moves, waiting uint64) error {
			return m.store.ScheduleAt(m.ctx, m.slot, []byte("new"), time.Now().Add(24*time.Hour), waiting)
		},
		"canceled": func(m *moves, _ uint64) error { return m.store.Cancel(m.ctx, m.slot, 0) },
		"cleared":  func(m *moves, _ uint64) error { return m.store.Clear(m.ctx, m.slot.Key, nil) },
	}, func(t *testing.T, w *harness, move func(m *moves, waiting uint64) error) {
		m := &moves{w, t.Context(), own}
		w.must(move(m, m.armed()))
		time.Sleep(time.Hour)
		if _, running := m.bodies(); running == "old" {
			t.Error("the timer has fired")
		}
	})
}

// TestTimerIsExact: a baton fires at most 250 ms after its time, which has nanosecond resolution.
func TestTimerIsExact(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		due := time.Now().Add(90*time.Second + 123456789*time.Nanosecond)
		w.must(w.store.ScheduleAt(t.Context(), own, []byte("b"), due, 0))
		time.Sleep(time.Until(due) - time.Millisecond)
		if _, err := w.store.Running(t.Context(), own); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("fired before its time: %v", err)
		}
		time.Sleep(300 * time.Millisecond)
		if _, err := w.store.Running(t.Context(), own); err != nil {
			t.Error(err)
		}
	})
}

// TestClear: Clear removes every baton of a job and none of another.
func TestClear(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, later := t.Context(), time.Now().Add(time.Hour)
		slots := []scheduler.BatonKey{own, beside("x1"), beside("x2")}
		for _, k := range alike {
			slots = append(slots, scheduler.BatonKey{Key: k}, scheduler.BatonKey{Key: k, Detached: "x1"})
		}
		for _, slot := range slots {
			w.must(w.store.ScheduleAt(ctx, slot, []byte("t"), later, 0))
			w.must(w.store.Fire(ctx, slot, []byte("f"), 0))
		}
		w.must(w.store.Clear(ctx, job, nil))
		for _, slot := range slots {
			var want error
			if slot.Key == job {
				want = scheduler.ErrNotFound
			}
			_, waiting := w.store.Waiting(ctx, slot)
			_, running := w.store.Running(ctx, slot)
			mustBe(t, slot.String()+" "+slot.Detached+", waiting", waiting, want)
			mustBe(t, slot.String()+" "+slot.Detached+", running", running, want)
		}
		w.must(w.store.Clear(ctx, job, nil)) // nothing to remove
	})
}

// TestClearRemovesMovedBaton replaces the waiting baton between the look and the removal.
func TestClearRemovesMovedBaton(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, later := t.Context(), time.Now().Add(time.Hour)
		body := (&scheduler.Baton{UID: "uid"}).Encode()
		w.must(w.store.ScheduleAt(ctx, own, body, later, 0))
		moves := 0
		w.must(w.store.Clear(ctx, job, func(*scheduler.Baton) bool {
			moves++
			if moves == 1 {
				st := must.Get(w.store.Waiting(ctx, own))(t)
				w.must(w.store.ScheduleAt(ctx, own, body, later, st.Revision))
			}
			return true
		}))
		_, err := w.store.Waiting(ctx, own)
		mustBe(t, "waiting", err, scheduler.ErrNotFound)
	})
}

// TestBatonsAfterSequence reads the batons of a lane after a sequence: all of them if its stream ends before it, because it was
// replaced.
func TestBatonsAfterSequence(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for _, k := range alike {
			w.must(w.store.Fire(t.Context(), scheduler.BatonKey{Key: k}, []byte("{}"), 0))
		}
		for after, want := range map[uint64]int{0: 3, 1: 2, 3: 0, 9: 3} {
			got := 0
			w.must(w.store.EachStoredBaton(t.Context(), 0, after, func(scheduler.BatonKey, scheduler.Stored, bool) error {
				got++
				return nil
			}))
			if got != want {
				t.Errorf("after %d: %d batons, want %d", after, got, want)
			}
		}
	})
}

// TestClearLeavesOthersWithTheirWorkers clears a job while workers hold older and newer batons of other jobs. Without
// an acknowledgement, all of these are redelivered.
func TestClearLeavesOthersWithTheirWorkers(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		for _, slot := range []scheduler.BatonKey{{Key: alike[0]}, own, {Key: alike[1]}, beside("x1"), {Key: alike[2]}, beside("x2")} {
			w.must(w.store.Fire(ctx, slot, []byte(slot.String()), 0))
		}
		h := w.deliver(w.store, wide, nil)
		held := map[scheduler.Key]*scheduler.Delivery{}
		for range 6 {
			d := h.take()
			held[d.BatonKey.Key] = d
		}
		w.must(w.store.Clear(ctx, job, nil))
		w.must(held[alike[2]].Lease.Ack())
		w.must(w.store.Fire(ctx, scheduler.BatonKey{Key: scheduler.Key{Collection: "c", Job: "later"}}, []byte("later"), 0))
		w.must(h.take().Lease.Ack())
		for _, k := range alike[:2] {
			held[k].Lease.Yield() // not renewed
		}
		for range 2 {
			d := h.take()
			if (d.BatonKey.Key != alike[0] && d.BatonKey.Key != alike[1]) || d.Deliveries < 2 {
				t.Errorf("%s is delivered, for the %d. time", d.Body, d.Deliveries)
			}
			w.must(d.Lease.Ack())
		}
		h.none(time.Minute)
		if n := w.messages("CARILLON_TIMERS_0"); n > 0 {
			t.Errorf("%d messages are left", n)
		}
	})
}

// TestFindBatons: FindBatons returns waiting and running batons in all lanes, but no detached ones.
func TestFindBatons(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, later := t.Context(), time.Now().Add(time.Hour)
		w.must(w.store.ScheduleAt(ctx, own, []byte("t"), later, 0))
		w.must(w.store.Fire(ctx, scheduler.BatonKey{Key: alike[0]}, []byte("f"), 0))
		w.must(w.store.Fire(ctx, scheduler.BatonKey{Key: alike[1], Detached: "x1"}, []byte("f"), 0))
		both := scheduler.BatonKey{Key: alike[2]}
		w.must(w.store.ScheduleAt(ctx, both, []byte("t"), later, 0))
		w.must(w.store.Fire(ctx, both, []byte("f"), 0))
		for name, test := range map[string]struct{ among, want []scheduler.Key }{
			"all":          {append([]scheduler.Key{job}, alike...), []scheduler.Key{job, alike[0], alike[2]}},
			"some":         {[]scheduler.Key{job, alike[1]}, []scheduler.Key{job}},
			"none of them": {[]scheduler.Key{{Collection: "c", Job: "other"}}, nil},
			"of none":      {nil, nil},
		} {
			found := map[scheduler.Key]bool{}
			w.must(w.store.FindBatons(ctx, test.among, func(st scheduler.Stored, running bool) {
				found[st.Key] = true
				if want := map[bool]string{false: "t", true: "f"}[running]; string(st.Data) != want || st.Revision == 0 {
					t.Errorf("%s: baton %q of %s, running: %t", name, st.Data, st.Key, running)
				}
			}))
			for _, k := range test.want {
				if !found[k] {
					t.Errorf("%s: %s is not found", name, k)
				}
			}
			if len(found) != len(test.want) {
				t.Errorf("%s: found %v, want %v", name, found, test.want)
			}
		}
	})
}

// TestEachBaton: EachBaton lists every slot with a baton, and a slot with two batons twice.
func TestEachBaton(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, later := t.Context(), time.Now().Add(time.Hour)
		list := func() (all []string) {
			w.must(w.store.EachBaton(ctx, 0, func(slot scheduler.BatonKey, waiting bool) error {
				kind := "runs"
				if waiting {
					kind = "waits"
				}
				all = append(all, kind+" "+slot.String()+" "+slot.Detached)
				return nil
			}))
			slices.Sort(all)
			return all
		}
		if got := list(); len(got) != 0 {
			t.Errorf("listed %q in an empty lane", got)
		}
		w.must(w.store.ScheduleAt(ctx, own, []byte("t"), later, 0))
		w.must(w.store.Fire(ctx, own, []byte("f"), 0))
		w.must(w.store.Fire(ctx, beside("x1"), []byte("f"), 0))
		w.must(w.store.ScheduleAt(ctx, scheduler.BatonKey{Key: alike[2]}, []byte("t"), later, 0))
		want := []string{"runs c/job ", "runs c/job x1", "waits c/job ", "waits c2/job "}
		if got := list(); !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		mustStop(t, func(f func() error) error {
			return w.store.EachBaton(ctx, 0, func(scheduler.BatonKey, bool) error { return f() })
		})
	})
}

// TestUnavailable checks the error of every operation without a connection.
func TestUnavailable(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, s := t.Context(), w.store
		w.nc.Close()
		nothing := func(scheduler.Stored) error { return nil }
		for name, err := range map[string]error{
			"ScheduleAt":  s.ScheduleAt(ctx, own, nil, time.Now().Add(time.Hour), 0),
			"Fire":        s.Fire(ctx, own, nil, 0),
			"Reschedule":  s.Reschedule(ctx, own, nil, time.Time{}, 1),
			"Cancel":      s.Cancel(ctx, own, 0),
			"Clear":       s.Clear(ctx, job, nil),
			"Waiting":     second(s.Waiting(ctx, own)),
			"Running":     second(s.Running(ctx, own)),
			"FindBatons":  s.FindBatons(ctx, []scheduler.Key{job}, func(scheduler.Stored, bool) {}),
			"LastRecords": s.LastRecords(ctx, []scheduler.Key{job}, scheduler.Outcomes, func(*scheduler.Record) {}),
			"EndJobs":     s.EndJobs(ctx, []scheduler.JobEnd{{Key: job}})[0],
			"EachBaton":   s.EachBaton(ctx, 0, func(scheduler.BatonKey, bool) error { return nil }),
			"Deliver": s.Deliver(ctx, 0, nil, func() int { return 1 }, func(*scheduler.Delivery) {
			}),
			"LoadJob":     second(s.LoadJob(ctx, job)),
			"LoadJobAt":   second(s.LoadJobAt(ctx, job, 1)),
			"LoadJobs":    s.LoadJobs(ctx, []scheduler.Key{job}, func(scheduler.Stored) {}),
			"EachJob":     s.EachJob(ctx, "", func(scheduler.Key) error { return nil }),
			"SaveJob":     second(s.SaveJob(ctx, job, nil, 0, false)),
			"RewriteJob":  second(s.RewriteJob(ctx, job, nil, 1, true)),
			"RemoveJob":   s.RemoveJob(ctx, job, 1, 0),
			"WatchJobs":   s.WatchJobs(ctx, func() {}, func(scheduler.Key, uint64) {}),
			"Load":        second(s.Collections().Load(ctx, "a")),
			"Save":        second(s.Collections().Save(ctx, "a", nil, 0)),
			"Save over":   second(s.Collections().Save(ctx, "a", nil, 1)),
			"Remove":      s.Collections().Remove(ctx, "a", 1),
			"Each":        s.Secrets().Each(ctx, nothing),
			"Watch":       s.Secrets().Watch(ctx, func() {}, func(string, uint64, []byte) {}),
			"Append":      s.Append(ctx, &scheduler.Record{Job: job, Outcome: scheduler.OutcomeCompleted}),
			"Recent":      s.Recent(ctx, job, 0, nil, func(*scheduler.Record) bool { return true }),
			"Recents":     s.Recent(ctx, scheduler.Key{}, 0, nil, func(*scheduler.Record) bool { return true }),
			"HistorySpan": second(s.HistorySpan(ctx)),
			"RecordsAt":   second(s.RecordsAt(ctx, []uint64{1})),
			"RecordsFrom": s.RecordsFrom(ctx, scheduler.Key{}, 1, func(*scheduler.Record) bool { return true }),
			"Follow":      s.Follow(ctx, job, 0, func(*scheduler.Record) {}),
			"Forget":      s.Forget(ctx, job, 1e5),
			"IsFirst":     second(s.IsFirstSpec(ctx, "c.job", 1)),
			"FirstSpec":   second(s.FirstSpec(ctx)),
			"EraseSpec":   s.EraseSpec(ctx, 1),
			"Specs":       s.DeliverSpecs(ctx, nil, func() int { return 1 }, func(scheduler.PublishedSpec) {}),
			"Result":      s.PublishResult(ctx, "accepted", "c.job", nil),
		} {
			mustBe(t, name, err, scheduler.ErrUnavailable)
		}
	})
}

// second returns the error of a call with two results.
func second[T any](_ T, err error) error { return err }
