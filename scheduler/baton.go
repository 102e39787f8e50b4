package scheduler

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"
)

// Baton is the one durable message of an enabled job. It says which attempt
// comes next and carries the job's progress, so that firing reads nothing.
type Baton struct { //nolint:recvcheck // Begin and tally return changed copies
	Progress

	Kind        Kind      `json:"-"`                 // stored as manual and oneOff
	UID         string    `json:"uid,omitempty"`     // the job's incarnation, see [Job.Incarnation]
	Revision    uint64    `json:"rev"`               // definition the baton was armed with
	Schedule    int       `json:"sched"`             // schedule generation of that definition
	Nominal     time.Time `json:"nominal"`           // the occurrence's instant by the schedule
	Due         time.Time `json:"due"`               // when the attempt may run, never earlier
	Attempt     int       `json:"attempt,omitempty"` // tries of this action before this one
	Try         int       `json:"try,omitempty"`     // tries of this occurrence before this one
	Phase       Phase     `json:"phase,omitempty"`
	ErrorAction int       `json:"errorAction,omitempty"` // error phase: which of the job's errorActions, see [Position]
	Resume      time.Time `json:"resume,omitzero"`       // manual: the planned occurrence it was put in front of
	Failed      *Failure  `json:"failed,omitempty"`      // error phase: how the main action failed

	Resubmits *Resubmission `json:"resubmits,omitempty"` // by hand: the occurrence that is repeated
	Trace     *BatonTrace   `json:"trace,omitempty"`     // nil: the occurrence begins one of its own, or there are none

	// Defaults is the revision of the collection whose defaults the occurrence began with; 0: none.
	Defaults uint64 `json:"defaults,omitempty"`

	// Data is the object that a manual run gives to templates, as JSON; nil: none.
	Data json.RawMessage `json:"data,omitempty"`

	// The collection is disabled, and the first record of that is written. There
	// may be instants after Seen and before Nominal then that have none yet.
	PostponementRecorded bool `json:"waits,omitempty"`

	// PausedFrom is the first instant before Nominal that fell into the job's pause
	// and has no record yet; zero: there is none.
	PausedFrom time.Time `json:"pausedFrom,omitzero"`

	// Gap is the next change of a clock, not after Nominal, that jumps over
	// times of the schedule. That they are omitted is recorded when it comes.
	Gap time.Time `json:"gap,omitzero"`

	// Deferred until is when this attempt may run after a worker has put it off
	// because of its target: it is late, but not missed. DeferredSince is when
	// the target's open circuit first did so. DeferralRecorded: a rule for the
	// target is why, and the record of that is written.
	DeferredUntil    time.Time `json:"held,omitzero"`
	DeferredSince    time.Time `json:"postponed,omitzero"`
	DeferralRecorded bool      `json:"told,omitempty"`

	// Suspect: its attempt may have been run before, whatever its message says, so
	// the history has to be asked. It has waited for its definition, which was
	// missing, or runs detached from a baton that had been delivered before. It is
	// stored by the name that it had when only the first was so.
	Suspect bool `json:"strayed,omitempty"`
}

// Check says what about a baton in a slot cannot be: a run by hand without the
// occurrence that it was put in front of, a kind that does not ride there, or one
// without an instant or an incarnation. It would go round for ever.
func (b *Baton) Check(slot Slot) error {
	switch {
	case b.Kind.IsDetached() != (slot.Detached != ""):
		return errors.New("baton: it is of a detached run on the message of the job's own, or the reverse (oneOff)")
	case b.Kind == Manual && b.Resume.IsZero():
		return errors.New("baton: a run by hand does not say with what the schedule goes on (resume)")
	case b.Nominal.IsZero():
		return errors.New("baton: it has no instant (nominal)")
	case b.UID == "":
		return errors.New("baton: it does not name its job's incarnation (uid)")
	case min(b.Attempt, b.Try, b.ErrorAction, b.Number, b.Runs) < 0:
		return errors.New("baton: it counts below zero")
	}
	return nil
}

// MayRun is when the attempt may begin: when it is due, or later if it was
// deferred.
func (b *Baton) MayRun() time.Time {
	if b.DeferredUntil.After(b.Due) {
		return b.DeferredUntil
	}
	return b.Due
}

// Wake is when a worker has something to do: at the next attempt, or at a
// change of the clock before it.
func (b *Baton) Wake() time.Time {
	if b.gapFirst() {
		return b.Gap
	}
	return b.MayRun()
}

// gapFirst reports whether the clock jumps over times before b's instant.
func (b *Baton) gapFirst() bool { return !b.Gap.IsZero() && b.Gap.Before(b.Nominal) }

// Position is which of the job's actions comes next.
func (b *Baton) Position() Position { return Position{b.Phase, b.ErrorAction} }

// Left returns a predicate for the batons of a deleted job: it matches the incarnation, and any baton armed by revision
// through or earlier. A later job of the name has another UID and later revisions.
func Left(incarnation string, through uint64) func(*Baton) bool {
	return func(b *Baton) bool { return b.Revision <= through || b.UID == incarnation }
}

// IsOf reports whether a stored baton may be of an incarnation: an unreadable one may be.
func (st Stored) IsOf(incarnation string) bool {
	b, err := DecodeBaton(st.Data)
	return err != nil || b.IsOf(incarnation)
}

// IsOf reports whether b may be of an incarnation. The incarnation of a damaged definition is empty: then the name decides.
func (b *Baton) IsOf(incarnation string) bool { return incarnation == "" || b.UID == incarnation }

// BelongsTo reports whether b is of j, and not of an earlier job of its name
// that was deleted.
func (b *Baton) BelongsTo(j *Job) bool { return b.IsOf(j.Incarnation()) }

// Begun reports whether an attempt of the baton's occurrence has already run.
func (b *Baton) Begun() bool { return b.Try > 0 }

// Deferred reports whether the attempt was deferred because of its target.
func (b *Baton) Deferred() bool { return !b.DeferredUntil.IsZero() }

// Begin returns the baton as it is while its attempt runs: the first attempt
// of an occurrence counts the occurrence.
func (b Baton) Begin() Baton {
	if b.Begun() {
		return b
	}
	b.Number++
	if !b.Kind.IsManual() {
		b.Runs++
	}
	return b
}

// tally returns the progress with an attempt that ended.
func (b Baton) tally(started time.Time, res Result) Progress {
	p := b.Progress
	executions, failures := &p.Executions, &p.Failures
	if b.Phase == ErrorPhase {
		executions, failures = &p.Errors, &p.ErrorFails
	}
	*executions++
	p.Last = started
	if res.Failed {
		*failures++
	}
	p.ran(b.Nominal)
	if !b.Kind.IsManual() {
		p.Seen = later(p.Seen, b.Nominal) // later ones were skipped while it waited
	}
	return p
}

// rebase has the schedule of j count from the occurrence of b, whose attempt started at started. An execution begins with
// its first attempt: retries and errorActions move nothing.
func (b *Baton) rebase(j *Job, started time.Time) {
	if base, moves := j.Plan.Base(b.Nominal, started, b.Kind.IsManual()); moves && !b.Begun() {
		b.Base = base
	}
}

// Rebased reports whether the schedule counts from the occurrence of b, which has begun.
func (b *Baton) Rebased() bool { return !b.Base.Before(b.Nominal) }

// Detached is the baton that carries the occurrence of b beside the job's own.
// Its counters start at zero: they are added to the job's when it has ended.
func (b Baton) Detached() Baton {
	b.Kind = Detached
	b.Progress = Progress{Number: b.Number, Runs: b.Runs, Base: b.Base, Ran: b.Ran, Prior: b.Prior}
	return b
}

// Uncounted is how many occurrences a detached baton carries that the job's own
// has not counted: a run by hand that began without it. p is what it came to.
func (b Baton) Uncounted(p Progress) int {
	if b.Kind == ManualDetached && p.Executions > 0 {
		return 1
	}
	return 0
}

// DetachedName is the last subject token of the message of a detached run.
func DetachedName(nominal time.Time) string { return strconv.FormatInt(instantID(nominal), 36) }

// instantID tells the instants of one job apart: the nanoseconds since 1970.
// Those after the year 2262 go on with the negative numbers, so two instants have
// the same only when they are 584 years apart.
func instantID(t time.Time) int64 { return t.Unix()*int64(time.Second) + int64(t.Nanosecond()) }

// OccurrenceID returns collection/job@nominal.
func OccurrenceID(k Key, nominal time.Time) string {
	return string(appendOccurrence(make([]byte, 0, len(k.Collection)+len(k.Job)+40), k, nominal))
}

func appendOccurrence(p []byte, k Key, nominal time.Time) []byte {
	p = append(p, k.Collection...)
	p = append(p, '/')
	p = append(p, k.Job...)
	p = append(p, '@')
	return nominal.UTC().AppendFormat(p, time.RFC3339Nano)
}

// attemptID is the occurrence's id and the number of the try.
func (b *Baton) attemptID(k Key) string {
	return OccurrenceID(k, b.Nominal) + "#" + strconv.Itoa(b.Try+1)
}

// AttemptOf describes the baton's attempt to an action. One that repeats an
// occurrence has the ids and the key of its own, so that its target does not take
// it for the call that failed, and the instants of that occurrence.
func (b *Baton) AttemptOf(k Key) Attempt {
	id := OccurrenceID(k, b.Nominal)
	key := id
	if b.Phase == ErrorPhase {
		key = id + "/error" // another call: the target of both must not take it for a repetition
	}
	if b.ErrorAction > 0 {
		key += "-" + strconv.Itoa(b.ErrorAction+1)
	}
	nominal, previous := b.Nominal, b.Ran
	if previous.Equal(b.Nominal) { // this is a retry
		previous = b.Prior
	}
	if b.Resubmits != nil {
		nominal, previous = b.Resubmits.Nominal, b.Resubmits.Previous
	}
	return Attempt{
		Job: k, Occurrence: id, ID: id + "#" + strconv.Itoa(b.Try+1), Key: key,
		Nominal: nominal, Due: b.Due, Try: b.Try + 1, Phase: b.Phase, Previous: previous, Failure: b.Failed, Data: b.Data,
	}
}

// Kind says who asked for a run, and whether the job's schedule goes on from
// its end. In stored batons and records it is the flags manual and oneOff.
type Kind uint8

// The kinds of runs.
const (
	// Planned is an occurrence of the schedule. It rides the job's own baton.
	Planned Kind = iota

	// Manual is a run by hand. It rides the job's own baton, in front of the
	// planned occurrence, with which the schedule resumes.
	Manual

	// Detached is an occurrence of a job whose occurrences may overlap. It
	// rides a message of its own, beside the job's baton, and passes nothing on.
	Detached

	// ManualDetached is a run by hand of a job that is disabled and so has no
	// baton: it rides a message of its own, too.
	ManualDetached
)

// IsManual reports whether the run was asked for by hand. It uses up no
// recurrence.count.
func (k Kind) IsManual() bool { return k == Manual || k == ManualDetached }

// IsDetached reports whether the run rides a message of its own. Its counters
// are added to the job's when it has ended.
func (k Kind) IsDetached() bool { return k == Detached || k == ManualDetached }

// kindFlags is a kind as it is stored.
type kindFlags struct {
	Manual   bool `json:"manual,omitempty"` // asked for by a run request
	Detached bool `json:"oneOff,omitempty"` // rides beside the job's baton
}

func (k Kind) flags() kindFlags { return kindFlags{k.IsManual(), k.IsDetached()} }

func (f kindFlags) kind() Kind {
	switch {
	case f.Manual && f.Detached:
		return ManualDetached
	case f.Manual:
		return Manual
	case f.Detached:
		return Detached
	}
	return Planned
}

// Unrecorded is the first instant of the schedule that b, a job's own baton, has yet to record: its nominal time, or an
// earlier instant that it passes over because of a pause or a disabled collection.
func (b *Baton) Unrecorded() time.Time {
	first := b.Nominal
	if b.Kind == Manual {
		first = b.Resume
	}
	if b.PostponementRecorded && b.Seen.Before(first) {
		first = b.Seen.Add(1)
	}
	if !b.PausedFrom.IsZero() && b.PausedFrom.Before(first) {
		first = b.PausedFrom
	}
	return first
}
