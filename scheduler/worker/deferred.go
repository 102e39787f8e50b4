package worker

import (
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// sendBack makes a run wait for its target outside the process.
func (w *Worker) sendBack(r *run, d limits.Deferral) stage {
	if r.packed != nil && !w.open(r) {
		return admitted{r}
	}
	now := w.cfg.Store.Now()
	if !w.jobs.Unchanged(r.key(), r.since) {
		switch w.standing(r) { //nolint:exhaustive // the other results do not prevent it
		case scheduler.Gone:
			return w.astray(r)
		case scheduler.Foreign:
			return w.dropOrphan(r)
		}
		if w.canceled(r) {
			return admitted{r}
		}
	}
	r.current, r.step = r.job, r.job.Defer(r.baton, d.For(&r.Call, now), now)
	return passed{r}
}
