package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
	"github.com/carillon-sched/carillon/scheduler/worker"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestPutRacesDelete has many clients put, delete and run jobs of a few names at once. Each put of a name calls a path of
// its own, so that a call shows which definition made it. An occurrence is called at most once, and the history of each
// job that is left has its own records only. Times are drawn to the nanosecond: runs by hand that are asked for at the same one
// are one run.
func TestPutRacesDelete(t *testing.T) {
	operations := 10_000
	if testing.Short() || bubble.RaceDetector {
		operations = 1500
	}
	const clients, names = 16, 3
	storetest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service = w.newServiceOn(laggard{w.store}, newKey(t, "k1"))
		w.startWorker(func(c *worker.Config) { c.Store = laggard{w.store} })
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

// laggard is a store whose server takes a moment for some requests, so that others come in between.
type laggard struct{ scheduler.Store }

func lag() { time.Sleep(rand.N(30 * time.Millisecond)) }

func (l laggard) Clear(ctx context.Context, k scheduler.Key, of func(*scheduler.Baton) bool) error {
	lag()
	return l.Store.Clear(ctx, k, of)
}

func (l laggard) Forget(ctx context.Context, k scheduler.Key, through uint64) error {
	lag()
	return l.Store.Forget(ctx, k, through)
}

func (l laggard) Cancel(ctx context.Context, slot scheduler.Slot, waiting uint64) error {
	lag()
	return l.Store.Cancel(ctx, slot, waiting)
}

func (l laggard) Arm(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, waiting uint64) error {
	lag()
	return l.Store.Arm(ctx, slot, body, at, waiting)
}

func (l laggard) Fire(ctx context.Context, slot scheduler.Slot, body []byte, waiting uint64) error {
	lag()
	return l.Store.Fire(ctx, slot, body, waiting)
}

func (l laggard) Append(ctx context.Context, r *scheduler.Record) error {
	lag()
	return l.Store.Append(ctx, r)
}

// race does one of several operations. Others may have been faster: conflicts and missing jobs are no errors.
func (w *world) race(ctx context.Context, name, path string, random *rand.Rand) (err error) {
	switch what := random.IntN(10); {
	case what < 4:
		body := `{"startTime": "` + time.Now().UTC().Add(time.Duration(random.IntN(int(100*time.Millisecond)))).Format(time.RFC3339Nano) + `", "recurrence": {"frequency": "Second"},
			"action": {"type": "Http", "request": {"uri": "http://target.example/` + path + `", "method": "POST"}, "retryPolicy": {"retryType": "none"}}}`
		_, _, err = w.service.Put(ctx, service.Edit{Key: key(name), Body: []byte(body)})
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
func (w *world) mustHaveOwnHistory(name string) {
	w.t.Helper()
	v, err := w.service.Get(w.t.Context(), key(name))
	if errors.Is(err, scheduler.ErrNotFound) {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	records, _, err := w.service.History(w.t.Context(), service.HistoryQuery{Key: key(name)}, view.Page{Top: 100})
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

// overtaken is a store of a process that hangs after it has saved a job, until then has been done.
type overtaken struct {
	scheduler.Store

	then func()
}

func (o *overtaken) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	rev, err := o.Store.SaveJob(ctx, k, data, replaces, final)
	if then := o.then; then != nil {
		o.then = nil
		then()
	}
	return rev, err
}

// TestEnableOvertakesDisable enables a job, or deletes it and puts it again, before a slow process has removed the baton of the
// job that it disabled. The new baton stays.
func TestEnableOvertakesDisable(t *testing.T) {
	const doc = `{` + action + `, "recurrence": {"frequency": "Hour"}, "startTime": "2000-01-01T01:00:00Z"}`
	for name, then := range map[string]func(*world){
		"enabled":   func(w *world) { w.must(w.service.Enable(w.t.Context(), key("job"))) },
		"put again": func(w *world) { w.must(nil, w.service.Delete(w.t.Context(), key("job"), 0)); w.put("job", doc) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.put("job", doc)
				slow := w.newServiceOn(&overtaken{w.store, func() { then(w) }})
				if _, err := slow.Disable(t.Context(), key("job")); err != nil && !errors.Is(err, scheduler.ErrNotFound) {
					t.Fatal(err)
				}
				w.mustBeInOrder()
			})
		})
	}
}

// late is a store of a process that hangs after it has looked for a waiting baton, until then has been done. It counts what the
// process arms afterwards.
type late struct {
	scheduler.Store

	then  func()
	armed int
}

func (l *late) Waiting(ctx context.Context, slot scheduler.Slot) (scheduler.Stored, error) {
	st, err := l.Store.Waiting(ctx, slot)
	if then := l.then; then != nil {
		l.then = nil
		then()
	}
	return st, err
}

func (l *late) Arm(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, waiting uint64) error {
	l.armed++
	return l.Store.Arm(ctx, slot, body, at, waiting)
}

func (l *late) Fire(ctx context.Context, slot scheduler.Slot, body []byte, waiting uint64) error {
	l.armed++
	return l.Store.Fire(ctx, slot, body, waiting)
}

// TestLateEditArmsNothing has a process look for the baton of a job, hang, and go on when the job was edited, has run and was
// disabled. What it knows of the job is over: it arms nothing.
func TestLateEditArmsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Hour"}}`)
		w.must(nil, w.store.Clear(t.Context(), key("job"), nil)) // lost
		slow := &late{w.store, func() {
			w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
			time.Sleep(90 * time.Second)
			w.must(w.service.Disable(t.Context(), key("job")))
		}, 0}
		if _, err := w.newServiceOn(slow).Enable(t.Context(), key("job")); err != nil || slow.armed > 0 {
			t.Errorf("it has armed %d batons of a job that is disabled (%v)", slow.armed, err)
		}
	})
}

// TestCreatedWhileEdited disables a job that another process has just stored and is about to arm. It runs once at most.
func TestCreatedWhileEdited(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		creates := w.newServiceOn(&overtaken{w.store, func() {
			w.must(w.service.Disable(t.Context(), key("job")))
			time.Sleep(time.Second)
			w.must(w.service.Enable(t.Context(), key("job")))
			time.Sleep(time.Second)
		}})
		_, _, err := creates.Put(t.Context(), service.Edit{Key: key("job"), Body: []byte(`{` + action + `, "recurrence": {"frequency": "Hour"}}`)})
		if err != nil {
			t.Fatal(err)
		}
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
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}, "catchUp": {"policy": "all", "window": "P1D"}}`)
		w.must(w.service.Disable(t.Context(), key("job")))
		time.Sleep(10*time.Minute + time.Second)
		called := len(w.sink.seen())
		enables := w.newServiceOn(&overtaken{w.store, func() {
			w.must(w.service.Patch(t.Context(), service.Edit{Key: key("job"), Body: []byte(`{"description": "x"}`)}))
		}})
		w.must(enables.Enable(t.Context(), key("job")))
		time.Sleep(2 * time.Minute)
		if n := len(w.sink.seen()) - called; n != 2 {
			t.Errorf("%d calls in two minutes of a job of every minute: %s", n, w.outcomes("job"))
		}
		w.mustBeInOrder()
	})
}
