package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
)

// The timers stream is lost while nothing runs. The audit derives every baton
// again, from the definition and the last record.
func TestAuditRestoresBatons(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(fails)
		far := time.Now().Add(30 * 24 * time.Hour).UTC()
		w.put("new", `{`+action+`, "startTime": "`+far.Format(time.RFC3339)+`"}`)
		w.put("recurring", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 5}}`)
		w.put("retrying", `{`+failing+`}}`)
		w.put("done", `{`+action+`}`)
		w.put("off", `{`+action+`, "state": "disabled"}`)
		time.Sleep(125 * time.Second)
		w.put("late", `{`+failing+`}}`)
		time.Sleep(5 * time.Second)
		w.stopWorker()
		js, err := jetstream.New(w.nc)
		w.must(nil, err)
		if err := js.DeleteStream(t.Context(), "CARILLON_TIMERS_0"); err != nil {
			t.Fatal(err)
		}
		if w.store, err = store.Open(t.Context(), w.nc, store.Config{Storage: jetstream.MemoryStorage}); err != nil {
			t.Fatal(err)
		}
		rep, err := w.service.Audit(t.Context(), true)
		w.must(nil, err)
		if rep.Fixed != 3 || len(rep.Findings) != 3 {
			t.Errorf("audit: %+v, want new, recurring and late restored", rep)
		}
		w.startWorker()
		time.Sleep(10 * time.Minute)
		w.wantHistory("recurring", "completed completed completed completed completed")
		w.wantHistory("late", "failed failed failed faulted")
		if next := w.get("new").Status.Next; !next.Equal(far.Truncate(time.Second)) {
			t.Errorf("next %s, want %s", next, far)
		}
		w.mustBeInOrder()
	})
}

// TestAuditNamesWhatNeverRan: a job whose schedule had no time left is named, and is nothing to mend.
func TestAuditNamesWhatNeverRan(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("never", `{`+action+`, "recurrence": {"cron": "0 9 31 2 *"}}`)
		w.put("over", `{`+action+`}`)
		w.put("off", `{`+action+`, "state": "disabled", "recurrence": {"cron": "0 9 * * *"}}`)
		w.put("on", `{`+action+`, "recurrence": {"cron": "0 9 * * *"}}`)
		time.Sleep(time.Minute)
		rep, err := w.service.Audit(t.Context(), true)
		w.must(nil, err)
		if got := strings.Join(rep.NeverRan, " "); got != "default/never" || len(rep.Findings) > 0 {
			t.Errorf("never ran: %s; findings: %+v", got, rep.Findings)
		}
	})
}

// TestAuditRecordsFault: a worker dies between the last attempt of an occurrence and the record that it faulted, and the timers
// stream is lost, too. The audit records the fault once, of the main action.
func TestAuditRecordsFault(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *world) {
			m := w.startMortal(&mortal{point: "record faulted", before: !recorded})
			w.sink.answers(failingAt("main"))
			w.put("job", `{"action": `+to("main", `, "errorAction": `+to("alarm", ""))+`}`)
			m.awaitDeath(t)
			w.stopWorker()
			w.loseTimers()
			w.wantHistory("job", "failed completed/error faulted")
			if r := w.history("job")[2]; r.Phase != scheduler.MainPhase || r.Target != "main.example:80" || r.Status != 500 {
				t.Errorf("the fault is told of %q at %s, status %d", r.Phase, r.Target, r.Status)
			}
			if v := w.get("job"); v.Job.State != scheduler.Faulted || v.Status.Faults != 1 {
				t.Errorf("state %s, status %+v", v.Job.State, v.Status)
			}
		})
	}
}
