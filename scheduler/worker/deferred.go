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
	r.current, r.step = r.job, r.job.Defer(r.baton, d.For(&r.Call, now), now)
	return passed{r}
}
