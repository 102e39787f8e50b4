package worker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/worker"
)

// TestStats has a worker that holds a baton, runs another one and has trouble with two: one of a job that cannot be read, and
// one of a job whose definition is gone.
func TestStats(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		none := map[worker.Trouble]uint64{
			worker.DamagedBaton: 0, worker.DamagedJob: 0, worker.LostDefinition: 0, worker.StoreUnavailable: 0, worker.OtherTrouble: 0,
		}
		if got := w.worker.Stats(); got.InFlight != 0 || got.Held != 0 || got.HoldMemory != 0 || got.HoldLimit != worker.DefaultHoldMemory {
			t.Errorf("at first: %+v", got)
		} else if diff := cmp.Diff(none, got.Troubles); diff != "" {
			t.Errorf("at first (-want +got):\n%s", diff)
		}
		answer := make(chan struct{})
		w.sink.answers(func(*call) (int, string) { <-answer; return http.StatusOK, "" })
		w.put("now", `{`+action+`, "timeout": "PT10S"}`)
		w.put("soon", `{`+action+`, "startTime": "`+time.Now().Add(1600*time.Millisecond).Format(time.RFC3339Nano)+`"}`)
		time.Sleep(1550 * time.Millisecond)
		if got := w.worker.Stats(); got.InFlight != 1 || got.Held != 1 || got.HoldMemory == 0 {
			t.Errorf("one runs, and one is about to: %+v", got)
		}
		close(answer)

		w.put("hurt", everyMinute)
		w.put("lost", everyMinute)
		w.stopWorker()
		w.damage("carillon-jobs", "default.hurt", damages["cut"])
		w.loseDefinitions("lost")
		w.startWorker()
		time.Sleep(2 * time.Minute)
		got := w.worker.Stats()
		if got.Troubles[worker.DamagedJob] == 0 || got.Troubles[worker.LostDefinition] == 0 || got.Troubles[worker.StoreUnavailable] > 0 {
			t.Errorf("troubles: %v", got.Troubles)
		}
		if got.InFlight != 0 || got.Queued != 0 {
			t.Errorf("in the end: %+v", got)
		}
	})
}
