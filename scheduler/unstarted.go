package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// LimitRecord returns the record of an event whose run the rate limit of its key does not allow.
func (j *Job) LimitRecord(e *Event, m Match, now time.Time) Record {
	t := j.trigger()
	m.Why = fmt.Sprintf("trigger.rateLimit: %d runs in %s", t.LimitRuns, document.Duration{Exact: t.LimitPeriod})
	if t.Throttle {
		m.Why = fmt.Sprintf("trigger.throttle: %d runs wait, the most that may; raise its runs, or use batch", t.mostRuns())
	}
	return j.RefusedRecord(e, m, now)
}

// RefusedRecord returns the record of an event whose run is skipped, because m refuses it.
func (j *Job) RefusedRecord(e *Event, m Match, now time.Time) Record {
	b := j.triggered(e, m)
	return j.unstarted(&b, ReasonTrigger, m.Why, now)
}

// CanceledRecord returns the record of the run of b, which an event canceled before it began.
func (j *Job) CanceledRecord(b *Baton, now time.Time) Record {
	by := "a later event (trigger.unless)"
	if b.Spent { // it has the event, too
		by = "the event " + b.Cause.Label()
	}
	return j.unstarted(b, ReasonCanceled, "canceled by "+by, now)
}

// unstarted returns the record of the run of b, which does not begin.
func (j *Job) unstarted(b *Baton, reason Reason, message string, now time.Time) Record {
	r := skip{from: b.Nominal, to: b.Nominal, count: 1, reason: reason, message: message}.record(j, now, Progress{})
	r.Kind, r.Cause = Triggered, b.Cause
	return r
}
