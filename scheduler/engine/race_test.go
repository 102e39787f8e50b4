package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestPutRacesDelete has many clients put, delete and run jobs of a few names at once. Each put of a name calls a path of
// its own, so that a call shows which definition made it. An occurrence is called at most once, and the history of each
// job that is left has its own records only. Times are drawn to the nanosecond: runs by hand that are asked for at the same one
// are one run.
func TestPutRacesDelete(t *testing.T) {
	operations := 10_000
	if testing.Short() || bubble.RaceDetector {
		operations = 500
	}
	const clients, names = 16, 3
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t)
		w.service = w.newServiceOn(lag(w.store), newKey(t, "k1"))
		w.startWorker(func(c *engine.Config) { c.Store = lag(w.store) })
		w.sink.answers(func(c *call) (int, string) { // some attempts are long enough to meet a delete
			return after(time.Duration(len(c.key)+c.at.Nanosecond()/1000)%7*time.Millisecond, http.StatusOK)(c)
		})
		var all sync.WaitGroup
		for client := range clients {
			all.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(client)))
				for i := range operations / clients {
					name := fmt.Sprintf("job%d", random.IntN(names))
					if err := w.race(t.Context(), name, fmt.Sprintf("p%d-%d", client, i), random); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					time.Sleep(time.Duration(random.IntN(int(200 * time.Millisecond))))
				}
			})
		}
		all.Wait()
		time.Sleep(time.Minute)
		times := map[string]int{}
		for _, c := range w.sink.seen() {
			if one := c.url + " " + c.key; times[one] == 0 {
				times[one]++
			} else {
				t.Errorf("%s was called again", one)
			}
		}
		if n := len(w.sink.seen()); n < operations/10 {
			t.Errorf("%d calls: too few to show anything", n)
		}
		for i := range names {
			w.mustHaveOwnHistory(fmt.Sprintf("job%d", i))
		}
		w.mustBeInOrder()
	})
}

// lag is a store whose server takes a moment for some requests, so that others come in between.
func lag(st scheduler.Store) *hooked {
	return on(st, "Clear Forget Cancel ScheduleAt Fire Append", func(do func() error) error {
		time.Sleep(rand.N(30 * time.Millisecond))
		return do()
	})
}

// race does one of several operations. Others may have been faster: conflicts and missing jobs are no errors.
func (w *harness) race(ctx context.Context, name, path string, random *rand.Rand) (err error) {
	switch what := random.IntN(10); {
	case what < 4:
		body := `{"startTime": "` + time.Now().UTC().Add(time.Duration(random.IntN(int(100*time.Millisecond)))).Format(time.RFC3339Nano) + `", "recurrence": {"frequency": "Second"},
			"action": {"type": "Http", "request": {"uri": "http://target.example/` + path + `", "method": "POST"}, "retryPolicy": {"retryType": "none"}}}`
		_, _, err = w.service.Put(ctx, control.Edit{Key: key(name), Body: []byte(body)})
	case what < 7:
		err = w.service.Delete(ctx, key(name), 0)
	case what < 8:
		_, err = w.service.Trigger(ctx, key(name))
	case what < 9:
		_, err = w.service.Disable(ctx, key(name))
	default:
		_, err = w.service.Enable(ctx, key(name))
	}
	if errors.Is(err, scheduler.ErrNotFound) || errors.Is(err, scheduler.ErrConflict) {
		return nil
	}
	return err
}

// mustHaveOwnHistory compares a job's history, as users see it, with what its present incarnation can have done.
func (w *harness) mustHaveOwnHistory(name string) {
	w.t.Helper()
	v, err := w.service.Get(w.t.Context(), key(name))
	if errors.Is(err, scheduler.ErrNotFound) {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	records, _, err := w.service.History(w.t.Context(), control.HistoryQuery{Key: key(name)}, v1.Page{Top: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, r := range records {
		if r.UID != v.Job.Incarnation() {
			w.t.Errorf("%s: a record of %q is shown for %q", name, r.UID, v.Job.Incarnation())
		}
		if r.Outcome == scheduler.OutcomeCompleted {
			if ran[r.Occurrence] {
				w.t.Errorf("%s completed twice", r.Occurrence)
			}
			ran[r.Occurrence] = true
		}
	}
	if v.Job.State == scheduler.Enabled && !strings.Contains(w.outcomes(name), "completed") {
		w.t.Errorf("%s has not run for a minute: %q", name, w.outcomes(name))
	}
}

// TestEnableOvertakesDisable enables a job, or deletes it and puts it again, before a slow process has removed the baton of the
// job that it disabled. The new baton stays.
func TestEnableOvertakesDisable(t *testing.T) {
	const doc = `{` + action + `, "recurrence": {"frequency": "Hour"}, "startTime": "2000-01-01T01:00:00Z"}`
	inBubble(t, func(t *testing.T, w *harness) {
		for name, then := range map[string]func(name string){
			"enabled":   func(name string) { w.must(w.service.Enable(t.Context(), key(name))) },
			"put-again": func(name string) { w.replace(name, doc) },
		} {
			w.put(name, doc)
			slow := w.newServiceOn(hanging(w.store, "SaveJob", func() { then(name) }))
			if _, err := slow.Disable(t.Context(), key(name)); err != nil && !errors.Is(err, scheduler.ErrNotFound) {
				t.Fatal(err)
			}
		}
		w.mustBeInOrder()
	})
}

// TestLateEditArmsNothing has a process look for the baton of a job, hang, and go on when the job was edited, has run and was
// disabled. What it knows of the job is over: it arms nothing.
func TestLateEditArmsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Hour"}}`)
		w.must(w.store.Clear(t.Context(), key("job"), nil)) // lost
		armed := 0
		st := on(w.store, "ScheduleAt Fire", func(do func() error) error { armed++; return do() })
		slow := w.newServiceOn(hanging(st, "Waiting", func() {
			w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
			time.Sleep(90 * time.Second)
			w.must(w.service.Disable(t.Context(), key("job")))
		}))
		if _, err := slow.Enable(t.Context(), key("job")); err != nil || armed > 0 {
			t.Errorf("it has armed %d batons of a job that is disabled (%v)", armed, err)
		}
	})
}

// TestCreatedWhileEdited disables a job that another process has just stored and is about to arm. It runs once at most.
func TestCreatedWhileEdited(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		creates := w.newServiceOn(hanging(w.store, "SaveJob", func() {
			w.must(w.service.Disable(t.Context(), key("job")))
			time.Sleep(time.Second)
			w.must(w.service.Enable(t.Context(), key("job")))
			time.Sleep(time.Second)
		}))
		w.must(creates.Put(t.Context(), control.Edit{Key: key("job"), Body: []byte(`{` + action + `, "recurrence": {"frequency": "Hour"}}`)}))
		time.Sleep(time.Minute)
		if n := len(w.sink.seen()); n > 1 {
			t.Errorf("the first occurrence was called %d times", n)
		}
		w.mustBeInOrder()
	})
}

// TestPatchOvertakesEnable patches the description of a job that another process has just enabled and is about to arm. The instants
// while it was disabled stay skipped, and do not run late.
func TestPatchOvertakesEnable(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}, "catchUp": {"policy": "all", "window": "P1D"}}`)
		w.must(w.service.Disable(t.Context(), key("job")))
		time.Sleep(10*time.Minute + time.Second)
		called := len(w.sink.seen())
		enables := w.newServiceOn(hanging(w.store, "SaveJob", func() { w.must(w.patch("job", `{"description": "x"}`)) }))
		w.must(enables.Enable(t.Context(), key("job")))
		time.Sleep(2 * time.Minute)
		if n := len(w.sink.seen()) - called; n != 2 {
			t.Errorf("%d calls in two minutes of a job of every minute: %s", n, w.outcomes("job"))
		}
		w.mustBeInOrder()
	})
}

// interruptDeletion has a process delete a collection of five jobs, and fail after two.
func interruptDeletion(t *testing.T, w *harness) {
	t.Helper()
	w.must(w.service.PutCollection(w.t.Context(), "c", nil))
	for i := range 5 {
		k := scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)}
		w.must(w.service.Put(w.t.Context(), control.Edit{Key: k, Body: []byte(everySecond)}))
	}
	time.Sleep(3 * time.Second)
	var removed atomic.Int32
	other := w.newServiceOn(on(w.store, "RemoveJob", func(do func() error) error {
		if removed.Add(1) > 2 {
			return fmt.Errorf("%w: no answer", scheduler.ErrUnavailable)
		}
		return do()
	}))
	if err := other.DeleteCollection(t.Context(), "c", false); !errors.Is(err, scheduler.ErrUnavailable) {
		t.Fatalf("the deletion that fails midway: %v", err)
	}
	time.Sleep(time.Second) // an attempt that has begun ends
}

// mustBeDeleted checks that nothing of a collection is left.
func mustBeDeleted(t *testing.T, w *harness) {
	t.Helper()
	if _, err := w.service.Collection(t.Context(), "c"); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("the collection, after its deletion: %v", err)
	}
	for i := range 5 {
		if _, err := w.service.Get(t.Context(), scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)}); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("job j%d, after the deletion of its collection: %v", i, err)
		}
	}
	w.mustBeInOrder()
}

// TestInterruptedDeletion deletes a collection, which fails midway: its jobs stop all the same, nothing can be added, the
// consistency check reports it, and a second delete completes it.
func TestInterruptedDeletion(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		interruptDeletion(t, w)
		before := len(w.sink.seen())
		time.Sleep(time.Minute)
		if got := len(w.sink.seen()); got != before || before == 0 {
			t.Errorf("%d calls, and %d a minute after the collection was deleted", before, got)
		}
		c := must.Get(w.service.Collection(t.Context(), "c"))(t)
		if c.ShownState() != "deleting" {
			t.Errorf("the state of the collection is %s", c.ShownState())
		}
		k := scheduler.Key{Collection: "c", Job: "late"}
		if _, _, err := w.service.Put(t.Context(), control.Edit{Key: k, Body: []byte(everySecond)}); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("a job put into the collection: %v", err)
		}
		if _, err := w.service.SetCollectionState(t.Context(), "c", scheduler.Enabled); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("the collection enabled: %v", err)
		}
		rep := must.Get(w.service.Audit(t.Context(), false))(t)
		if len(rep.Findings) != 1 || !strings.Contains(rep.Findings[0].Problem, "is being deleted") {
			t.Errorf("doctor finds %+v", rep.Findings)
		}
		w.must(w.service.DeleteCollection(t.Context(), "c", false))
		mustBeDeleted(t, w)
	})
}

// TestDeletionCompletedByAnotherReplica leaves a deletion that failed midway to another process.
func TestDeletionCompletedByAnotherReplica(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		interruptDeletion(t, w)
		w.follow()
		time.Sleep(10 * time.Second)
		mustBeDeleted(t, w)
	})
}
