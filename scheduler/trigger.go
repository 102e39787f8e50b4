package scheduler

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
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

// Resubmission says which occurrence a run by hand repeats.
type Resubmission struct {
	Nominal  time.Time `json:"nominal"`           // of the occurrence as the schedule named it: what its action is told
	Previous time.Time `json:"previous,omitzero"` // the instant of the occurrence that ran before it; zero: none
}

// of is the id of the occurrence that one of the same job repeats.
func (r *Resubmission) of(occurrence string) string {
	job, _, _ := strings.Cut(occurrence, "@")
	return job + "@" + r.Nominal.UTC().Format(time.RFC3339Nano)
}

// ParseOccurrence reads the nominal instant of an occurrence of the job k: a
// time as in a job ([document.ParseTime]), or the id of the occurrence or of one of its attempts. Those
// may have the collection's name within its scope, as the paths of a resource group show them.
func ParseOccurrence(k Key, text string) (time.Time, error) {
	instant := text
	if name, rest, ok := strings.Cut(text, "@"); ok {
		if name != k.String() && name != k.Plain().String() {
			return time.Time{}, Invalid("occurrence", fmt.Sprintf("%q is not an occurrence of %s", text, k))
		}
		instant, _, _ = strings.Cut(rest, "#")
		instant, _, _ = strings.Cut(instant, "/") // of a key
	}
	t, err := document.ParseTime(instant)
	if err != nil {
		return t, Invalid("occurrence", fmt.Sprintf(
			"%q is neither a time, such as 2026-03-02T09:00:00Z, nor the id of an occurrence or of a record of %s", text, k,
		))
	}
	return t, nil
}

// OccurrenceSearch looks through a history, newest first, for what became of an
// occurrence, and of those who repeated it.
type OccurrenceSearch struct {
	Found    *Record   // its last record; nil: none
	Repeated string    // the occurrence that repeated it with success; "": none
	Tried    time.Time // start of the last attempt that repeated it; zero: none

	job     *Job
	nominal time.Time
}

// NewOccurrenceSearch returns a search for the occurrence of j at an instant.
func NewOccurrenceSearch(j *Job, nominal time.Time) *OccurrenceSearch {
	return &OccurrenceSearch{job: j, nominal: nominal}
}

// Look takes the next record, and reports whether to go on. Records of an earlier
// job of the name are not looked at. A search that begins with the last known record in Found
// takes later records in their order.
func (s *OccurrenceSearch) Look(r *Record) bool {
	if r.Resubmits != nil && r.Resubmits.Nominal.Equal(s.nominal) && r.Started.After(s.Tried) {
		s.Tried = r.Started
	}
	switch {
	case r.Ended.Before(s.job.Created), r.UID != s.job.Incarnation():
	case r.Resubmits != nil && r.Resubmits.Nominal.Equal(s.nominal) && r.Succeeded():
		s.Repeated = r.Occurrence
	case s.concerns(r):
		s.Found = r
	}
	return s.Found == nil
}

// concerns reports whether r is a record of the occurrence. A run of instants that
// were skipped or postponed has one for each.
func (s *OccurrenceSearch) concerns(r *Record) bool {
	switch {
	case r.Reason.namesNone(), r.Occurrence == "":
		return false // they were no instants
	case r.Nominal.Equal(s.nominal):
		return true
	case r.From.IsZero() || s.nominal.Before(r.From) || s.nominal.After(r.To):
		return false
	}
	return s.nominal.Equal(r.To) || s.job.plan(r.Progress).Count(s.nominal, s.nominal) == 1
}

// Succeeded reports whether r says that an occurrence did.
func (r *Record) Succeeded() bool { return r.Outcome == OutcomeCompleted && r.Phase == MainPhase }

// ErrSucceeded is the [ErrConflict] of an occurrence that need not run again.
var ErrSucceeded = fmt.Errorf("%w", ErrConflict)

// Resubmission returns how the occurrence that was found is repeated, or what it
// repeated itself: who resubmits a resubmission means the occurrence. force lets
// one be repeated that succeeded. [ErrNotFound] when the history does not have
// it, [ErrConflict] when it succeeded.
func (s *OccurrenceSearch) Resubmission(force bool) (*Resubmission, error) {
	id := OccurrenceID(s.job.Key, s.nominal)
	switch r := s.Found; {
	case r == nil:
		return nil, fmt.Errorf("occurrence %s: %w in the history of its job", id, ErrNotFound)
	case r.Succeeded() && !force:
		return nil, fmt.Errorf("occurrence %s: %w: it succeeded; force runs it again", id, ErrSucceeded)
	case s.Repeated != "" && !force:
		return nil, fmt.Errorf("occurrence %s: %w: it was resubmitted as %s, which succeeded; force runs it again",
			id, ErrSucceeded, s.Repeated)
	case r.Resubmits != nil:
		return r.Resubmits, nil
	default:
		previous := r.Progress.Ran
		if previous.Equal(s.nominal) {
			previous = r.Progress.Prior
		}
		return &Resubmission{s.nominal, previous}, nil
	}
}

// Data returns the data of the found run. A run that repeats it has the same data.
func (s *OccurrenceSearch) Data() json.RawMessage { return s.Found.Data }

// Repeats reports whether b is the occurrence of an instant, or repeats it: it has
// not ended then.
func (b *Baton) Repeats(nominal time.Time) bool {
	return b.Nominal.Equal(nominal) || b.Resubmits != nil && b.Resubmits.Nominal.Equal(nominal)
}

// Resubmit returns b, of a run by hand, as one that repeats an occurrence.
func (b Baton) Resubmit(r *Resubmission) *Baton {
	b.Resubmits = r
	return &b
}

// ResubmittedName is the last subject token of the message of a detached run that
// repeats the occurrence of an instant: there is one at a time.
func ResubmittedName(nominal time.Time) string { return "again-" + DetachedName(nominal) }

// Rides reports whether a detached run's message may be named so and carry b.
func (b *Baton) Rides(name string) bool {
	return name == DetachedName(b.Nominal) || b.Resubmits != nil && name == ResubmittedName(b.Resubmits.Nominal)
}
