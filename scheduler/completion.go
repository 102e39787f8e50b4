package scheduler

import (
	"fmt"
	"slices"
	"time"
)

// Completion is the end of a job's baton, to be written to its definition.
type Completion struct {
	Key      Key
	UID      string // of the job at the decision
	Schedule int    // schedule generation at the decision
	State    State
	Progress Progress
	Ended    time.Time // retention of the ended job starts here
}

// CompletionVerdict states whether an ending still applies.
type CompletionVerdict uint8

// The verdicts on an ending.
const (
	WriteCompletion    CompletionVerdict = iota // write the returned job
	CompletionWritten                           // already written, or for another job of the name
	CompletionOvertook                          // an edit has armed the job, or left that to the worker with its baton
)

// End applies x to j. An edit that has since changed the schedule, or enabled the job, wins.
func (j *Job) End(x Completion) (*Job, CompletionVerdict) {
	switch {
	case j.UID != x.UID, j.State.Final():
		return nil, CompletionWritten
	case x.State.Final() && j.ScheduleGen != x.Schedule, !x.State.Final() && j.State == Enabled:
		return nil, CompletionOvertook
	}
	next := *j
	next.Progress = x.Progress
	if j.ScheduleGen != x.Schedule {
		next.Progress = x.Progress.afresh() // runs of the previous schedule no longer count
	}
	next.Progress.keep(&j.Progress)
	if x.State.Final() && j.State == Enabled {
		next.State = x.State
	}
	return &next, WriteCompletion
}

// ApplyTo applies x to a stored job, without decoding or sealing its properties. The error means that the job cannot be
// decoded.
func (x *Completion) ApplyTo(data []byte) ([]byte, CompletionVerdict, error) {
	if err := checkForm(data); err != nil {
		return nil, CompletionWritten, err
	}
	m, err := decodeMeta(data)
	if err != nil {
		return nil, CompletionWritten, err
	}
	next, verdict := (&Job{UID: m.UID, ScheduleGen: m.ScheduleGen, State: m.State, Progress: m.Progress}).End(*x)
	if verdict != WriteCompletion {
		return nil, verdict, nil
	}
	m.State, m.Progress = next.State, next.Progress
	_, properties, err := SplitStored(data)
	if err != nil {
		return nil, verdict, err
	}
	over, err := m.encode(len(data) + usualSize/2)
	if err != nil {
		return nil, verdict, err
	}
	return signed(append(append(append(over, propertiesMember...), properties...), '}')), verdict, nil
}

// TerminalReason explains the end of a completed or faulted job and how to run it again; "" for other jobs.
func (j *Job) TerminalReason() string {
	switch {
	case !j.State.Final():
		return ""
	case j.Progress.GaveUp:
		return "it has ended, because its next run is too expensive to compute; simplify its schedule"
	case j.OnlyEvents():
		return "its trigger has ended; to run it again, apply a later trigger.endTime, or another trigger.count"
	case !j.Progress.Any():
		return "it never ran, and its schedule has no future time; change its schedule"
	case j.State == Faulted:
		return "it has ended, because its last run faulted; " + runAgain
	}
	return "it has ended after its last run; " + runAgain
}

// runAgain explains how to run an ended job again.
const runAgain = "to run it again, apply a change, such as another startTime"

// EndedError returns the [ErrConflict] for an operation that an ended job does not support.
func (j *Job) EndedError() error {
	return fmt.Errorf("job %s: %w: it is %s: %s", j.Key, ErrConflict, j.State, j.TerminalReason())
}

// Lifecycle is the status of a job that is stored as enabled.
type Lifecycle uint8

// The lifecycles.
const (
	// UnderWay: the job has its baton, waiting or with a worker.
	UnderWay Lifecycle = iota

	// AtEnd: the history contains the job's end. A background task writes it to the definition.
	AtEnd

	// BatonLost: the job has no baton, and its history contains no end.
	BatonLost
)

// Lifecycle returns the status of j, which is stored as enabled, and its ending if it is AtEnd. f is the job's own baton.
// Callers read j, then f, then the history (search), in this order: a baton is removed only after the record that
// explains it. search may be nil if there is a baton.
func (j *Job) Lifecycle(f Found, search *PositionSearch) (Lifecycle, Completion) {
	if b := f.Waiting; b != nil && b.BelongsTo(j) {
		return UnderWay, Completion{}
	}
	b := f.Running
	if b != nil && !b.BelongsTo(j) {
		b = nil
	}
	if b != nil && (search == nil || search.Found == nil || search.Found.ID != b.AttemptOf(j.Key).ID) {
		return UnderWay, Completion{} // its attempt has no record
	}
	if x, over := search.completion(); over {
		return AtEnd, x
	}
	if b != nil {
		return UnderWay, Completion{}
	}
	return BatonLost, Completion{}
}

// completion returns how the job ended, if the record that was found ends it and nothing remains to be recorded.
func (s *PositionSearch) completion() (x Completion, over bool) {
	j, last := s.job, s.Found
	if s.gaveUp != nil {
		last = s.gaveUp
	}
	if last == nil {
		return x, false
	}
	next := s.Next(last.Ended)
	if next.Next != nil || len(next.Records) > 0 || !next.State.Final() {
		return x, false
	}
	return j.Completion(next, last.Ended), true
}

// Completion returns the ending of j by a step without a next baton. ended is its time.
func (j *Job) Completion(s Step, ended time.Time) Completion {
	return Completion{Key: j.Key, UID: j.UID, Schedule: j.ScheduleGen, State: s.State, Progress: s.Progress, Ended: ended}
}

// IsRecorded reports whether the history expresses x, an ending of j, given the record of an attempt (nil for none) and the
// records after it. If so, the baton can be removed before the definition is written. An ending without a record, for
// example after a last occurrence that runs detached, must be written first.
func (j *Job) IsRecorded(x Completion, attempt *Record, after []Record) bool {
	search := NewPositionSearch(j)
	more := true
	for i := len(after) - 1; i >= 0 && more; i-- {
		more = search.Visit(&after[i])
	}
	if more && attempt != nil {
		search.Visit(attempt)
	}
	end, over := search.completion()
	return over && end.Schedule == x.Schedule && end.State == x.State && end.Progress.equal(&x.Progress)
}

// Cancellation ends a started occurrence without another attempt. It is stored with the job's definition, so that every
// worker finds it, also after a crash.
type Cancellation struct {
	Schedule int       `json:"schedule"` // schedule generation of the occurrence
	Nominal  time.Time `json:"nominal"`  // of the occurrence
	At       time.Time `json:"at"`
	By       string    `json:"by,omitempty"`     // user who canceled it; "" if unknown
	Reason   string    `json:"reason,omitempty"` // given by the user
}

// Limits for the cancellations that a job keeps. An occurrence ends at most one attempt after its cancellation.
const (
	MaxCancellations  = 1024
	cancellationsKept = 24 * time.Hour
)

// MaxCancelReason is the maximum length of a cancellation reason in bytes.
const MaxCancelReason = 256

// String names the user who canceled the occurrence, and the reason.
func (c *Cancellation) String() string {
	text := "canceled"
	if c.By != "" {
		text += " by " + c.By
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// Cancels returns j with the occurrences of batons canceled. A cancellation is not an edit: the generation stays.
func (j *Job) Cancels(batons []Baton, c Cancellation) *Job {
	next := *j
	next.Canceled = slices.DeleteFunc(slices.Clone(j.Canceled), func(old Cancellation) bool { return c.At.Sub(old.At) > cancellationsKept })
	for i := range batons {
		c.Schedule, c.Nominal = batons[i].Schedule, batons[i].Nominal.UTC()
		next.Canceled = append(next.Canceled, c)
	}
	next.Canceled = next.Canceled[max(0, len(next.Canceled)-MaxCancellations):]
	return &next
}

// Cancelable reports whether b's occurrence has begun, or a worker may be about to begin it. running: a worker has b. A
// baton that waits for its key has not begun, and further events may replace it.
func (b *Baton) Cancelable(running bool, now time.Time) bool {
	if b.Keyed {
		return false
	}
	return !b.NeedsOpen() || b.Deferred() || running && !b.MayRun().After(now)
}

// Canceling returns the cancellation of b's occurrence, or nil.
func (j *Job) Canceling(b *Baton) *Cancellation {
	for i := range j.Canceled {
		if c := &j.Canceled[i]; c.Schedule == b.Schedule && c.Nominal.Equal(b.Nominal) {
			return c
		}
	}
	return nil
}

// cancel ends the occurrence of b, which waits for an attempt.
func (j *Job) cancel(b Baton, c *Cancellation, now time.Time) Step {
	if !b.Begun() {
		if b.Kind == Planned {
			b.Seen = b.Nominal
		}
		skipped := skip{from: b.Nominal, to: b.Nominal, count: 1, reason: ReasonCanceled, message: c.String()}
		return j.settled(&b, j.occurred(j, b, false, now), now).after(j.skipped([]skip{skipped}, now, b.Progress))
	}
	s := j.occurred(j, b, true, now)
	last := b // the attempt before the awaited one
	last.Try--
	last.Attempt = max(0, last.Attempt-1)
	r := faultedRecord(j, &last, Result{}, now, s.Progress)
	if b.Phase == MainPhase { // the attempt has its own record with the times
		r.Started, r.Duration = time.Time{}, 0
	}
	j.cancels(&r, &b, c)
	return j.settled(&b, s, now).after([]Record{r})
}

// cancels marks r, the faulted record of b's occurrence, as canceled.
func (j *Job) cancels(r *Record, b *Baton, c *Cancellation) {
	says := c.String()
	if b.Phase == MainPhase && len(j.Def.Action.all()) > 1 {
		says += "; its errorAction did not run"
	}
	after := func(text string) string {
		if text == "" {
			return says
		}
		return says + "; before that: " + text
	}
	if r.Summary != "" {
		r.Summary = after(r.Summary)
	}
	r.Reason, r.Message = ReasonCanceled, after(r.Message)
}
