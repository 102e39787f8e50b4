package scheduler

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Baton is the one durable message of an enabled job. It says which attempt
// comes next and carries the job's progress, so that firing reads nothing.
type Baton struct { //nolint:recvcheck // begin and tally return changed copies
	Progress

	UID      string    `json:"uid,omitempty"`     // begins the job's, see [Job.mark]
	Revision uint64    `json:"rev"`               // definition the baton was armed with
	Schedule int       `json:"sched"`             // schedule generation of that definition
	Nominal  time.Time `json:"nominal"`           // the occurrence's instant by the schedule
	Due      time.Time `json:"due"`               // when the attempt may run, never earlier
	Attempt  int       `json:"attempt,omitempty"` // tries of this phase before this one
	Try      int       `json:"try,omitempty"`     // tries of this occurrence before this one
	Phase    Phase     `json:"phase,omitempty"`
	Manual   bool      `json:"manual,omitempty"` // asked for by a run request
	Resume   time.Time `json:"resume,omitzero"`  // manual: the planned occurrence it was put in front of
	OneOff   bool      `json:"oneOff,omitempty"` // rides beside the job's baton; passes nothing on
	Waits    bool      `json:"waits,omitempty"`  // the collection is disabled; postponed was recorded
	Told     bool      `json:"told,omitempty"`   // a rule for its target delays it; postponed was recorded
	Failed   *Failure  `json:"failed,omitempty"` // error phase: how the main action failed

	// Gap is the next change of a clock, not after Nominal, that jumps over
	// times of the schedule. That they are left out is recorded when it comes.
	Gap time.Time `json:"gap,omitzero"`

	// Held is until when a worker has put this attempt off because of its
	// target: it is late, but not missed. Postponed is since when it has been
	// put off because the target's circuit is open.
	Held      time.Time `json:"held,omitzero"`
	Postponed time.Time `json:"postponed,omitzero"`
}

// Progress is what a job has done so far.
type Progress struct {
	Number     int       `json:"number,omitempty"` // occurrences begun, by schedule or by hand
	Runs       int       `json:"runs,omitempty"`   // occurrences begun by schedule: what recurrence.count limits
	Executions int       `json:"executions,omitempty"`
	Failures   int       `json:"failures,omitempty"`
	Faults     int       `json:"faults,omitempty"`
	Last       time.Time `json:"last,omitzero"`  // start of the last attempt
	Seen       time.Time `json:"seen,omitzero"`  // last nominal instant that was run or skipped
	Base       time.Time `json:"base,omitzero"`  // last execution that moved the schedule, see [spec.Plan.Moved]
	Ran        time.Time `json:"ran,omitzero"`   // nominal instant of the last occurrence that ran
	Prior      time.Time `json:"prior,omitzero"` // and of the one before

	// Merged are the one-offs last counted in, by their nominal instants in Unix
	// nanoseconds: none is counted twice after a crash.
	Merged []int64 `json:"merged,omitempty"`
}

// Encode returns the baton's message body.
func (b *Baton) Encode() []byte {
	data, err := json.Marshal(b)
	if err != nil {
		panic("scheduler: baton cannot be encoded: " + err.Error()) // only plain fields: a defect
	}
	return data
}

// DecodeBaton reads a message body.
func DecodeBaton(data []byte) (Baton, error) {
	var b Baton
	if err := json.Unmarshal(data, &b); err != nil {
		return b, fmt.Errorf("baton: %w", err)
	}
	return b, nil
}

// next is when the attempt may begin: when it is due, or later if it was put
// off.
func (b *Baton) next() time.Time {
	if b.Held.After(b.Due) {
		return b.Held
	}
	return b.Due
}

// wake is when a worker has something to do: at the next attempt, or at a
// change of the clock before it.
func (b *Baton) wake() time.Time {
	if b.gapFirst() {
		return b.Gap
	}
	return b.next()
}

// gapFirst reports whether the clock jumps over times before b's instant.
func (b *Baton) gapFirst() bool { return !b.Gap.IsZero() && b.Gap.Before(b.Nominal) }

// markLength is how much of a job's UID its batons and records carry: 40 bits
// tell a few jobs of one name apart, and there is a baton for every job.
const markLength = 8

// mark is what tells j from an earlier job of its name, in batons and records.
func (j *Job) mark() string { return j.UID[:min(markLength, len(j.UID))] }

// serves reports whether b belongs to j, and not to an earlier job of its name
// that was deleted.
func (b *Baton) serves(j *Job) bool { return sameJob(b.UID, j.mark()) }

// sameJob compares two marks. A baton or record without one comes from a
// version that wrote none, and fits any job of the name.
func sameJob(mark, other string) bool { return mark == "" || other == "" || mark == other }

// Begun reports whether an attempt of the baton's occurrence has already run.
func (b *Baton) Begun() bool { return b.Try > 0 }

// begin returns the baton as it is while its attempt runs: the first attempt
// of an occurrence counts the occurrence.
func (b Baton) begin() Baton {
	if b.Begun() {
		return b
	}
	b.Number++
	if !b.Manual {
		b.Runs++
	}
	return b
}

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

// attempt describes the baton's attempt to an action.
func (b *Baton) attempt(k Key) Attempt {
	id := OccurrenceID(k, b.Nominal)
	key := id
	if b.Phase == ErrorPhase {
		key = id + "/error" // another call: the target of both must not take it for a repetition
	}
	previous := b.Ran
	if previous.Equal(b.Nominal) { // this is a retry
		previous = b.Prior
	}
	return Attempt{
		Job: k, Occurrence: id, ID: id + "#" + strconv.Itoa(b.Try+1), Key: key,
		Nominal: b.Nominal, Due: b.Due, Try: b.Try + 1, Phase: b.Phase, Previous: previous, Failure: b.Failed,
	}
}
