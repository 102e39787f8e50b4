package worker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestHerdLeavesRoom has more jobs due at one instant than fit into memory. While those that fit wait for it, a job of every
// second is punctual; the others run, too, each once, and none too early.
func TestHerdLeavesRoom(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.startWorker(func(c *worker.Config) { c.HoldMemory = 30 * scheduler.UsualHeldBytes })
		due := time.Now().Add(20 * time.Second).UTC().Truncate(time.Second)
		job := `{"startTime": "` + due.Format(time.RFC3339) + `", "action": {"type": "Http", "request": {"uri": "http://%s.example/", "method": "GET"}}}`
		for i := range 300 {
			w.put(fmt.Sprintf("job%d", i), fmt.Sprintf(job, "herd"))
		}
		w.put("often", strings.Replace(fmt.Sprintf(job, "often"), due.Format(time.RFC3339)+`"`,
			due.Add(-10*time.Second).Format(time.RFC3339)+`", "recurrence": {"frequency": "Second"}`, 1))
		time.Sleep(time.Until(due) + time.Minute)
		punctual, keys := 0, map[string]int{}
		for _, c := range w.sink.seen() {
			if strings.HasPrefix(c.host, "herd") {
				keys[c.key]++
				if c.at.Before(due) {
					t.Errorf("%s is called %s too early", c.key, due.Sub(c.at))
				}
				continue
			}
			nominal, err := time.Parse(time.RFC3339Nano, c.expected)
			w.must(nil, err)
			if late := c.at.Sub(nominal); nominal.Before(due) && late <= 100*time.Millisecond {
				punctual++
			}
		}
		for key, n := range keys {
			if n != 1 {
				t.Errorf("%s is called %d times", key, n)
			}
		}
		if len(keys) != 300 || punctual != 10 {
			t.Errorf("%d of a herd of 300 are called, and the job of every second %d times of 10 in time before", len(keys), punctual)
		}
	})
}

// TestHerdOfAStoreThatWaits has a herd fired earlier when the server waits for the disk at each write: twice for a baton.
func TestHerdOfAStoreThatWaits(t *testing.T) {
	for _, waits := range []bool{false, true} {
		t.Run(fmt.Sprintf("waits %t", waits), func(t *testing.T) {
			storetest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(c *store.Config) { c.SyncAlways = waits })
				w.startWorker()
				due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
				for i := range 400 {
					w.put(fmt.Sprintf("job%d", i), `{"startTime": "`+due.Format(time.RFC3339)+`", "recurrence": {"frequency": "Minute", "count": 1},
						"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"}}}`)
				}
				time.Sleep(time.Until(due) - 540*time.Millisecond)
				early := 0
				for i := range 400 {
					if w.withWorker(fmt.Sprintf("job%d", i)) {
						early++
					}
				}
				if waits != (early > 50) || !waits && early > 0 {
					t.Errorf("%d of 400 are with the worker 540 ms before", early)
				}
				time.Sleep(time.Until(due) + time.Second)
				calls := w.sink.seen()
				for _, c := range calls {
					if c.at.Before(due) {
						t.Errorf("%s is called %s too early", c.key, due.Sub(c.at))
					}
				}
				if len(calls) != 400 {
					t.Errorf("%d calls, want 400", len(calls))
				}
			})
		})
	}
}

// withWorker reports whether a worker has a job's baton.
func (w *world) withWorker(name string) bool {
	w.t.Helper()
	_, err := w.store.Running(w.t.Context(), scheduler.Slot{Key: key(name)})
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
		w.t.Fatal(err)
	}
	return err == nil
}

// ahead has a job's waiting baton fired so much before it is due, as those of a large herd are, and waits until a worker has it.
func (w *world) ahead(name string, due time.Time, by time.Duration) {
	w.t.Helper()
	slot := scheduler.Slot{Key: key(name)}
	st, err := w.store.Waiting(w.t.Context(), slot)
	w.must(nil, err)
	w.must(nil, w.store.Arm(w.t.Context(), slot, st.Data, due.Add(-by), st.Revision))
	time.Sleep(time.Until(due.Add(-by)) + time.Second)
	if !w.withWorker(name) {
		w.t.Fatalf("%s is not with a worker %s before it is due", name, time.Until(due))
	}
}

// packsAll is so little memory for batons that one alone is enough for a worker to pack it.
const packsAll = 16 * scheduler.UsualHeldBytes

// TestHeldFarAhead: what a worker holds ten seconds before it is due may be edited, disabled, enabled and deleted, and that
// counts at once; it is shown as waiting, and is about to run by itself for who asks for that. So it is for one of many, whose
// definition is packed.
func TestHeldFarAhead(t *testing.T) {
	at := func(due time.Time, path string) string {
		return `{"startTime": "` + due.Format(time.RFC3339Nano) + `", ` + strings.ReplaceAll(action, "/hook", path) + `}`
	}
	for name, test := range map[string]struct {
		edit     func(w *world, due time.Time)
		calls    string        // with the time before the job was due
		outcomes string        // of its history
		next     time.Duration // after it was due, right after the edit; 0: none
	}{
		"left alone":     {func(*world, time.Time) {}, "/old 0s", "completed", 0},
		"another body":   {func(w *world, due time.Time) { w.put("job", at(due, "/new")) }, "/new 0s", "completed", 0},
		"due earlier":    {func(w *world, due time.Time) { w.put("job", at(due.Add(-4*time.Second), "/new")) }, "/new 4s", "completed", -4 * time.Second},
		"due much later": {func(w *world, due time.Time) { w.put("job", at(due.Add(time.Minute), "/new")) }, "/new -1m0s", "completed", time.Minute},
		"disabled":       {func(w *world, _ time.Time) { _, err := w.service.Disable(w.t.Context(), key("job")); w.must(nil, err) }, "", "skipped(disabled 1)", 0},
		"disabled, and enabled": {func(w *world, _ time.Time) {
			_, err := w.service.Disable(w.t.Context(), key("job"))
			w.must(nil, err)
			_, err = w.service.Enable(w.t.Context(), key("job"))
			w.must(nil, err)
		}, "/old 0s", "completed", 0},
		"deleted": {func(w *world, _ time.Time) { w.must(nil, w.service.Delete(w.t.Context(), key("job"), 0)) }, "", "", 0},
		"run by hand": {func(w *world, _ time.Time) {
			_, err := w.service.Trigger(w.t.Context(), key("job"))
			if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "it is about to run by itself, at ") {
				w.t.Errorf("run by hand: %v", err)
			}
		}, "/old 0s", "completed", 0},
	} {
		heldFarAhead := func(t *testing.T, memory int) {
			inWorld(t, func(t *testing.T, w *world) {
				w.startWorker(func(c *worker.Config) { c.HoldMemory = memory })
				due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
				w.put("job", at(due, "/old"))
				w.ahead("job", due, 10*time.Second)
				if v := w.get("job"); v.Status.Running || !v.Status.Next.Equal(due) {
					t.Errorf("while it is held: running %t, next %s", v.Status.Running, v.Status.Next)
				}
				test.edit(w, due)
				time.Sleep(time.Second)
				if test.next != 0 {
					if v := w.get("job"); !v.Status.Next.Equal(due.Add(test.next)) {
						t.Errorf("next at %s after the edit, want %s", v.Status.Next, due.Add(test.next))
					}
				}
				time.Sleep(2 * time.Minute)
				var calls []string
				for _, c := range w.sink.seen() {
					calls = append(calls, strings.TrimPrefix(c.url, "http://target.example")+" "+due.Sub(c.at).Round(10*time.Millisecond).String())
				}
				if got := strings.Join(calls, ", "); got != test.calls || w.outcomes("job") != test.outcomes {
					t.Errorf("calls %q, want %q; history %q, want %q", got, test.calls, w.outcomes("job"), test.outcomes)
				}
			})
		}
		t.Run(name, func(t *testing.T) { heldFarAhead(t, worker.DefaultHoldMemory) })
		t.Run(name+", packed", func(t *testing.T) { heldFarAhead(t, packsAll) })
	}
}
