package scheduler

import (
	"slices"
	"time"
)

// Cancellation says that an occurrence which has begun is to end without another
// attempt. It is part of the job's definition, so that every worker which has the
// occurrence, now or after a crash, finds it there.
type Cancellation struct {
	Schedule int       `json:"schedule"` // generation of the schedule the occurrence is of
	Nominal  time.Time `json:"nominal"`  // the occurrence
	At       time.Time `json:"at"`
	By       string    `json:"by,omitempty"`     // who canceled it, as far as that is known
	Reason   string    `json:"reason,omitempty"` // in the words of who did
}

// The cancellations of a job: how many are kept, and for how long at least. An
// occurrence ends within the time of an attempt after it was canceled.
const (
	maxCancellations  = 1024
	cancellationsKept = 24 * time.Hour
)

// MaxCancelReason is the most bytes of the reason of a cancellation.
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

// Cancels returns j with the occurrences of batons canceled. It is no edit.
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

// Cancelable reports whether b is of an occurrence that has begun, or that a worker
// may be about to begin: running says that one has it.
func (b *Baton) Cancelable(running bool, now time.Time) bool {
	return !b.NeedsOpen() || b.Deferred() || running && !b.MayRun().After(now)
}

// Canceling returns the cancellation of the occurrence of b, or nil.
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
	last := b // the attempt before the one it waited for
	last.Try--
	last.Attempt = max(0, last.Attempt-1)
	r := faultedRecord(j, &last, Result{}, now, s.Progress)
	if b.Phase == MainPhase { // the record of the attempt says when it was
		r.Started, r.Duration = time.Time{}, 0
	}
	j.cancels(&r, &b, c)
	return j.settled(&b, s, now).after([]Record{r})
}

// cancels has r, the record that the occurrence of b faulted, say that it was
// canceled.
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
