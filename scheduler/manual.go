package scheduler

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// byHand returns the baton of a manual run of j. The time of the request is its nominal time, so a repeated request has
// the same occurrence.
func (j *Job) byHand(asked time.Time) Baton {
	return Baton{
		Kind: Manual, UID: j.Incarnation(), Revision: j.Revision, Schedule: j.ScheduleGen, Nominal: asked, Due: asked,
	}
}

// isRequest reports whether b is the manual run requested at that time.
func (b *Baton) isRequest(asked time.Time) bool { return b.Kind.IsManual() && b.Nominal.Equal(asked) }

// Trigger returns the baton of a manual run, which replaces the waiting baton of j: the schedule then resumes with the
// occurrence of that baton. records must be written before. The baton is nil if the same request has run and is being
// retried or deferred. The error is [ErrConflict] if another occurrence is in progress.
func (j *Job) Trigger(waiting *Baton, asked, now time.Time) (run *Baton, records []Record, err error) {
	under := waiting.Begun() || waiting.Deferred()
	switch {
	case under && waiting.isRequest(asked):
		return nil, nil, nil // already in progress
	case waiting.Unmet:
		return nil, nil, fmt.Errorf("job %s: %w: its condition (onlyIf) is checked again at %s; cancel that run to run the job now",
			j.Key, ErrConflict, waiting.DeferredUntil.Format(time.RFC3339))
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

// TriggerDisabled returns the detached baton of a manual run of a disabled job, nil if its own baton (nil for none) is
// the same request.
func (j *Job) TriggerDisabled(own *Baton, asked time.Time) *Baton {
	if own != nil && own.isRequest(asked) {
		return nil // it began before the job was disabled, and has not ended
	}
	b := j.byHand(asked)
	b.Kind, b.Number = ManualDetached, j.Progress.Number
	return &b
}

// TriggerBusy returns why a job without a waiting baton cannot be run now, nil if the requested run is in progress.
// running is the baton of a worker, nil for none. open reports whether the collection is enabled.
func (j *Job) TriggerBusy(running *Baton, open bool, asked, now time.Time) error {
	switch {
	case running == nil, !open && running.NeedsOpen(): // a worker is checking whether it may run
		return fmt.Errorf("job %s: %w: its next run is being scheduled; try again", j.Key, ErrConflict)
	case running.isRequest(asked):
		return nil
	case running.MayRun().After(now):
		return fmt.Errorf("job %s: %w: its scheduled run at %s is imminent; try again after it",
			j.Key, ErrConflict, running.MayRun().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano))
	}
	return fmt.Errorf("job %s: %w: it is running or about to run", j.Key, ErrConflict)
}

// Resubmission identifies the occurrence that a manual run repeats.
type Resubmission struct {
	Nominal  time.Time `json:"nominal"`           // nominal time of the occurrence, which its action receives
	Previous time.Time `json:"previous,omitzero"` // nominal time of the occurrence that ran before it; zero: none
}

// of returns the id of the occurrence that is repeated by another occurrence of the same job.
func (r *Resubmission) of(occurrence string) string {
	job, _, _ := strings.Cut(occurrence, "@")
	return job + "@" + r.Nominal.UTC().Format(time.RFC3339Nano)
}

// ParseOccurrence parses the nominal time of an occurrence of the job k: a time as in a job ([document.ParseTime]), or
// the id of the occurrence or of one of its attempts. An id may have the collection's name within its scope, as in
// resource group paths.
func ParseOccurrence(k Key, text string) (time.Time, error) {
	instant := text
	if name, rest, ok := strings.Cut(text, "@"); ok {
		if name != k.String() && name != k.Plain().String() {
			return time.Time{}, Invalid("occurrence", fmt.Sprintf("%q is not an occurrence of %s", text, k))
		}
		instant, _, _ = strings.Cut(rest, "#")
		instant, _, _ = strings.Cut(instant, "/") // suffix of an idempotency key
	}
	t, err := document.ParseTime(instant)
	if err != nil {
		return t, Invalid("occurrence", fmt.Sprintf(
			"%q is neither a time, such as 2026-03-02T09:00:00Z, nor the id of an occurrence or of a record of %s", text, k,
		))
	}
	return t, nil
}

// OccurrenceSearch searches a history, newest first, for the result of an occurrence and of its resubmissions.
type OccurrenceSearch struct {
	Found    *Record   // its last record; nil: none
	Repeated string    // the resubmission that succeeded; "": none
	Tried    time.Time // start of the last attempt of a resubmission; zero: none

	job     *Job
	nominal time.Time
}

// NewOccurrenceSearch returns a search for the occurrence of j at a nominal time.
func NewOccurrenceSearch(j *Job, nominal time.Time) *OccurrenceSearch {
	return &OccurrenceSearch{job: j, nominal: nominal}
}

// Visit processes the next record and reports whether to continue. It ignores records of earlier jobs of the name. A
// search that begins with the last known record in Found takes later records in their order.
func (s *OccurrenceSearch) Visit(r *Record) bool {
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

// concerns reports whether r is a record of the occurrence. A record of skipped or postponed times covers each of them.
func (s *OccurrenceSearch) concerns(r *Record) bool {
	switch {
	case r.Reason.namesNone(), r.Occurrence == "":
		return false // not occurrences
	case r.Nominal.Equal(s.nominal):
		return true
	case r.From.IsZero() || s.nominal.Before(r.From) || s.nominal.After(r.To):
		return false
	}
	return s.nominal.Equal(r.To) || s.job.plan(r.Progress).Count(s.nominal, s.nominal) == 1
}

// Succeeded reports whether r records a successful occurrence.
func (r *Record) Succeeded() bool { return r.Outcome == OutcomeCompleted && r.Phase == MainPhase }

// ErrSucceeded is the [ErrConflict] of an occurrence that has already succeeded.
var ErrSucceeded = fmt.Errorf("%w", ErrConflict)

// Resubmission returns the resubmission of the occurrence that was found. If it is a resubmission itself, the
// occurrence that it repeats is repeated. force allows the resubmission of a successful occurrence. The error is
// [ErrNotFound] if the history does not contain the occurrence, and [ErrConflict] if it succeeded.
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

// Data returns the data of the found run, which its resubmission reuses.
func (s *OccurrenceSearch) Data() json.RawMessage { return s.Found.Data }

// Cause returns the events of the found run, nil for none.
func (s *OccurrenceSearch) Cause() *Cause { return s.Found.Cause }

// Repeats reports whether b, which has not ended, is the occurrence at a nominal time or repeats it.
func (b *Baton) Repeats(nominal time.Time) bool {
	return b.Nominal.Equal(nominal) || b.Resubmits != nil && b.Resubmits.Nominal.Equal(nominal)
}

// Resubmit returns b, a manual run, as the resubmission r of a run that events started, if cause is not nil.
func (b Baton) Resubmit(r *Resubmission, cause *Cause, events json.RawMessage) *Baton {
	b.Resubmits, b.Cause, b.Events = r, cause, events
	return &b
}

// ResubmittedName returns the last subject token of a detached run that repeats the occurrence at a nominal time: only
// one can exist at a time.
func ResubmittedName(nominal time.Time) string { return resubmittedPrefix + DetachedName(nominal) }

// resubmittedPrefix distinguishes the slot of a resubmitted run.
const resubmittedPrefix = "again-"

// Rides reports whether a detached run's message with this name may carry b.
func (b *Baton) Rides(name string) bool {
	if b.Ledger != nil {
		return name == LedgerSlot(b.Cause.Key)
	}
	if b.Keyed {
		return name == KeySlot(b.Cause.Key)
	}
	return name == DetachedName(b.Nominal) || b.Resubmits != nil && name == ResubmittedName(b.Resubmits.Nominal)
}
