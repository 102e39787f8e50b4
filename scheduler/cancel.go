package scheduler

import (
	"slices"
	"time"
)

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
	maxCancellations  = 1024
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
	next.Canceled = next.Canceled[max(0, len(next.Canceled)-maxCancellations):]
	return &next
}

// Cancelable reports whether b's occurrence has begun, or a worker may be about to begin it. running: a worker has b.
func (b *Baton) Cancelable(running bool, now time.Time) bool {
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
