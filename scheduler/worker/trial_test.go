package worker_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// try tries a job out, with the worker of the world.
func (w *world) try(body string) (*view.Trial, error) {
	s := service.New(service.Config{Store: w.store, Actions: w.actions(), Secrets: w.vault, Try: w.worker.Try})
	return s.Try(w.t.Context(), key("trial"), []byte(body))
}

// TestTryHeedsTheCircuit of its target: an open one lets nothing through, and trials that fail open none.
func TestTryHeedsTheCircuit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		heal := w.ail()
		w.rules(`{"*": {"circuitBreaker": {"failures": 3, "openFor": "PT1M"}}}`)
		for range 5 {
			v, err := w.try(`{` + failOnce + `}`)
			if err != nil || !v.Failed() {
				t.Fatalf("%+v, %v", v, err)
			}
		}
		w.openCircuit()
		calls := len(w.sink.seen())
		_, err := w.try(`{` + failOnce + `}`)
		if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "the circuit of target.example:80 is open until") {
			t.Errorf("%v", err)
		}
		if n := len(w.sink.seen()); n != calls {
			t.Errorf("%d calls through an open circuit", n-calls)
		}
		heal()
		time.Sleep(2 * time.Minute)
		if v, err := w.try(`{` + failOnce + `}`); err != nil || v.Failed() {
			t.Errorf("healed: %+v, %v", v, err)
		}
	})
}

// TestTryWaitsForASlot a moment, and not for ever: it takes one of its target like any attempt.
func TestTryWaitsForASlot(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.stopWorker()
		w.startWorker(func(c *worker.Config) { c.Concurrency, c.PerTarget = 1, 1 })
		w.sink.answers(after(15*time.Second, http.StatusOK))
		w.put("job", `{`+failOnce+`}`)
		time.Sleep(time.Second)
		if _, err := w.try(`{` + failOnce + `}`); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "it was not tried") {
			t.Errorf("%v", err)
		}
		if v, err := w.try(`{` + failOnce + `}`); err != nil || v.Failed() {
			t.Errorf("after a while: %+v, %v", v, err)
		}
		w.wantHistory("job", "completed")
		w.wantHistory("trial", "")
	})
}

// TestTryEndsInAMinute whatever the job's timeout.
func TestTryEndsInAMinute(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(10*time.Minute, http.StatusOK))
		began := time.Now()
		v, err := w.try(`{"timeout": "PT30M", ` + failOnce + `}`)
		if took := time.Since(began); err != nil || !v.Failed() || took < time.Minute || took > 2*time.Minute {
			t.Errorf("%+v, %v after %s", v, err, took)
		}
	})
}
