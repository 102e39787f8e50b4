package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// OnlyIf is a condition of the planned occurrences of a job: another job has ended recently. The history decides, when
// the occurrence is due. Manual runs, and those that events start, do not depend on it.
type OnlyIf struct {
	Ends     Listener      // selects the ends of the other job
	Since    time.Duration // an end counts for so long
	WaitUpTo time.Duration // an occurrence waits so long for an end; 0: it is skipped
}

// readOnlyIf reads the condition.
func (d *Definition) readOnlyIf(o *document.Object, r *DefinitionDecoder) {
	co, ok := o.Object("onlyIf")
	if !ok {
		return
	}
	defer co.Done()
	c := &OnlyIf{}
	d.OnlyIf = c
	if co.Require("job") {
		c.Ends.readJob(co)
		c.Ends.readOutcome(co)
	}
	if co.Require("since") {
		c.Since, _ = co.ExactDuration("since", time.Second, maxWindow)
	}
	c.WaitUpTo, _ = co.ExactDuration("waitUpTo", time.Second, maxWindow)
	if d.Trigger != nil && d.Timing.Recurrence == nil {
		r.warn(o, "onlyIf", "has no effect: only events start the job, and they ignore it")
	}
}

// Asks returns the link of the job k to the job that its condition is about, none without a condition.
func (d *Definition) Asks(k Key) []Link {
	if d.OnlyIf == nil {
		return nil
	}
	return []Link{{Path: d.path("onlyIf.job"), Job: d.OnlyIf.Ends.upstream(k), Asks: true, Outcomes: d.OnlyIf.Ends.Outcome}}
}

// Awaits reports whether e, the end of another job, may meet the condition for which a baton of j waits.
func (j *Job) Awaits(e *Event) bool {
	return j.Def.OnlyIf != nil && e.Upstream != nil && j.Def.OnlyIf.Ends.selects(j.Key, e)
}

// asks reports whether the history must decide whether b runs.
func (j *Job) asks(b *Baton) bool { return j.Def.OnlyIf != nil && b.NeedsOpen() }

// AsksSince returns the time from which an end of the other job lets b run. doubtful: b may have run, so an end counts
// for its repetition if it may have counted before.
func (j *Job) AsksSince(b *Baton, doubtful bool, now time.Time) time.Time {
	if doubtful {
		now = Earlier(now, b.MayRun())
	}
	return now.Add(-j.Def.OnlyIf.Since)
}

// Answer decides about the occurrence of d, whose verdict is [Ask]. last is the last end of the other job with one of
// the outcomes of the condition, nil for none; oldest is the result of [Job.AsksSince].
func (j *Job) Answer(d Decision, last *Record, oldest, now time.Time) Decision {
	c, b := j.Def.OnlyIf, d.Baton
	if last != nil && !last.Stored.Before(oldest) {
		return j.launch(d, now)
	}
	why := fmt.Sprintf("%s since %s", c.Ends.not(), oldest.UTC().Format(time.RFC3339))
	next, more := j.plan(b.Progress).Next(b.Nominal)
	until := b.Due.Add(c.WaitUpTo)
	if more {
		until = Earlier(until, j.due(b.Progress, next))
	}
	if now.Before(until) {
		at := Earlier(now.Add(lookAfter(now.Sub(b.Due))), until)
		s := j.Defer(b, Deferral{At: at, Message: why, Reason: ReasonOnlyIf}, now)
		return Decision{Verdict: Wait, Later: d.Later, Step: s.after(d.Records)}
	}
	b, skips := j.passOver(b, b.Nominal, skip{reason: ReasonOnlyIf, message: why})
	s := j.step(b.Progress, next, more, now).after(j.skipped(skips, now, b.Progress))
	return Decision{Verdict: Skip, Step: s.after(d.Records)}
}

// not says that the other job has not ended: "extract has not completed or faulted".
func (l *Listener) not() string { return l.Job + " has not " + JoinOutcomes(l.Outcome) }
