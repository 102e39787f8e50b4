package worker_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// resubmit runs an occurrence again.
func (w *world) resubmit(name, occurrence string) (*view.Resubmitted, error) {
	return w.service.Resubmit(w.t.Context(), key(name), []byte(`{"occurrence": "`+occurrence+`"}`))
}

// mustResubmit does so, and waits a second.
func (w *world) mustResubmit(name, occurrence string) *view.Resubmitted {
	w.t.Helper()
	v, err := w.resubmit(name, occurrence)
	w.must(nil, err)
	time.Sleep(time.Second)
	return v
}

// mustRepeat fails the test unless the last record is of the run that was answered, and names the occurrence that it repeats, whose
// instant its target was told.
func (w *world) mustRepeat(original string, v *view.Resubmitted) {
	w.t.Helper()
	records, calls := w.history("job"), w.sink.seen()
	last, call := records[len(records)-1], calls[len(calls)-1]
	if last.Occurrence != v.Occurrence || v.Resubmits != original || !strings.Contains(string(view.JSON(view.Record(last))), `"manual":true,"resubmits":"`+original+`"`) {
		w.t.Errorf("the last record is %s, the answer %+v, want them to repeat %s", view.JSON(view.Record(last)), v, original)
	}
	if _, nominal, _ := strings.Cut(original, "@"); call.expected != nominal || call.key != v.Occurrence {
		w.t.Errorf("the target was told %s under the key %s, want %s", call.expected, call.key, nominal)
	}
}

// TestResubmitFaulted repeats the occurrence of a one-shot that faulted, named in each way: first in vain, and then with success,
// which completes the job.
func TestResubmitFaulted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(time.Second)
		first := w.history("job")[0]
		v := w.mustResubmit("job", first.Occurrence)
		if got, want := w.outcomes("job"), "failed faulted failed/manual faulted/manual"; got != want {
			t.Fatalf("history %q, want %q", got, want)
		}
		if v := w.get("job"); v.Job.State != scheduler.Faulted || v.Status.Executions != 2 || v.Status.Faults != 2 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
		w.sink.answers(func(*call) (int, string) { return http.StatusOK, "" })
		v = w.mustResubmit("job", v.Occurrence) // a resubmission repeats the same
		w.mustRepeat(first.Occurrence, v)
		if v := w.get("job"); v.Job.State != scheduler.Completed || v.Status.Executions != 3 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
		for _, occurrence := range []string{first.Occurrence, first.ID, first.Nominal.Format(time.RFC3339Nano), view.RecordID(first), "default/job/" + view.RecordID(first), v.Occurrence} {
			if _, err := w.resubmit("job", occurrence); !errors.Is(err, scheduler.ErrConflict) {
				t.Errorf("%s, which was repeated with success: %v", occurrence, err)
			}
		}
		again, err := w.service.Resubmit(t.Context(), key("job"), []byte(`{"occurrence": "`+view.RecordID(first)+`", "force": true}`))
		w.must(nil, err)
		time.Sleep(time.Second)
		w.mustRepeat(first.Occurrence, again)
		w.mustBeInOrder()
	})
}

// TestResubmitRefused has what cannot be repeated: it is not there, or has not ended.
func TestResubmitRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		refused := func(what, name, occurrence string, want error) {
			t.Helper()
			if _, err := w.resubmit(name, occurrence); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		w.sink.answers(after(5*time.Second, http.StatusInternalServerError))
		w.put("job", `{"action": `+to("main", "")+`}`)
		w.put("retried", `{`+failing+`}}`)
		w.put("off", `{"action": `+to("main", "")+`, "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(6 * time.Second)
		failed, retried, off := w.history("job")[0].Occurrence, w.history("retried")[0].Occurrence, w.history("off")[0].Occurrence
		w.must(w.service.Disable(t.Context(), key("off")))
		refused("no such job", "none", failed, scheduler.ErrNotFound)
		refused("another job's", "job", retried, scheduler.ErrInvalid)
		refused("no occurrence", "job", "2031-01-01T00:00:00Z", scheduler.ErrNotFound)
		refused("no record", "job", strings.Repeat("0", 20)+":"+strings.Repeat("1", 20), scheduler.ErrNotFound)
		refused("it waits for a retry", "retried", retried, scheduler.ErrConflict)
		time.Sleep(9 * time.Second)
		refused("it is retried", "retried", retried, scheduler.ErrConflict)
		for name, occurrence := range map[string]string{"job": failed, "off": off} { // over, and disabled
			w.mustResubmit(name, occurrence)
			refused("it is repeated already", name, occurrence, scheduler.ErrConflict)
			if v := w.get(name); v.Job.State == scheduler.Enabled {
				t.Errorf("%s is %s", name, v.Job.State)
			}
		}
		time.Sleep(time.Minute)
		w.mustResubmit("job", failed) // in vain again
		time.Sleep(10 * time.Second)
		if got := strings.Count(w.outcomes("job"), "faulted"); got != 3 {
			t.Errorf("history %q", w.outcomes("job"))
		}
		w.replace("job", `{"action": `+to("main", "")+`}`)
		refused("an earlier job's", "job", failed, scheduler.ErrNotFound)
	})
}

// meantime is a store of which something is done once a history has been read.
type meantime struct {
	scheduler.Store

	do func()
}

func (m *meantime) Recent(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	err := m.Store.Recent(ctx, k, before, outcomes, f)
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return err
}

// TestResubmitOnce sends a request while the history is read for another that is the same: the occurrence runs again once.
func TestResubmitOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) {
			if len(w.sink.seen()) > 1 {
				return http.StatusOK, ""
			}
			return http.StatusInternalServerError, ""
		})
		w.put("job", `{"action": `+to("main", "")+`, "recurrence": {"frequency": "Day"}}`)
		time.Sleep(time.Second)
		first := w.history("job")[0].Occurrence
		other := service.New(service.Config{
			Store: &meantime{w.store, func() { w.mustResubmit("job", first) }}, Actions: w.actions(), Secrets: w.vault,
		})
		if _, err := other.Resubmit(t.Context(), key("job"), []byte(`{"occurrence": "`+first+`"}`)); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("%v, want that it was resubmitted with success", err)
		}
		time.Sleep(time.Second)
		w.wantHistory("job", "failed faulted completed/manual")
	})
}

// TestResubmitCrash kills a worker that repeats an occurrence, before and after it has recorded so: what takes over repeats the
// same.
func TestResubmitCrash(t *testing.T) {
	for _, state := range []string{"enabled", "faulted"} {
		for _, before := range []bool{true, false} {
			inWorld(t, func(t *testing.T, w *world) {
				w.startWorker()
				w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
				more := ""
				if state == "enabled" {
					more = `, "recurrence": {"frequency": "Day"}`
				}
				w.put("job", `{"action": `+to("main", `, "errorAction": `+to("alarm", ""))+more+`}`)
				time.Sleep(5 * time.Second)
				w.stopWorker()
				first := w.history("job")[0].Occurrence
				m := w.startMortal(&mortal{point: "record failed", before: before})
				v, err := w.resubmit("job", first)
				w.must(nil, err)
				m.awaitDeath(t)
				w.startWorker()
				time.Sleep(time.Minute)
				w.wantHistory("job", "failed failed/error faulted failed/manual failed/error/manual faulted/manual")
				for _, r := range w.history("job")[3:] {
					if r.Occurrence != v.Occurrence || r.Resubmits == nil || scheduler.OccurrenceID(r.Job, r.Resubmits.Nominal) != first {
						t.Errorf("a record of %s repeats %+v", r.Occurrence, r.Resubmits)
					}
				}
				for _, c := range w.sink.seen() {
					if "default/job@"+c.expected != first {
						t.Errorf("the target of %s was told %s", c.key, c.expected)
					}
				}
				w.mustBeInOrder()
			})
		}
	}
}

// TestResubmitTwiceAtOnce repeats an occurrence of a job that is over from many sides at once: one of them does, and the others are
// told why not.
func TestResubmitTwiceAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(5*time.Second, http.StatusInternalServerError))
		w.put("job", `{"action": `+to("main", "")+`}`)
		time.Sleep(time.Minute)
		failed := w.history("job")[0].Occurrence
		slow := service.New(service.Config{Store: slowFires{w.store}, Actions: w.actions(), Secrets: w.vault})
		answers := make(chan error, 4)
		for range cap(answers) {
			go func() {
				_, err := slow.Resubmit(t.Context(), key("job"), []byte(`{"occurrence": "`+failed+`"}`))
				answers <- err
			}()
		}
		accepted := 0
		for range cap(answers) {
			switch err := <-answers; {
			case err == nil:
				accepted++
			case !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), failed+": conflict: it has not ended"):
				t.Errorf("refused: %v", err)
			}
		}
		time.Sleep(time.Minute)
		if got, want := w.outcomes("job"), "failed faulted failed/manual faulted/manual"; accepted != 1 || got != want {
			t.Errorf("%d accepted, history %q; want one, and %q", accepted, got, want)
		}
		w.mustBeInOrder()
	})
}

// slowFires takes its time to fire batons.
type slowFires struct{ scheduler.Store }

func (s slowFires) Fire(ctx context.Context, slot scheduler.Slot, body []byte, replaces uint64) error {
	time.Sleep(time.Second)
	return s.Store.Fire(ctx, slot, body, replaces)
}
