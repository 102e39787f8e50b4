package scheduler

import (
	"fmt"
	"time"
)

// byHand is the baton of a run of j that was asked for at an instant, which is
// its nominal time: a request that is repeated has the same occurrence again.
func (j *Job) byHand(asked time.Time) Baton {
	return Baton{
		Kind: Manual, UID: j.Incarnation(), Revision: j.Revision, Schedule: j.ScheduleGen, Nominal: asked, Due: asked,
	}
}

// isRequest reports whether b is the run by hand that was asked for then.
func (b *Baton) isRequest(asked time.Time) bool { return b.Kind.IsManual() && b.Nominal.Equal(asked) }

// Trigger returns the baton of a run by hand, in place of the waiting baton of
// j: the schedule resumes with that one's occurrence. records are what is to be
// recorded before. It returns nil when the same request has been carried out, and
// is being retried or was deferred, and [ErrConflict] when another occurrence is
// under way.
func (j *Job) Trigger(waiting *Baton, asked, now time.Time) (run *Baton, records []Record, err error) {
	under := waiting.Begun() || waiting.Deferred()
	switch {
	case under && waiting.isRequest(asked):
		return nil, nil, nil // nothing is to be done
	case waiting.Deferred():
		return nil, nil, fmt.Errorf("job %s: %w: its target does not let it run before %s",
			j.Key, ErrConflict, waiting.DeferredUntil.Format(time.RFC3339))
	case waiting.Begun():
		return nil, nil, fmt.Errorf("job %s: %w: it waits for a retry at %s", j.Key, ErrConflict, waiting.Due.Format(time.RFC3339))
	}
	own, skips := j.settle(*waiting, now)
	b := j.byHand(asked)
	b.Progress = own.Progress
	b.Resume = j.nextInstant(own)
	b.PostponementRecorded = own.PostponementRecorded && j.OneShot()
	return &b, j.skipped(skips, now, own.Progress), nil
}

// TriggerDisabled returns the detached baton of a run by hand of a job that is
// disabled, nil when its own baton, nil if it has none, is the same request.
func (j *Job) TriggerDisabled(own *Baton, asked time.Time) *Baton {
	if own != nil && own.isRequest(asked) {
		return nil // it was carried out before the job was disabled, and has not ended
	}
	b := j.byHand(asked)
	b.Kind, b.Number = ManualDetached, j.Progress.Number
	return &b
}

// TriggerBusy explains why a job without a waiting baton cannot be run now, nil
// when what runs is what was asked for. running is the baton that a worker has;
// nil: no worker has it either. open says whether the collection's jobs may run.
func (j *Job) TriggerBusy(running *Baton, open bool, asked, now time.Time) error {
	switch {
	case running == nil, !open && running.NeedsOpen(): // a worker has it to look whether it may run
		return fmt.Errorf("job %s: %w: it is just being planned; try again", j.Key, ErrConflict)
	case running.isRequest(asked):
		return nil
	case running.MayRun().After(now):
		return fmt.Errorf("job %s: %w: it is about to run by itself, at %s; try again after that",
			j.Key, ErrConflict, running.MayRun().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano))
	}
	return fmt.Errorf("job %s: %w: it is running, or about to", j.Key, ErrConflict)
}
