package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// overlapsEverySecond is a job whose runs are all detached, each with its own end.
const overlapsEverySecond = `{` + action + `, "overlap": "allow", "recurrence": {"frequency": "Second"}}`

// mustCountHistory fails the test unless the job has counted each run in its history once.
func (w *harness) mustCountHistory(name string) {
	w.t.Helper()
	time.Sleep(30 * time.Second)
	must.Get(w.service.Disable(w.t.Context(), key(name)))(w.t)
	time.Sleep(30 * time.Second)
	ran := 0
	for _, r := range w.history(name) {
		if r.Outcome == scheduler.OutcomeCompleted {
			ran++
		}
	}
	if v := w.get(name); v.Status.Executions != ran || ran < 60 {
		w.t.Errorf("%d executions are counted, the history has %d", v.Status.Executions, ran)
	}
}

// TestMergedAfterManyOthers has a detached run merged a second time after many others have been merged: its worker did not get the
// response, or stopped before it acknowledged the run. It counts once.
func TestMergedAfterManyOthers(t *testing.T) {
	const others = 2 * time.Minute // more runs than a job remembers in any case
	inWorlds(t, map[string]func(w *harness, merged scheduler.BatonKey) error{
		"response lost": func(*harness, scheduler.BatonKey) error {
			time.Sleep(others)
			return scheduler.ErrUnavailable
		},
		"response lost, and another worker has acknowledged the run": func(w *harness, merged scheduler.BatonKey) error {
			st := must.Get(w.store.Running(w.t.Context(), merged))(t)
			w.must(w.store.Discard(w.t.Context(), merged, st.Revision))
			time.Sleep(others)
			return scheduler.ErrUnavailable
		},
		"worker stopped": func(w *harness, _ scheduler.BatonKey) error {
			time.Sleep(others)
			go w.stopWorker()
			<-w.t.Context().Done()
			return nil
		},
	}, func(_ *testing.T, w *harness, then func(w *harness, merged scheduler.BatonKey) error) {
		var once atomic.Bool
		w.startWorker(func(c *engine.Config) {
			c.Store = on(w.store, "ScheduleAt", func(do func() error) error {
				err := do()
				if err != nil || !once.CompareAndSwap(false, true) {
					return err
				}
				return then(w, w.lastMerged("job"))
			})
		})
		w.put("job", overlapsEverySecond)
		time.Sleep(3 * time.Minute)
		w.mustCountHistory("job")
	})
}

// lastMerged returns the detached run that the waiting baton of a job was merged with last.
func (w *harness) lastMerged(name string) scheduler.BatonKey {
	w.t.Helper()
	st := must.Get(w.store.Waiting(w.t.Context(), scheduler.BatonKey{Key: key(name)}))(w.t)
	b := must.Get(scheduler.DecodeBaton(st.Data))(w.t)
	id := b.Merged[len(b.Merged)-1]
	return scheduler.BatonKey{Key: key(name), Detached: scheduler.DetachedName(time.Unix(0, id))}
}

// TestMergedWhileFired has the server fire the baton of a job while a detached run is merged into it: the server has copied the
// baton, and the copy then replaces the merged one. The run is merged again.
func TestMergedWhileFired(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		var raced atomic.Int32
		w.startWorker(func(c *engine.Config) {
			c.Store = on(w.store, "ScheduleAt", func(do func() error) error {
				st, err := w.store.Waiting(t.Context(), scheduler.BatonKey{Key: key("job")})
				if err != nil || raced.Load() >= 5 {
					return do()
				}
				time.Sleep(time.Until(st.FiresAt) - 100*time.Millisecond) // by another clock, it fires from now on
				if err := do(); err != nil {
					return err
				}
				w.fireCopy(st)
				raced.Add(1)
				return nil
			})
		})
		w.put("job", overlapsEverySecond)
		time.Sleep(2 * time.Minute)
		if raced.Load() == 0 {
			t.Error("no baton was fired while a run was merged into it")
		}
		w.mustCountHistory("job")
	})
}

// fireCopy stores the copy of a waiting baton as the server does when it fires the baton.
func (w *harness) fireCopy(st scheduler.Stored) {
	w.t.Helper()
	slot := scheduler.BatonKey{Key: st.Key}
	m := nats.NewMsg(w.store.FireSubject(slot))
	m.Data = st.Data
	m.Header.Set(jetstream.SchedulerHeader, w.store.TimerSubject(slot))
	m.Header.Set(jetstream.ScheduleNextHeader, "purge")
	must.Get(w.nc.RequestMsgWithContext(w.t.Context(), m))(w.t)
}

// TestDisabledWhileMerged disables a job at the instant of a run: the run is merged into the next baton before that is removed.
func TestDisabledWhileMerged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.service = w.newServiceOn(slow(w.store, 300*time.Millisecond, "SaveJob"), newKey(t, "k1"))
		w.put("job", overlapsEverySecond)
		time.Sleep(2*time.Minute - 300*time.Millisecond)
		w.mustCountHistory("job")
	})
}

// TestTriggeredWhileFired asks for a manual run while the server may be firing the job's baton: it is refused, as it is a moment
// later, and not lost.
func TestTriggeredWhileFired(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(time.Second)
		st := must.Get(w.store.Waiting(t.Context(), scheduler.BatonKey{Key: key("job")}))(t)
		w.service = w.newServiceOn(on(w.store, "Fire", func(do func() error) error {
			time.Sleep(time.Until(st.FiresAt))
			if err := do(); err != nil {
				return err
			}
			w.fireCopy(st)
			return nil
		}), newKey(t, "k1"))
		time.Sleep(time.Until(st.FiresAt) - 20*time.Millisecond)
		_, err := w.service.Trigger(t.Context(), key("job"))
		if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "is imminent") {
			t.Errorf("got %v", err)
		}
		w.service = w.newService(newKey(t, "k1"))
		time.Sleep(10 * time.Second)
		w.must(w.service.Trigger(t.Context(), key("job")))
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed completed completed/manual completed")
	})
}

// searched is a store that counts searches of histories.
type searched struct {
	scheduler.Store

	searches atomic.Int32
}

func (s *searched) Newest(ctx context.Context, k scheduler.Key, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool) error {
	s.searches.Add(1)
	return s.Store.Newest(ctx, k, outcomes, f)
}

// TestSearchedTogether stops a worker during many runs of a job. The next one searches the history for their attempts
// together.
func TestSearchedTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const runs = 60
		w.sink.answers(after(time.Hour, 200))
		w.putTriggered("a", `{`+action+`, "timeout": "PT30M", "trigger": {"on": {"source": "orders"}}}`)
		for range runs {
			w.publishNow("orders", "", "{}")
		}
		time.Sleep(time.Second)
		w.stopWorker()
		w.sink.answers(after(time.Second, 200))
		store := &searched{Store: w.store}
		w.startWorker(func(c *engine.Config) { c.Store = store })
		time.Sleep(time.Minute)
		if got := store.searches.Load(); got > runs/10 {
			t.Errorf("%d searches for %d runs", got, runs)
		}
		w.wantState("a", scheduler.Enabled, runs)
	})
}
