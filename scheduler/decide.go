package scheduler

import "time"

// Standing says whether a baton may go on, by what its job and its collection
// are at the moment.
type Standing uint8

// The standings of a baton. All but GoesOn keep it from beginning an attempt.
const (
	GoesOn  Standing = iota
	Gone             // its job was deleted, or its definition lost
	Foreign          // its job was deleted, and another one has the name now
	Over             // its job has ended; or was disabled, and its occurrence has not begun
	Dropped          // it is a detached occurrence that has not begun, of a job that was disabled
	Closed           // its collection is disabled, and it is planned and has not begun
)

// StandingOf answers for b. j is its job as it is now, nil when there is none,
// and open whether the collection's jobs may run. A manual run continues while its
// job or collection is disabled, and so does every occurrence that has begun:
// nothing else would record how it ended. The answer does not depend on what the
// baton was armed for.
func (b *Baton) StandingOf(j *Job, open bool) Standing {
	switch {
	case j == nil:
		return Gone
	case !b.BelongsTo(j):
		return Foreign
	case !b.Kind.IsDetached() && (j.State.Final() || j.State == Disabled && b.NeedsOpen()):
		return Over
	case b.Kind == Detached && !b.Begun() && j.State == Disabled:
		return Dropped
	case b.NeedsOpen() && !open:
		return Closed
	}
	return GoesOn
}

// NeedsOpen reports whether b waits while its collection is disabled: only what
// is planned and has not begun does.
func (b *Baton) NeedsOpen() bool { return b.Kind == Planned && !b.Begun() }

// Verdict is what becomes of a baton.
type Verdict uint8

// The verdicts.
const (
	// Run: run an attempt of Baton, under the definition of its revision.
	Run Verdict = iota

	// Detach: Baton runs detached, on a message of its own. Step takes the
	// job's own baton on.
	Detach

	// Skip: it does not run, or not as it came. Carry out Step.
	Skip

	// Wait: it is not yet time. Carry out Step, whose baton waits for the same
	// occurrence.
	Wait

	// Restart: the job has another schedule than the one the baton was armed
	// for. [PlaceSearch.Restart] decides.
	Restart

	// Proceed: an attempt is recorded. Carry out Step.
	Proceed

	// Drop: there is nothing left to do.
	Drop

	// Astray: the job has no definition. What became of that is to be looked for:
	// [Stray].
	Astray

	// Orphan: the baton is of an earlier job of the name. Deleting that one
	// was to remove its message; when that was cut short, it lies where the
	// present job's baton ought to be, so an audit has to look.
	Orphan
)

// Decision is what becomes of a baton, and what that takes.
type Decision struct {
	Verdict Verdict
	Baton   Baton    // Run, Detach: what is run; of [Recover], what was
	Records []Record // Run, Detach: what was skipped on the way, recorded before the attempt is
	Later   bool     // Run, Wait, Detach: Baton is of a later occurrence than the one that came
	Step    Step
}

// Decide says what becomes of a baton that a worker has and that is due, or that
// came much too early, before an attempt. j is its job as it is now, nil when
// there is none, and open whether the collection's jobs may run.
func Decide(j *Job, open bool, b Baton, now time.Time) Decision {
	standing := b.StandingOf(j, open)
	switch standing {
	case Gone:
		return Decision{Verdict: Astray}
	case Foreign:
		return Decision{Verdict: Orphan}
	case Over:
		if b.NeedsOpen() && b.Schedule != j.ScheduleGen && j.State == Disabled {
			return Decision{Verdict: Restart}
		}
		return Decision{Verdict: Skip, Step: j.stop(b, now)}
	case Dropped:
		s := j.end(b.Progress, []skip{{from: b.Nominal, to: b.Nominal, count: 1, reason: ReasonDisabled}}, now)
		s.Merge = true
		return Decision{Verdict: Skip, Step: s}
	case GoesOn, Closed:
	}
	if c := j.Canceling(&b); c != nil {
		return Decision{Verdict: Skip, Step: j.cancel(b, c, now)}
	}
	if b.NeedsOpen() && b.Schedule != j.ScheduleGen {
		return Decision{Verdict: Restart}
	}
	if j.pauses(&b, now) {
		return j.pause(b, now)
	}
	if b.Early(now) {
		return Decision{Verdict: Wait, Step: j.wait(b, nil, now)}
	}
	if b.Begun() || b.Kind.IsDetached() {
		return Decision{Verdict: Run, Baton: b}
	}
	return j.decideUnbegun(b, standing == Closed, now)
}

// decideUnbegun is Decide for a baton of the schedule that is due and has not begun. closed says that the collection's jobs
// may not run.
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

// admit applies the policies of catch-up and overlap to a baton whose time has
// come. skips are what was omitted on the way to it.
func (j *Job) admit(b Baton, skips []skip, now time.Time) Decision {
	a := j.arrive(b, now)
	skips = append(skips, a.skips...)
	if !a.run {
		return Decision{Verdict: Skip, Step: a.step.after(j.skipped(skips, now, b.Progress))}
	}
	next := a.baton
	next.UID, next.Revision = j.Incarnation(), j.Revision
	d := Decision{Verdict: Run, Baton: next, Later: !next.Nominal.Equal(b.Nominal)}
	if next.Due.After(now) { // a later occurrence, with its jitter to come
		d.Verdict, d.Step = Wait, j.wait(next, skips, now)
		return d
	}
	d.Records = j.skipped(skips, now, next.Progress)
	if j.Def.Overlap == OverlapAllow && b.Kind == Planned {
		d.Verdict, d.Step = Detach, j.beside(next, now, now)
	}
	return d
}

// stop ends a baton whose job was disabled or finished meanwhile.
func (j *Job) stop(b Baton, now time.Time) Step {
	var skips []skip
	if j.State != Disabled || !b.NeedsOpen() {
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
