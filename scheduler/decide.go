package scheduler

import (
	"strings"
	"time"
)

// Eligibility states whether a baton may start an attempt, given the current state of its job and collection.
type Eligibility uint8

// Only Eligible allows an attempt.
const (
	Eligible Eligibility = iota
	Gone                 // the job was deleted, or its definition was lost
	Foreign              // the job was deleted, and a new job has its name
	JobEnded             // the job has ended; or it is disabled, and the planned run has not begun
	Dropped              // the detached or triggered run has not begun, and its job is disabled; see also Closed
	Closed               // the planned run has not begun, and its collection is disabled; a triggered one is Dropped
)

// EligibilityOf compares b with the current job j, which is nil if it has no definition. open reports whether the
// collection is enabled. Manual runs, and occurrences that have begun, continue while the job or its collection is
// disabled: otherwise their result would not be recorded. EligibilityOf ignores the schedule that b was armed for.
func (b *Baton) EligibilityOf(j *Job, open bool) Eligibility {
	switch {
	case j == nil:
		return Gone
	case !b.BelongsTo(j):
		return Foreign
	case !b.Kind.IsDetached() && (j.State.Final() || j.State == Disabled && b.NeedsOpen()):
		return JobEnded
	case (b.Kind == Detached || b.Kind == Triggered) && !b.Begun() && j.State == Disabled, b.Kind == Triggered && !b.Begun() && !open:
		return Dropped
	case b.NeedsOpen() && !open:
		return Closed
	}
	return Eligible
}

// NeedsOpen reports whether b is a planned occurrence without an attempt. Only such a baton waits for a disabled
// collection or follows an edited schedule.
func (b *Baton) NeedsOpen() bool { return b.Kind == Planned && !b.Begun() }

// Verdict states how the worker continues with a baton.
type Verdict uint8

// The verdicts.
const (
	// Run: run an attempt of Baton under the definition of its revision.
	Run Verdict = iota

	// Detach: run Baton detached, in a separate message. Step advances the job's own baton.
	Detach

	// Ask: run Baton if the condition of its job holds. Ask the history, see [Job.Answer].
	Ask

	// Skip: do not run this occurrence, or not in its delivered form. Execute Step.
	Skip

	// Wait: not due yet. Execute Step, which re-arms the baton for the same occurrence.
	Wait

	// Restart: the schedule has changed since the baton was armed. Use [PositionSearch.Restart].
	Restart

	// Proceed: the attempt is recorded. Execute Step.
	Proceed

	// Drop: nothing remains to be done. Acknowledge the message.
	Drop

	// Astray: the definition is missing. Find out why before removing the baton, see [OrphanBaton].
	Astray

	// Orphan: the baton belongs to an earlier job of the name, whose deletion was interrupted. Its message occupies the
	// subject of the current job's baton. Run a consistency check.
	Orphan
)

// Decision is a verdict on a baton and the data that the worker needs to execute it.
type Decision struct {
	Verdict Verdict
	Baton   Baton    // Run, Detach, Ask: the baton to run; returned by [Recover]: the baton that ran
	Records []Record // Run, Detach, Ask: skipped times, to be recorded before the attempt
	Later   bool     // Run, Wait, Detach, Ask: Baton holds a later occurrence than the delivered one
	Step    Step
}

// Decide decides how to continue with b before an attempt. A worker calls it when b is due, or when b arrives too early
// to be held in memory. j is the current job, nil if it has no definition. open reports whether the collection is
// enabled.
func Decide(j *Job, open bool, b Baton, now time.Time) Decision {
	d := decide(j, open, b, now)
	if b.Kind == Triggered {
		for i := range d.Step.Records { // of times that are not in the schedule
			d.Step.Records[i].Kind, d.Step.Records[i].Cause = Triggered, b.Cause
		}
	}
	return d
}

func decide(j *Job, open bool, b Baton, now time.Time) Decision {
	if b.Spent {
		return Decision{Verdict: Drop}
	}
	standing := b.EligibilityOf(j, open)
	switch standing {
	case Gone:
		return Decision{Verdict: Astray}
	case Foreign:
		return Decision{Verdict: Orphan}
	case JobEnded:
		if b.NeedsOpen() && b.Schedule != j.ScheduleGen && j.State == Disabled {
			return Decision{Verdict: Restart}
		}
		return Decision{Verdict: Skip, Step: j.stop(b, now)}
	case Dropped:
		s := j.end(b.Progress, []skip{{from: b.Nominal, to: b.Nominal, count: 1, reason: ReasonDisabled}}, now)
		s.Merge = true
		return Decision{Verdict: Skip, Step: s}
	case Eligible, Closed:
	}
	if c := j.Canceling(&b); c != nil {
		return Decision{Verdict: Skip, Step: j.cancel(b, c, now)}
	}
	if b.NeedsOpen() && b.Schedule != j.ScheduleGen {
		return Decision{Verdict: Restart}
	}
	if j.Never(b.Nominal) && b.NeedsOpen() {
		return j.endTrigger(b, now)
	}
	if j.pauses(&b, now) {
		return j.pause(b, now)
	}
	if b.Early(now) {
		return Decision{Verdict: Wait, Step: j.wait(b, nil, now)}
	}
	if missing := j.Incomplete(&b); missing != nil {
		s := j.end(b.Progress, []skip{{
			from: b.Nominal, to: b.Nominal, count: 1, reason: ReasonTrigger,
			message: "trigger.within has passed without " + strings.Join(missing, ", "),
		}}, now)
		s.Merge = true
		return Decision{Verdict: Skip, Step: s}
	}
	if b.Begun() || b.Kind.IsDetached() {
		return Decision{Verdict: Run, Baton: b}
	}
	return j.decideUnbegun(b, standing == Closed, now)
}

// decideUnbegun decides about the first attempt of a due planned or manual baton. closed: the collection is disabled.
func (j *Job) decideUnbegun(b Baton, closed bool, now time.Time) Decision {
	var skips []skip
	if !closed || !b.PausedFrom.IsZero() || !b.Gap.IsZero() && !b.Gap.After(now) {
		b, skips = j.settle(b, now)
	}
	if !b.Gap.IsZero() {
		var gaps []skip
		b, gaps = j.passGaps(b, now)
		if skips = append(skips, gaps...); b.MayRun().After(now) {
			return Decision{Verdict: Wait, Step: j.wait(b, skips, now)}
		}
	}
	if j.outlasted(&b, now) {
		return Decision{Verdict: Skip, Step: j.endPaused(b, now).after(j.skipped(skips, now, b.Progress))}
	}
	if closed {
		return Decision{Verdict: Skip, Step: j.postpone(b, skips, now)}
	}
	return j.admit(b, skips, now)
}

// admit applies the misfire policy (catchUp) and the overlap policy to a due baton. skips are the times that Decide has
// already passed over.
func (j *Job) admit(b Baton, skips []skip, now time.Time) Decision {
	a := j.arrive(b, now)
	skips = append(skips, a.skips...)
	if !a.run {
		return Decision{Verdict: Skip, Step: a.step.after(j.skipped(skips, now, b.Progress))}
	}
	next := a.baton
	next.UID, next.Revision = j.Incarnation(), j.Revision
	d := Decision{Verdict: Run, Baton: next, Later: !next.Nominal.Equal(b.Nominal)}
	if next.Due.After(now) { // a later occurrence whose jitter has not elapsed
		d.Verdict, d.Step = Wait, j.wait(next, skips, now)
		return d
	}
	d.Records = j.skipped(skips, now, next.Progress)
	if j.asks(&next) {
		d.Verdict = Ask
		return d
	}
	return j.launch(d, now)
}

// launch lets the occurrence of d run.
func (j *Job) launch(d Decision, now time.Time) Decision {
	d.Verdict = Run
	if j.Def.Overlap == OverlapAllow && d.Baton.Kind == Planned {
		d.Verdict, d.Step = Detach, j.advanceDetached(d.Baton, now, now)
	}
	return d
}

// endTrigger ends a job that only events start, unless an edit has moved the end of its trigger or raised its count. b
// counts runs only if events have started all of them, see [Job.EndTrigger].
func (j *Job) endTrigger(b Baton, now time.Time) Decision {
	t := j.Def.Trigger
	if usedUp := t.Counts && b.Runs >= t.LimitRuns; !usedUp && t.End.After(now) {
		b.Due, b.Runs = t.End, 0
		return Decision{Verdict: Wait, Step: j.wait(b, nil, now)}
	}
	return Decision{Verdict: Skip, Step: Step{State: Completed, Progress: b.Progress}}
}

// stop removes the baton of a job that was disabled or has ended. It records the due times of a pending baton as
// skipped.
func (j *Job) stop(b Baton, now time.Time) Step {
	var skips []skip
	if j.State != Disabled || !b.NeedsOpen() || j.Never(b.Nominal) {
		return j.end(b.Progress, nil, now)
	}
	b, skips = j.settle(b, now)
	if !b.MayRun().After(now) {
		var gaps []skip
		b, gaps = j.passGaps(b, now)
		skips = append(skips, gaps...)
		b, gaps = j.passOver(b, j.lastDue(b, now), skip{reason: ReasonDisabled})
		skips = append(skips, gaps...)
	}
	return j.end(b.Progress, skips, now)
}
