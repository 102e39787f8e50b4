package worker

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// sendBack lets a run wait for its target outside the process.
func (w *Worker) sendBack(r *run, d limits.Deferral) stage {
	now := time.Now()
	if !w.jobs.Unchanged(r.key(), r.changes) {
		if standing := w.standing(r); standing == scheduler.Gone || standing == scheduler.Foreign {
			return w.dropOrphan(r)
		}
	}
	until := scheduler.Deferral{At: d.Until, Circuit: d.Why == limits.DelayCircuit, Ahead: d.Why == limits.DelayPace}
	if until.Circuit {
		since := r.baton.DeferredSince
		if since.IsZero() {
			since = now
		}
		until.At = d.RetryAt(r.Key, since, now)
	}
	if d.Why != limits.DelaySlow {
		until.Message = d.Message(r.Key, r.Target, until.At)
	}
	r.current, r.step = r.job, r.job.Defer(r.baton, until, now)
	return passed{r}
}
