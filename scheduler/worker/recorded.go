package worker

import "github.com/carillon-sched/carillon/scheduler"

// record records the skips before the attempt, then the attempt, and decides the next step.
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
		return w.retryLater(r, err) // the record shows the progress
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
