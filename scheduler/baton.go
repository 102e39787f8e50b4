package scheduler

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// Baton is the one durable message of an enabled job. It describes the next attempt and carries the job's progress, so
// that firing it reads nothing.
type Baton struct { //nolint:recvcheck // Begin and tally return changed copies
	Progress

	Kind        Kind      `json:"-"`                 // stored as manual and oneOff
	UID         string    `json:"uid,omitempty"`     // incarnation of the job, see [Job.Incarnation]
	Revision    uint64    `json:"rev"`               // revision of the definition that armed the baton
	Edit        uint64    `json:"edit,omitempty"`    // revision that its worker must have read before it decides; 0: Revision
	Schedule    int       `json:"sched"`             // schedule generation of that definition
	Nominal     time.Time `json:"nominal"`           // time by the schedule
	Due         time.Time `json:"due"`               // earliest start of the attempt
	Attempt     int       `json:"attempt,omitempty"` // previous tries of this action
	Try         int       `json:"try,omitempty"`     // previous tries of this occurrence
	Phase       Phase     `json:"phase,omitempty"`
	ErrorAction int       `json:"errorAction,omitempty"` // error phase: index of the errorAction, see [Position]
	Resume      time.Time `json:"resume,omitzero"`       // manual run: the planned occurrence that follows it
	Failed      *Failure  `json:"failed,omitempty"`      // error phase: how the main action failed

	Resubmits *Resubmission `json:"resubmits,omitempty"` // manual run: the occurrence that it repeats
	Trace     *BatonTrace   `json:"trace,omitempty"`     // nil: the occurrence starts its own trace, or tracing is off

	// Defaults is the revision of the collection whose defaults the occurrence started with; 0: none.
	Defaults uint64 `json:"defaults,omitempty"`

	// Data is the JSON object that a manual run passes to templates; nil: none.
	Data json.RawMessage `json:"data,omitempty"`

	// Cause describes the events that started the run, which Events holds as a JSON array; nil: none. Keyed: the baton
	// waits for its key, and further events may replace it. It runs on a separate message.
	Cause  *Cause          `json:"cause,omitempty"`
	Events json.RawMessage `json:"events,omitempty"`
	Keyed  bool            `json:"keyed,omitempty"`

	// Spent: the keyed baton starts no run. It counts the runs of its key until the end of a period, or holds a ledger. If
	// CanceledAt is set, it notes for a moment that an event of that time has canceled the earlier ones.
	Spent      bool      `json:"spent,omitempty"`
	CanceledAt time.Time `json:"canceledAt,omitzero"`

	// Ledger lists the runs of the key of a spent baton that is in the slot of a ledger.
	Ledger *Ledger `json:"ledger,omitempty"`

	// Arrived are the labels of the listeners whose events have come, with require all. An event of each is in Events, in
	// this order.
	Arrived []string `json:"arrived,omitempty"`

	// PostponementRecorded: the collection is disabled, and the first postponed record is written. Schedule times after
	// Seen and before Nominal may have no record yet.
	PostponementRecorded bool `json:"waits,omitempty"`

	// PausedFrom is the first time before Nominal that fell into the job's pause and has no record yet; zero: none.
	PausedFrom time.Time `json:"pausedFrom,omitzero"`

	// Queued: it was due while an earlier occurrence ran, and waits for it ([OverlapQueue]). It is late, but not missed. A
	// triggered run waits for others of its key: its worker asks the ledger again when the baton fires.
	Queued bool `json:"queued,omitempty"`

	// Gap is the next clock change, not after Nominal, that skips times of the schedule. They are recorded as skipped
	// when it is reached.
	Gap time.Time `json:"gap,omitzero"`

	// DeferredUntil is the earliest start of an attempt that a worker deferred because of its target or, if Unmet is set,
	// of its condition. A deferred attempt is late, but not missed. DeferredSince is the time of the first deferral by the
	// target's open circuit breaker. DeferralRecorded: a target rule or the condition deferred the attempt, and the record
	// is written.
	DeferredUntil    time.Time `json:"held,omitzero"`
	DeferredSince    time.Time `json:"postponed,omitzero"`
	DeferralRecorded bool      `json:"told,omitempty"`
	Unmet            bool      `json:"unmet,omitempty"`

	// Suspect: an earlier attempt may exist that the message does not show, so the worker searches the history. The
	// baton waited for a missing definition, or was detached from a redelivered baton. The stored name dates from when
	// only the first case existed.
	Suspect bool `json:"strayed,omitempty"`
}

// Check rejects an invalid baton in a slot, which no worker could ever finish. It is a manual run without the
// occurrence that follows it, has a kind that does not belong in the slot, or lacks a time or an incarnation.
func (b *Baton) Check(slot BatonKey) error {
	switch {
	case b.Kind.IsDetached() != (slot.Detached != ""):
		return errors.New("baton: it is of a detached run on the message of the job's own, or the reverse (oneOff)")
	case b.Kind == Manual && b.Resume.IsZero():
		return errors.New("baton: a manual run without the occurrence that the schedule continues with (resume)")
	case b.Nominal.IsZero():
		return errors.New("baton: it has no instant (nominal)")
	case b.UID == "":
		return errors.New("baton: it does not name its job's incarnation (uid)")
	case min(b.Attempt, b.Try, b.ErrorAction, b.Number, b.Runs) < 0:
		return errors.New("baton: it counts below zero")
	}
	return nil
}

// MayRun returns the earliest start of the attempt: the due time, or later if it was deferred.
func (b *Baton) MayRun() time.Time {
	if b.DeferredUntil.After(b.Due) {
		return b.DeferredUntil
	}
	return b.Due
}

// Wake returns when a worker must act: at the next attempt, or at an earlier clock change.
func (b *Baton) Wake() time.Time {
	if b.gapFirst() {
		return b.Gap
	}
	return b.MayRun()
}

// gapFirst reports whether a clock change skips schedule times before b's nominal time.
func (b *Baton) gapFirst() bool { return !b.Gap.IsZero() && b.Gap.Before(b.Nominal) }

// Position returns the position of the next action.
func (b *Baton) Position() Position { return Position{b.Phase, b.ErrorAction} }

// Left returns a predicate for the batons of a deleted job: it matches the incarnation, and any baton armed by revision
// through or earlier. A later job of the name has another UID and later revisions.
func Left(incarnation string, through uint64) func(*Baton) bool {
	return func(b *Baton) bool { return b.Revision <= through || b.UID == incarnation }
}

// IsOf reports whether a stored baton may belong to an incarnation. An unreadable baton may.
func (st Stored) IsOf(incarnation string) bool {
	b, err := DecodeBaton(st.Data)
	return err != nil || b.IsOf(incarnation)
}

// IsOf reports whether b may belong to an incarnation. A damaged definition has an empty incarnation, which matches
// every baton of the name.
func (b *Baton) IsOf(incarnation string) bool { return incarnation == "" || b.UID == incarnation }

// BelongsTo reports whether b belongs to j, and not to a deleted job of the same name.
func (b *Baton) BelongsTo(j *Job) bool { return b.IsOf(j.Incarnation()) }

// Begun reports whether the occurrence has had an attempt.
func (b *Baton) Begun() bool { return b.Try > 0 }

// Deferred reports whether a worker deferred the attempt because of its target or its condition.
func (b *Baton) Deferred() bool { return !b.DeferredUntil.IsZero() }

// Begin returns the baton during its attempt. The first attempt counts the occurrence.
func (b Baton) Begin() Baton {
	if b.Begun() {
		return b
	}
	b.Number++
	if b.Kind.IsScheduled() {
		b.Runs++
	}
	return b
}

// tally returns the progress after an attempt.
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
	if b.Kind.IsScheduled() {
		p.Seen = Later(p.Seen, b.Nominal) // later times were skipped while it waited
	}
	return p
}

// rebase lets the schedule of j count from the start of b's occurrence, if it is relative to executions. Only the first
// attempt moves the schedule: retries and errorActions do not.
func (b *Baton) rebase(j *Job, started time.Time) {
	if base, moves := j.Plan.Base(b.Nominal, started, !b.Kind.IsScheduled()); moves && !b.Begun() {
		b.Base = base
	}
}

// Rebased reports whether the schedule counts from the occurrence of b, which has begun.
func (b *Baton) Rebased() bool { return !b.Base.Before(b.Nominal) }

// Detached returns a detached baton for the occurrence of b. Its counters start at zero and are merged into the job's
// at its end.
func (b Baton) Detached() Baton {
	b.Kind = Detached
	b.Progress = Progress{Number: b.Number, Runs: b.Runs, Base: b.Base, Ran: b.Ran, Prior: b.Prior}
	return b
}

// Uncounted returns the number of occurrences of a detached baton that the job's own baton has not counted: 1 for a run
// outside the schedule with an attempt, else 0. p is its final progress.
func (b Baton) Uncounted(p Progress) int {
	if !b.Kind.IsScheduled() && p.Executions > 0 {
		return 1
	}
	return 0
}

// DetachedName returns the last subject token of a detached run.
func DetachedName(nominal time.Time) string { return slotName(instantID(nominal)) }

func slotName(id int64) string { return strconv.FormatInt(id, 36) }

// instantID identifies a time of one job: its nanoseconds since 1970. Times after 2262 wrap around to negative numbers,
// so two times collide only 584 years apart.
func instantID(t time.Time) int64 { return t.Unix()*int64(time.Second) + int64(t.Nanosecond()) }

// OccurrenceID returns collection/job@nominal.
func OccurrenceID(k Key, nominal time.Time) string {
	var id [usualID]byte
	return string(appendOccurrence(id[:0], k, nominal))
}

// usualID is the length in bytes that few ids exceed.
const usualID = 128

func appendOccurrence(p []byte, k Key, nominal time.Time) []byte {
	p = append(p, k.Collection...)
	p = append(p, '/')
	p = append(p, k.Job...)
	p = append(p, '@')
	return nominal.UTC().AppendFormat(p, time.RFC3339Nano)
}

// ids returns the id of the occurrence, and the id of the attempt: the former and the number of the try.
func (b *Baton) ids(k Key) (occurrence, attempt string) {
	var id [usualID]byte
	p := appendOccurrence(id[:0], k, b.Nominal)
	n := len(p)
	attempt = string(strconv.AppendInt(append(p, '#'), int64(b.Try)+1, 10))
	return attempt[:n], attempt
}

// AttemptOf describes the attempt to an action. A resubmission has its own ids and key, so that the target does not
// treat it as the failed call, and the times of the occurrence that it repeats.
func (b *Baton) AttemptOf(k Key) Attempt {
	id, attempt := b.ids(k)
	key := id
	if b.Phase == ErrorPhase {
		key = id + "/error" // a different call: the target must not deduplicate it
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
		Job: k, Occurrence: id, ID: attempt, Key: key,
		Nominal: nominal, Due: b.Due, Try: b.Try + 1, Phase: b.Phase, Previous: previous, Failure: b.Failed, Data: b.Data,
		Events: b.Events, Cause: b.Cause,
	}
}

// Kind states what started a run, and whether the schedule continues from its end. Batons and records store it as the
// flags manual and oneOff, and as the cause of a triggered run.
type Kind uint8

// The kinds of runs.
const (
	// Planned is an occurrence of the schedule on the job's own baton.
	Planned Kind = iota

	// Manual is a manual run on the job's own baton, ahead of the planned occurrence.
	Manual

	// Detached is an occurrence of a job with overlap allow. It has a separate message and does not advance the
	// schedule.
	Detached

	// ManualDetached is a manual run of a disabled job, which has no baton. It has a separate message.
	ManualDetached

	// Triggered is a run that events started. It has a separate message.
	Triggered
)

// IsManual reports whether a user requested the run. Manual runs do not count toward recurrence.count.
func (k Kind) IsManual() bool { return k == Manual || k == ManualDetached }

// IsDetached reports whether the run has a separate message. Its counters are merged into the job's at its end.
func (k Kind) IsDetached() bool { return k == Detached || k == ManualDetached || k == Triggered }

// IsScheduled reports whether the run is an occurrence of the schedule: it counts toward recurrence.count and moves the
// schedule's position.
func (k Kind) IsScheduled() bool { return k == Planned || k == Detached }

// kindFlags is the stored form of a Kind.
type kindFlags struct {
	Manual   bool `json:"manual,omitempty"` // requested by a user
	Detached bool `json:"oneOff,omitempty"` // separate from the job's own baton
}

func (k Kind) flags() kindFlags { return kindFlags{k.IsManual(), k.IsDetached()} }

// kind returns the kind of a run with a cause, nil for none.
func (f kindFlags) kind(cause *Cause) Kind {
	switch {
	case f.Detached && !f.Manual && cause != nil:
		return Triggered
	case f.Manual && f.Detached:
		return ManualDetached
	case f.Manual:
		return Manual
	case f.Detached:
		return Detached
	}
	return Planned
}

// Unrecorded returns the first schedule time that b, a job's own baton, has yet to record: its nominal time, or an
// earlier time that it passes over because of a pause or a disabled collection.
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

// TraceContext is a position in a trace, in the text form of W3C Trace Context. Package tracing reads and writes it.
type TraceContext struct {
	Parent string `json:"parent,omitempty"` // traceparent; "": none
	State  string `json:"state,omitempty"`  // tracestate; "": none
}

// BatonTrace is the trace of an occurrence, carried by its baton. A manual run has one, which continues the trace of
// its request, and so does every occurrence after its first attempt.
type BatonTrace struct {
	TraceContext

	// First is the id of the first attempt's span; "" before it. From then on the parent is the span of the occurrence,
	// before that the span of the request.
	First string `json:"first,omitempty"`
}

// Context returns the trace context; zero for none.
func (t *BatonTrace) Context() TraceContext {
	if t == nil {
		return TraceContext{}
	}
	return t.TraceContext
}

// ID returns the trace id, 32 hexadecimal digits; "" for none.
func (t *BatonTrace) ID() string {
	parts := strings.Split(t.Context().Parent, "-") // version, trace, span, flags
	if len(parts) < 4 || len(parts[1]) != 32 {
		return ""
	}
	return parts[1]
}

// codeTrace codes the field trace.
func codeTrace(c *plainjson.Codec, t **BatonTrace) {
	if !c.Begin("trace", *t != nil) {
		return
	}
	made := made(t)
	c.OptText("parent", &made.Parent)
	c.OptText("state", &made.State)
	c.OptText("first", &made.First)
	c.End()
}

// Progress holds the counters and the schedule position of a job.
type Progress struct {
	Number     int       `json:"number,omitempty"`     // occurrences begun, planned and manual
	Runs       int       `json:"runs,omitempty"`       // planned occurrences begun: recurrence.count limits them
	Executions int       `json:"executions,omitempty"` // ended attempts of the main action
	Failures   int       `json:"failures,omitempty"`   // failed attempts of the main action
	Errors     int       `json:"errors,omitempty"`     // ended attempts of errorActions
	ErrorFails int       `json:"errorFails,omitempty"` // failed attempts of errorActions
	Faults     int       `json:"faults,omitempty"`     // occurrences that failed after all retries
	Last       time.Time `json:"last,omitzero"`        // start of the last attempt
	Seen       time.Time `json:"seen,omitzero"`        // last nominal time that was run or skipped
	Base       time.Time `json:"base,omitzero"`        // start of the last execution that moved the schedule: [spec.Plan.Base]
	Ran        time.Time `json:"ran,omitzero"`         // nominal time of the last occurrence that ran
	Prior      time.Time `json:"prior,omitzero"`       // nominal time of the occurrence that ran before Ran

	// GaveUp: the next run was too expensive to compute, so the job ended although its schedule may have further times.
	GaveUp bool `json:"gaveUp,omitempty"`

	// Merged holds the merged detached runs, by the ids of their nominal times, so that none is counted twice after a
	// crash. A run may leave the list once its baton is no longer stored.
	Merged []int64 `json:"merged,omitempty"`

	// Repeated holds the occurrences that resubmitted runs in Merged repeat, which name the messages of these runs.
	Repeated []int64 `json:"repeated,omitempty"`
}

// afresh returns the progress for a new schedule: the counters stay, and the run count restarts.
func (p *Progress) afresh() Progress {
	next := *p
	next.Runs, next.Seen, next.Base, next.GaveUp = 0, time.Time{}, time.Time{}, false
	return next
}

// equal reports whether p and q are equal.
func (p *Progress) equal(q *Progress) bool {
	return p.Number == q.Number && p.Runs == q.Runs && p.Executions == q.Executions && p.Failures == q.Failures && p.Faults == q.Faults &&
		p.Errors == q.Errors && p.ErrorFails == q.ErrorFails && p.GaveUp == q.GaveUp && slices.Equal(p.Merged, q.Merged) &&
		slices.Equal(p.Repeated, q.Repeated) &&
		p.Last.Equal(q.Last) && p.Seen.Equal(q.Seen) && p.Base.Equal(q.Base) && p.Ran.Equal(q.Ran) && p.Prior.Equal(q.Prior)
}

// Any reports whether the job has run at all, planned or manually.
func (p *Progress) Any() bool { return p.Number > 0 || p.Executions > 0 }

// ran records that the occurrence at nominal runs.
func (p *Progress) ran(nominal time.Time) {
	if !p.Ran.Equal(nominal) {
		p.Prior, p.Ran = p.Ran, nominal
	}
}

// keep raises the counters of p to at least the counters of q. A baton that is redelivered after a crash lacks the runs
// that were merged after it.
func (p *Progress) keep(q *Progress) {
	p.Number, p.Executions = max(p.Number, q.Number), max(p.Executions, q.Executions)
	p.Failures, p.Faults = max(p.Failures, q.Failures), max(p.Faults, q.Faults)
	p.Errors, p.ErrorFails = max(p.Errors, q.Errors), max(p.ErrorFails, q.ErrorFails)
	if q.Last.After(p.Last) {
		p.Last = q.Last
	}
	p.Merged, p.Repeated = withIDs(p.Merged, q.Merged), withIDs(p.Repeated, q.Repeated)
}

// Includes reports whether p has counted all that q has counted.
func (p *Progress) Includes(q *Progress) bool {
	sum := *p
	sum.keep(q)
	return sum.equal(p)
}

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
