package scheduler

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Outcome is how an attempt, or a run of skipped instants, ended.
type Outcome string

// The outcomes. Every due instant ends in at least one record.
const (
	OutcomeCompleted Outcome = "completed" // an attempt succeeded
	OutcomeFailed    Outcome = "failed"    // an attempt failed
	OutcomeFaulted   Outcome = "faulted"   // an occurrence failed after all retries and its errorAction
	OutcomePostponed Outcome = "postponed" // later: the collection is disabled, or the target's circuit or rate does not let it run yet
	OutcomeSkipped   Outcome = "skipped"   // did not run; Reason says why
)

// Outcomes lists all of them.
var Outcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted, OutcomePostponed, OutcomeSkipped}

// Reason says why occurrences were skipped.
type Reason string

// The reasons of skipped occurrences.
const (
	ReasonOverlap   Reason = "overlap"   // an earlier occurrence was still running
	ReasonPostponed Reason = "postponed" // an earlier occurrence was deferred because of its target
	ReasonCatchUp   Reason = "catchUp"   // missed while no scheduler ran, and not caught up
	ReasonDisabled  Reason = "disabled"  // the job was disabled, or deleted
	ReasonPaused    Reason = "paused"    // the job was paused until a later time
	ReasonCanceled  Reason = "canceled"  // a user canceled it; also of faulted, after its first attempt

	// ReasonDST: the clock jumped over them, and the schedule leaves such times
	// out. They are no instants, so Nominal, From and To are the change of the
	// clock, the first instant after them, and Message has the times on the
	// wall. There is no Occurrence: one at that instant may well run.
	ReasonDST Reason = "dst"

	// ReasonCostly: the job is over, as the next run takes too much work to find.
	// There is no Occurrence, and Nominal, From and To are when it was given up.
	ReasonCostly Reason = "costly"
)

// Reasons lists all of them.
var Reasons = []Reason{ReasonOverlap, ReasonPostponed, ReasonCatchUp, ReasonDisabled, ReasonPaused, ReasonCanceled, ReasonDST, ReasonCostly}

// reasonWords are the same, as they are written.
var reasonWords = func() (words []string) {
	for _, r := range Reasons {
		words = append(words, string(r))
	}
	return words
}()

// namesNone reports whether what was skipped for the reason is no occurrence.
func (r Reason) namesNone() bool { return r == ReasonDST || r == ReasonCostly }

// Record is one line of a job's history: an attempt, a faulted occurrence, or
// a run of instants that were skipped or postponed. [Record.Encode] says how it
// is stored, and [Record.Form] what users see of it.
type Record struct {
	Sequence uint64    // position in the history, set when read
	Stored   time.Time // when the store took it, by its clock, set when read
	Job      Key       // set when read

	ID          string // attempt id
	Occurrence  string
	Outcome     Outcome
	Nominal     time.Time
	Due         time.Time
	Started     time.Time
	Ended       time.Time
	Attempt     int // 0 = the first try of the action
	Try         int
	Phase       Phase
	ErrorAction int // error phase: which of the job's errorActions, see [Position]
	Kind        Kind
	Status      int    // the target's status code
	Message     string // the facts of an attempt in one text, or what was decided
	Summary     string // see [Result]
	Headers     string
	Response    string
	Duration    time.Duration
	Late        bool          // first attempt: it began later than the job's lateAfter allows
	Final       bool          // failed, and no retry could help
	RetryAfter  time.Duration // what the target asked for
	Type        string        // the action's
	Target      string        // what the action loads: host and port
	Path        string        // where one of several errorActions stands in the job: action.errorAction[1]
	Failed      *Failure      // error phase: how the main action failed
	Resubmits   *Resubmission // by hand: the occurrence that is repeated
	Trace       *BatonTrace   // of the occurrence; nil: it was not traced

	Data json.RawMessage // of a manual run: the object that it gave to templates, as JSON; nil: none

	// GivenUp is, of faulted, when the occurrence was over, its errorAction
	// included. All else is of the last attempt of the main action: that is why.
	GivenUp time.Time

	Reason Reason    // of skipped, and of faulted that was canceled
	From   time.Time // skipped, postponed: the first instant
	To     time.Time // and the last
	Count  int       // how many

	// Damaged: what is stored of it cannot be read, and Message says why. Of the
	// rest, there is what the store itself tells: the job, the outcome, the time.
	Damaged bool

	UID      string // of the baton: the job's incarnation, see [Job.Incarnation]
	Revision uint64
	Schedule int
	Defaults uint64 // see [Baton]
	Resume   time.Time
	Progress Progress // after this record
}

// DamagedRecord stands in for a record that cannot be read.
func DamagedRecord(outcome Outcome, stored time.Time, err error) *Record {
	return &Record{Damaged: true, Outcome: outcome, Ended: stored, Message: "this record cannot be read: " + err.Error()}
}

// Short is what became of it, without what other fields say.
func (r *Record) Short() string { return cmp.Or(r.Summary, r.Message) }

// Lateness is how long after its due time the attempt started.
func (r *Record) Lateness() time.Duration { return r.Started.Sub(r.Due) }

// IsAttempt reports whether the record is one of an attempt, or of one that was
// deferred, and not of instants that were skipped.
func (r *Record) IsAttempt() bool { return r.ID != "" }

// IsOf reports whether the record may be of an incarnation. A damaged record does not name one, and the incarnation of a
// damaged definition is empty: then the name decides.
func (r *Record) IsOf(incarnation string) bool {
	return r.Damaged || incarnation == "" || r.UID == incarnation
}

// Same reports whether two records of a job say the same of the same: one that
// is written again, because nobody knows whether it was stored.
func (r *Record) Same(other *Record) bool {
	return other.UID == r.UID && other.ID == r.ID && other.Occurrence == r.Occurrence &&
		other.Nominal.Equal(r.Nominal) && other.Ended.Equal(r.Ended)
}

// recordOf begins a record of the occurrence of b.
func recordOf(k Key, b *Baton, outcome Outcome, ended time.Time) Record {
	return Record{
		Job: k, Occurrence: OccurrenceID(k, b.Nominal), Outcome: outcome, Nominal: b.Nominal, Due: b.Due, Ended: ended,
		Attempt: b.Attempt, Try: b.Try + 1, Phase: b.Phase, ErrorAction: b.ErrorAction, Kind: b.Kind, UID: b.UID, Revision: b.Revision,
		Schedule: b.Schedule, Progress: b.Progress, Resubmits: b.Resubmits,
		Trace: b.Trace, Data: b.Data, Defaults: b.Defaults,
	}
}

// AttemptRecord is the record of the attempt of b, under the definition j, that
// started and ended with res, and the baton as it is then: begun, and counted.
func AttemptRecord(j *Job, b Baton, started time.Time, res Result) (*Record, Baton) {
	b = b.Begin()
	b.Progress = b.tally(started, res)
	b.rebase(j, started)
	r := recordOf(j.Key, &b, OutcomeCompleted, started.Add(res.Duration))
	if res.Failed {
		r.Outcome = OutcomeFailed
	}
	r.ID, r.Started, r.Failed, r.Resume = b.attemptID(j.Key), started, b.Failed, b.Resume
	r.Status, r.Message, r.Summary, r.Headers, r.Response = res.Status, res.Message, res.Summary, res.Headers, res.Response
	r.Duration, r.Final, r.RetryAfter = res.Duration, res.Final, res.RetryAfter
	r.Late = j.Def.LateAfter > 0 && b.Try == 0 && r.Lateness() > j.Def.LateAfter
	r.attribute(j, b.Position())
	return &r, b
}

// attribute names the action and its target.
func (r *Record) attribute(j *Job, p Position) {
	action := j.Def.Action.In(p)
	r.Type, r.Target = action.Type, action.Run.Target()
	if p.Phase == ErrorPhase && len(j.Def.Action.all()) > 2 {
		r.Path = action.at
	}
}

// deferredRecord is the record of an attempt that was deferred before it began:
// the audit finds in it what baton to restore.
func deferredRecord(j *Job, b *Baton, now time.Time, why string) Record {
	counted := *b
	if b.Kind.IsDetached() { // the job has gone on without it, and counts it
		counted = b.Begin()
	}
	r := recordOf(j.Key, b, OutcomePostponed, now)
	r.ID, r.Failed, r.Resume, r.Message = b.attemptID(j.Key), b.Failed, b.Resume, why
	r.From, r.To, r.Count, r.Progress = b.Nominal, b.Nominal, 1, counted.Progress
	r.attribute(j, b.Position())
	return r
}

// faultedRecord is the record of an occurrence that failed for good, under the
// definition j. It tells of one attempt, the last of the main action, also when
// an errorAction ended with res after it.
func faultedRecord(j *Job, b *Baton, res Result, ended time.Time, p Progress) Record {
	main, failure := *b, b.Failed
	if failure == nil {
		failure = b.failure(res, ended)
	}
	if b.Phase == ErrorPhase {
		main.Phase, main.ErrorAction, main.Due = MainPhase, 0, failure.Due
		main.Attempt, main.Try = failure.Attempts-1, failure.Attempts-1
	}
	r := recordOf(j.Key, &main, OutcomeFaulted, failure.Ended)
	if r.Ended.IsZero() { // the times were not kept
		r.Ended = ended
	}
	r.Started, r.Duration, r.GivenUp = failure.Started, failure.Ended.Sub(failure.Started), ended
	r.Status, r.Message, r.Summary, r.Progress = failure.Status, failure.Message, failure.Summary, p
	if b.Phase == MainPhase {
		r.Message = res.Message // whole
	}
	r.attribute(j, main.Position())
	return r
}

// skip is a run of instants that will not run, or, of a one-shot, not yet.
type skip struct {
	from, to time.Time
	count    int
	reason   Reason
	message  string

	postponed bool // by a disabled collection, and not skipped
}

// counted fills in how many instants of a plan the run has. The message says so where that is too costly to find out.
func (s skip) counted(plan *spec.Plan) skip {
	n, all := plan.Counted(s.from, s.to)
	if s.count = max(1, n); !all {
		s.message = strings.TrimPrefix(s.message+"; these are as many at least, as it takes too much work to count them all", "; ")
	}
	return s
}

// record turns the skip into a history record. now is the time of the
// decision.
func (s skip) record(j *Job, now time.Time, p Progress) Record {
	r := Record{
		Job: j.Key, Outcome: OutcomeSkipped, Reason: s.reason,
		Nominal: s.from, From: s.from, To: s.to, Count: s.count, Message: s.message, Ended: now, UID: j.Incarnation(),
		Schedule: j.ScheduleGen, Progress: p,
	}
	if s.postponed {
		r.Outcome = OutcomePostponed
	}
	if !s.reason.namesNone() {
		r.Occurrence = OccurrenceID(j.Key, s.from)
	}
	return r
}

// skipped turns skips into records.
func (j *Job) skipped(skips []skip, now time.Time, p Progress) []Record {
	if len(skips) == 0 {
		return nil
	}
	records := make([]Record, len(skips))
	for i, s := range skips {
		records[i] = s.record(j, now, p)
	}
	return records
}

// Beyond takes from r, of skipped instants of j, those that the history has in there, its records of the job's incarnation,
// oldest first. It reports whether any are left. Decisions that are repeated begin with the same instant.
func (r *Record) Beyond(there []*Record, j *Job) bool {
	for _, other := range there {
		switch {
		case other.Reason != r.Reason || other.UID != r.UID:
		case r.Reason == ReasonDST:
			if other.Nominal.Unix() == r.Nominal.Unix() {
				return false
			}
		case other.Schedule != r.Schedule || !other.From.Equal(r.From):
		case !r.To.After(other.To):
			return false
		case j != nil && j.ScheduleGen == r.Schedule:
			next, ok := j.plan(r.Progress).Next(other.To)
			if !ok || next.After(r.To) {
				return false
			}
			r.Nominal, r.From, r.Count = next, next, max(1, r.Count-other.Count)
			if r.Occurrence != "" {
				r.Occurrence = OccurrenceID(r.Job, next)
			}
		}
	}
	return true
}

// baton returns the begun baton whose attempt r records: with it the audit and
// a redelivery take up a sequence where the history left it.
func (r *Record) baton() Baton {
	return Baton{
		UID: r.UID, Revision: r.Revision, Schedule: r.Schedule, Nominal: r.Nominal, Due: r.Due,
		Attempt: r.Attempt, Try: r.Try - 1, Phase: r.Phase, ErrorAction: r.ErrorAction, Kind: r.Kind,
		Resume: r.Resume, Progress: r.Progress, Failed: r.Failed, Resubmits: r.Resubmits,
		Trace: r.Trace, Data: r.Data, Defaults: r.Defaults,
	}
}

// result returns the outcome part of r.
func (r *Record) result() Result {
	return Result{
		Failed: r.Outcome == OutcomeFailed, Final: r.Final, Status: r.Status,
		Message: r.Message, Summary: r.Summary, Headers: r.Headers, Response: r.Response, Duration: r.Duration, RetryAfter: r.RetryAfter,
	}
}
