package worker

import "github.com/carillon-sched/carillon/scheduler"

// record writes down the attempt, after what was skipped on the way to it, and
// has package scheduler decide what follows.
func (w *Worker) record(r *run) stage {
	attempt, b := scheduler.AttemptRecord(r.job, r.baton, r.started, r.result)
	err := w.steps.Record(w.settles, r.job, r.skipped, r.suspect)
	if err == nil {
		r.doubtful, err = w.steps.Append(w.settles, attempt)
	}
	w.unrecorded.end(r)
	if err != nil {
		return w.nak(r)
	}
	r.skipped, r.attempt = nil, attempt
	j, err := w.jobOf(r)
	if err != nil {
		return w.retryLater(r, err) // the record says how far it got
	}
	if j == nil {
		if j, err = w.ranUnder(r); err != nil {
			return w.retryLater(r, err)
		}
	}
	r.baton = b
	d := scheduler.After(r.job, j, b, r.result, attempt.Ended)
	if r.faulted {
		d.Step = d.Step.WithoutFaulted()
	}
	return w.carry(r, j, d)
}
