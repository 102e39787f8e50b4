package scheduler

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

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
