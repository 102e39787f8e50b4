package scheduler

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Outcome is the result of an attempt, or of skipped times.
type Outcome string

// The outcomes. Every due time ends in at least one record.
const (
	OutcomeCompleted Outcome = "completed" // an attempt succeeded
	OutcomeFailed    Outcome = "failed"    // an attempt failed
	OutcomeFaulted   Outcome = "faulted"   // an occurrence failed after all retries and its errorAction
	OutcomePostponed Outcome = "postponed" // the collection is disabled, or the target's circuit breaker or rate limit defers the run
	OutcomeSkipped   Outcome = "skipped"   // did not run, see Reason

	// OutcomeRecovered is an outcome in triggers only: completed, after an occurrence that faulted.
	OutcomeRecovered Outcome = "recovered"
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted, OutcomePostponed, OutcomeSkipped}

// Reason states why occurrences were skipped.
type Reason string

// The reasons of skipped occurrences.
const (
	ReasonOverlap   Reason = "overlap"   // an earlier occurrence was still running
	ReasonPostponed Reason = "postponed" // an earlier occurrence was deferred because of its target
	ReasonCatchUp   Reason = "catchUp"   // missed while no worker ran, and skipped by the misfire policy
	ReasonDisabled  Reason = "disabled"  // the job was disabled or deleted
	ReasonPaused    Reason = "paused"    // the job was paused
	ReasonCanceled  Reason = "canceled"  // a user canceled it; also of faulted, after the first attempt

	// ReasonTrigger: an expression of the trigger could not be evaluated, its rate limit or maxDepth was reached, or not
	// all of the required events came in time (within).
	ReasonTrigger Reason = "trigger"

	// ReasonOnlyIf: the condition onlyIf of the job did not hold. Also of postponed: an occurrence waits for it.
	ReasonOnlyIf Reason = "onlyIf"

	// ReasonDST: a clock change skipped them, and the schedule omits such times. They do not exist as instants, so
	// Nominal, From and To are the clock change, the first instant after them, and Message has the local times.
	// Occurrence is empty: an occurrence at that instant can exist.
	ReasonDST Reason = "dst"

	// ReasonCostly: the job ended because its next run is too expensive to compute. Occurrence is empty, and Nominal,
	// From and To are the time of the decision.
	ReasonCostly Reason = "costly"
)

// Reasons lists all reasons.
var Reasons = []Reason{
	ReasonOverlap, ReasonPostponed, ReasonCatchUp, ReasonDisabled, ReasonPaused, ReasonCanceled, ReasonTrigger,
	ReasonOnlyIf, ReasonDST, ReasonCostly,
}

// reasonWords are the reasons as strings.
var reasonWords = func() (words []string) {
	for _, r := range Reasons {
		words = append(words, string(r))
	}
	return words
}()

// namesNone reports whether the reason applies to times that are not occurrences.
func (r Reason) namesNone() bool { return r == ReasonDST || r == ReasonCostly }

// Record is an entry of a job's history: an attempt, a faulted occurrence, or a run of skipped or postponed times.
// [Record.Encode] returns its stored form, and [Record.Form] the form for users.
type Record struct {
	Sequence uint64    // position in the history, set on reading
	Stored   time.Time // time of storage by the store's clock, set on reading
	Job      Key       // set on reading

	ID          string // attempt id
	Occurrence  string
	Outcome     Outcome
	Nominal     time.Time
	Due         time.Time
	Started     time.Time
	Ended       time.Time
	Attempt     int // number of the retry; 0: first try of the action
	Try         int
	Phase       Phase
	ErrorAction int // error phase: index of the errorAction, see [Position]
	Kind        Kind
	Status      int    // status code of the target
	Message     string // full description of the attempt or the decision
	Summary     string // see [Result]
	Headers     string
	Response    string
	Duration    time.Duration
	Late        bool          // first attempt: it began later than the job's lateAfter allows
	Final       bool          // failed, and a retry could not help
	RetryAfter  time.Duration // delay that the target requested
	Type        string        // type of the action
	Target      string        // host and port that the action loads
	Path        string        // one of several errorActions: its path, action.errorAction[1]
	Failed      *Failure      // error phase: how the main action failed
	Resubmits   *Resubmission // manual run: the occurrence that it repeats
	Trace       *BatonTrace   // of the occurrence; nil: not traced

	Data  json.RawMessage // manual run: the JSON object that it passes to templates; nil: none
	Cause *Cause          // the events that started the run; nil: none

	Starts []Key // completed or faulted: the jobs that the occurrence starts by onSuccess or onFailure

	// FaultedAt is, for faulted, the time when the occurrence failed after all retries, its errorAction included. All
	// other fields describe the last attempt of the main action, which is the cause.
	FaultedAt time.Time

	Reason Reason    // of skipped, of a canceled occurrence that faulted, and of a wait for onlyIf
	From   time.Time // skipped, postponed: first time
	To     time.Time // skipped, postponed: last time
	Count  int       // skipped, postponed: number of times

	// Damaged: the stored record cannot be decoded, and Message states why. Only the job, the outcome and the time are
	// known, from the store.
	Damaged bool

	UID      string // of the baton: incarnation of the job, see [Job.Incarnation]
	Revision uint64
	Schedule int
	Defaults uint64 // see [Baton]
	Resume   time.Time
	Progress Progress // after this record
}

// DamagedRecord represents a record that cannot be decoded.
func DamagedRecord(outcome Outcome, stored time.Time, err error) *Record {
	return &Record{Damaged: true, Outcome: outcome, Ended: stored, Message: "this record cannot be read: " + err.Error()}
}

// Short returns the summary, or else the message.
func (r *Record) Short() string { return cmp.Or(r.Summary, r.Message) }

// Lateness returns how long after its due time the attempt started.
func (r *Record) Lateness() time.Duration { return r.Started.Sub(r.Due) }

// IsAttempt reports whether the record belongs to an attempt, started or deferred, and not to skipped times.
func (r *Record) IsAttempt() bool { return r.ID != "" }

// IsOf reports whether the record may belong to an incarnation. A damaged record has no incarnation, and a damaged
// definition has an empty one: both match every record of the name.
func (r *Record) IsOf(incarnation string) bool {
	return r.Damaged || incarnation == "" || r.UID == incarnation
}

// Same reports whether two records of a job are equal writes: a record is written again if it is unknown whether it was
// stored.
func (r *Record) Same(other *Record) bool {
	return other.UID == r.UID && other.ID == r.ID && other.Occurrence == r.Occurrence &&
		other.Nominal.Equal(r.Nominal) && other.Ended.Equal(r.Ended)
}

// recordOf starts a record of b's attempt.
func recordOf(k Key, b *Baton, outcome Outcome, ended time.Time) Record {
	occurrence, id := b.ids(k)
	return Record{
		Job: k, ID: id, Occurrence: occurrence, Outcome: outcome, Nominal: b.Nominal, Due: b.Due, Ended: ended,
		Attempt: b.Attempt, Try: b.Try + 1, Phase: b.Phase, ErrorAction: b.ErrorAction, Kind: b.Kind, UID: b.UID, Revision: b.Revision,
		Schedule: b.Schedule, Progress: b.Progress, Resubmits: b.Resubmits,
		Trace: b.Trace, Data: b.Data, Cause: b.Cause, Defaults: b.Defaults,
	}
}

// AttemptRecord returns the record of b's attempt under the definition j, and the baton after it: begun, and counted.
func AttemptRecord(j *Job, b Baton, started time.Time, res Result) (*Record, Baton) {
	b = b.Begin()
	b.Progress = b.tally(started, res)
	b.rebase(j, started)
	r := recordOf(j.Key, &b, OutcomeCompleted, started.Add(res.Duration))
	if res.Failed {
		r.Outcome = OutcomeFailed
	}
	if r.Succeeded() {
		r.Starts = j.Def.starts(j.Key, r.Outcome)
	}
	r.Started, r.Failed, r.Resume = started, b.Failed, b.Resume
	r.Status, r.Message, r.Summary, r.Headers, r.Response = res.Status, res.Message, res.Summary, res.Headers, res.Response
	r.Duration, r.Final, r.RetryAfter = res.Duration, res.Final, res.RetryAfter
	r.Late = j.Def.LateAfter > 0 && b.Try == 0 && r.Lateness() > j.Def.LateAfter
	r.attribute(j, b.Position())
	return &r, b
}

// attribute sets the action and its target.
func (r *Record) attribute(j *Job, p Position) {
	action := j.Def.Action.In(p)
	r.Type, r.Target = action.Type, action.Run.Target()
	if p.Phase == ErrorPhase && len(j.Def.Action.all()) > 2 {
		r.Path = action.at
	}
}

// deferredRecord returns the record of an attempt that was deferred before it began. The consistency check restores the
// baton from it.
func deferredRecord(j *Job, b *Baton, now time.Time, why string) Record {
	counted := *b
	if b.Kind.IsDetached() { // the job's own baton has advanced and counts the run
		counted = b.Begin()
	}
	r := recordOf(j.Key, b, OutcomePostponed, now)
	r.Failed, r.Resume, r.Message = b.Failed, b.Resume, why
	r.From, r.To, r.Count, r.Progress = b.Nominal, b.Nominal, 1, counted.Progress
	r.attribute(j, b.Position())
	return r
}

// faultedRecord returns the record of an occurrence that failed after all retries under the definition j. It describes
// the last attempt of the main action, even if an errorAction ended with res after it.
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
	r.ID = ""             // a record of the occurrence
	if r.Ended.IsZero() { // the times were not stored
		r.Ended = ended
	}
	r.Started, r.Duration, r.FaultedAt = failure.Started, failure.Ended.Sub(failure.Started), ended
	r.Status, r.Message, r.Summary, r.Progress = failure.Status, failure.Message, failure.Summary, p
	if b.Phase == MainPhase {
		r.Message = res.Message // not cut
	}
	r.Starts = j.Def.starts(j.Key, r.Outcome)
	r.attribute(j, main.Position())
	return r
}

// skip is a run of times that are skipped or postponed.
type skip struct {
	from, to time.Time
	count    int
	reason   Reason
	message  string

	postponed bool // by a disabled collection, and not skipped
}

// counted sets the number of times. If they are too expensive to count, it sets a lower bound and extends the message.
func (s skip) counted(plan *spec.Plan) skip {
	n, all := plan.Counted(s.from, s.to)
	if s.count = max(1, n); !all {
		s.message = strings.TrimPrefix(s.message+"; these are as many at least, as it takes too much work to count them all", "; ")
	}
	return s
}

// record converts the skip to a history record. now is the time of the decision.
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

// skipped converts skips to records.
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

// Beyond removes from r, a record of skipped times of j, the times that the history already has in there: records of
// the job's incarnation, oldest first. It reports whether any times are left. A repeated decision starts with the same
// time.
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

// baton returns the begun baton whose attempt r records. The consistency check and a redelivery continue from it.
func (r *Record) baton() Baton {
	return Baton{
		UID: r.UID, Revision: r.Revision, Schedule: r.Schedule, Nominal: r.Nominal, Due: r.Due,
		Attempt: r.Attempt, Try: r.Try - 1, Phase: r.Phase, ErrorAction: r.ErrorAction, Kind: r.Kind,
		Resume: r.Resume, Progress: r.Progress, Failed: r.Failed, Resubmits: r.Resubmits,
		Trace: r.Trace, Data: r.Data, Cause: r.Cause, Defaults: r.Defaults,
	}
}

// result returns the result part of r.
func (r *Record) result() Result {
	return Result{
		Failed: r.Outcome == OutcomeFailed, Final: r.Final, Status: r.Status,
		Message: r.Message, Summary: r.Summary, Headers: r.Headers, Response: r.Response, Duration: r.Duration, RetryAfter: r.RetryAfter,
	}
}
