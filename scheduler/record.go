package scheduler

import (
	"encoding/json"
	"strings"
	"time"
)

// Outcome is how an attempt, or a run of skipped instants, ended.
type Outcome string

// The outcomes. Every due instant ends in at least one record.
const (
	OutcomeCompleted Outcome = "completed" // an attempt succeeded
	OutcomeFailed    Outcome = "failed"    // an attempt failed
	OutcomeFaulted   Outcome = "faulted"   // an occurrence failed after all retries and its errorAction
	OutcomePostponed Outcome = "postponed" // put off: the collection is disabled, or the target's circuit or rate does not let it run yet
	OutcomeSkipped   Outcome = "skipped"   // did not run; Reason says why
)

// Outcomes lists all of them.
var Outcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted, OutcomePostponed, OutcomeSkipped}

// Reason says why occurrences were skipped.
type Reason string

// The reasons of skipped occurrences.
const (
	ReasonOverlap   Reason = "overlap"   // an earlier occurrence was still running
	ReasonPostponed Reason = "postponed" // an earlier occurrence was put off because of its target
	ReasonCatchUp   Reason = "catchUp"   // missed while no scheduler ran, and not caught up
	ReasonDisabled  Reason = "disabled"  // the job was disabled, or deleted

	// ReasonDST: the clock jumped over them, and the schedule leaves such times
	// out. They are no instants, so Nominal, From and To are the change of the
	// clock, the first instant after them, and Message has the times on the
	// wall. There is no Occurrence: one at that instant may well run.
	ReasonDST Reason = "dst"
)

// Record is one line of a job's history: an attempt, a faulted occurrence, or
// a run of instants that were skipped or postponed.
type Record struct {
	Sequence uint64 `json:"-"` // position in the history, set when read
	Job      Key    `json:"-"` // set when read

	ID         string        `json:"id,omitempty"` // attempt id
	Occurrence string        `json:"occurrence,omitempty"`
	Outcome    Outcome       `json:"outcome"`
	Nominal    time.Time     `json:"nominal,omitzero"`
	Due        time.Time     `json:"due,omitzero"`
	Started    time.Time     `json:"started,omitzero"`
	Ended      time.Time     `json:"ended"`
	Attempt    int           `json:"attempt"` // 0 = the first try of the action
	Try        int           `json:"try,omitempty"`
	Phase      Phase         `json:"phase,omitempty"`
	Manual     bool          `json:"manual,omitempty"`
	OneOff     bool          `json:"oneOff,omitempty"`
	Status     int           `json:"status,omitempty"` // the target's status code
	Message    string        `json:"message,omitempty"`
	Response   string        `json:"response,omitempty"`
	Tail       int           `json:"tail,omitempty"`       // stored: the last Tail bytes of Message are the Response
	Duration   time.Duration `json:"duration,omitempty"`   // nanoseconds
	Final      bool          `json:"final,omitempty"`      // failed, and no retry could help
	RetryAfter time.Duration `json:"retryAfter,omitempty"` // what the target asked for, nanoseconds
	Type       string        `json:"type,omitempty"`       // the action's
	Target     string        `json:"target,omitempty"`     // what the action loads: host and port
	Failed     *Failure      `json:"failed,omitempty"`     // error phase: how the main action failed

	Reason Reason    `json:"reason,omitempty"` // of skipped
	From   time.Time `json:"from,omitzero"`    // skipped, postponed: the first instant
	To     time.Time `json:"to,omitzero"`      // and the last
	Count  int       `json:"count,omitempty"`  // how many

	UID      string    `json:"uid,omitempty"` // of the baton, see [Job.mark]
	Revision uint64    `json:"rev,omitempty"`
	Schedule int       `json:"sched,omitempty"`
	Resume   time.Time `json:"resume,omitzero"`
	Progress Progress  `json:"progress,omitzero"` // after this record
}

// Encode returns the record as it is stored. A response that ends the message
// anyway is not stored twice.
func (r *Record) Encode() ([]byte, error) {
	stored := *r
	if r.Response != "" && strings.HasSuffix(r.Message, r.Response) {
		stored.Response, stored.Tail = "", len(r.Response)
	}
	return json.Marshal(&stored)
}

// DecodeRecord reads a stored record.
func DecodeRecord(data []byte) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, err
	}
	if r.Tail > 0 && r.Tail <= len(r.Message) {
		r.Response = r.Message[len(r.Message)-r.Tail:]
	}
	r.Tail = 0
	return r, nil
}

// Lateness is how long after its due time the attempt started.
func (r *Record) Lateness() time.Duration { return r.Started.Sub(r.Due) }

// attemptRecord is the record of an attempt that ended. b is the baton as
// begun, p the progress after the attempt.
func attemptRecord(k Key, b *Baton, started time.Time, res Result, p Progress) Record {
	a := b.attempt(k)
	r := Record{
		Job: k, ID: a.ID, Occurrence: a.Occurrence, Outcome: OutcomeCompleted,
		Nominal: b.Nominal, Due: b.Due, Started: started, Ended: started.Add(res.Duration),
		Attempt: b.Attempt, Try: a.Try, Phase: b.Phase, Manual: b.Manual, OneOff: b.OneOff,
		Status: res.Status, Message: res.Message, Response: res.Response, Duration: res.Duration, Final: res.Final,
		RetryAfter: res.RetryAfter, Failed: b.Failed, UID: b.UID, Revision: b.Revision, Schedule: b.Schedule, Resume: b.Resume, Progress: p,
	}
	if res.Failed {
		r.Outcome = OutcomeFailed
	}
	return r
}

// postponedRecord is the record of an attempt that was put off before it
// began: the audit finds in it what baton to restore.
func postponedRecord(k Key, b *Baton, now time.Time) Record {
	a, p := b.attempt(k), b.Progress
	if b.OneOff { // the job has gone on without it, and counts it
		p = b.begin().Progress
	}
	return Record{
		Job: k, ID: a.ID, Occurrence: a.Occurrence, Outcome: OutcomePostponed,
		Nominal: b.Nominal, Due: b.Due, Ended: now, From: b.Nominal, To: b.Nominal, Count: 1,
		Attempt: b.Attempt, Try: a.Try, Phase: b.Phase, Manual: b.Manual, OneOff: b.OneOff,
		Failed: b.Failed, UID: b.UID, Revision: b.Revision, Schedule: b.Schedule, Resume: b.Resume, Progress: p,
	}
}

// skip is a run of instants that will not run.
type skip struct {
	from, to time.Time
	count    int
	reason   Reason
	message  string
}

// record turns the skip into a history record. due is when the first of the
// instants was due, now the time of the decision, uid the mark of the job.
func (s skip) record(k Key, uid string, now time.Time, p Progress) Record {
	r := Record{
		Job: k, Outcome: OutcomeSkipped, Reason: s.reason,
		Nominal: s.from, From: s.from, To: s.to, Count: s.count, Message: s.message, Ended: now, UID: uid, Progress: p,
	}
	if s.reason != ReasonDST {
		r.Occurrence = OccurrenceID(k, s.from)
	}
	return r
}

// batonOf returns the begun baton whose attempt r records: how the audit
// and a redelivery take up a sequence where the history left it.
func (r *Record) baton() Baton {
	return Baton{
		UID: r.UID, Revision: r.Revision, Schedule: r.Schedule, Nominal: r.Nominal, Due: r.Due,
		Attempt: r.Attempt, Try: r.Try - 1, Phase: r.Phase, Manual: r.Manual, OneOff: r.OneOff,
		Resume: r.Resume, Progress: r.Progress, Failed: r.Failed,
	}
}

// result returns the outcome part of r.
func (r *Record) result() Result {
	return Result{
		Failed: r.Outcome == OutcomeFailed, Final: r.Final, Status: r.Status,
		Message: r.Message, Response: r.Response, Duration: r.Duration, RetryAfter: r.RetryAfter,
	}
}
