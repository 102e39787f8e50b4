package worker

import "github.com/carillon-sched/carillon/scheduler"

// enter writes down the attempt, after what was skipped on the way to it, and
// has package scheduler decide what follows.
func (s recorded) enter(w *Worker) stage {
	r := s.run
	attempt, b := scheduler.AttemptRecord(r.job, r.baton, r.started, r.result)
	r.skipped = append(r.skipped, *attempt)
	if err := w.steps.Record(w.settles, r.key(), r.skipped, r.suspect); err != nil {
		return w.giveBack(r)
	}
	r.skipped = nil
	j, err := w.current(r)
	if err != nil {
		return w.retryLater(r, err) // the record says how far it got
	}
	r.baton = b
	return w.carry(r, j, scheduler.After(r.job, j, b, r.result, attempt.Ended))
}
