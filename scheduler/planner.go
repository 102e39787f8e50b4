package scheduler

import (
	"hash/fnv"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// lateGrace is how late an occurrence may start without counting as missed
// under [CatchUpSkip]. It covers a redelivery after a crash.
const lateGrace = 30 * time.Second

// Step is what follows for a job: its next baton, or its end.
type Step struct {
	Next     *Baton   // nil: the job has no baton any more
	State    State    // the job's state from now on
	Progress Progress // the progress that the next baton carries
	Faulted  bool     // the occurrence ended faulted
	skips    []skip
}

// Begin plans the first baton of a job whose schedule is new.
func (j *Job) Begin(p Progress) Step {
	n, ok := j.first()
	return j.step(p.afresh(), n, ok)
}

// first is the first run of the schedule. Without a startTime that is at once
// when the job is new; an edit of a recurring job is no reason to run it.
func (j *Job) first() (time.Time, bool) {
	if j.ScheduleGen > 1 && !j.oneShot() && j.Def.Timing.Start.IsZero() {
		return j.Plan.Next(j.Anchor)
	}
	return j.Plan.First()
}

// Rejoin plans the next baton of a job that had none for a while, because it
// was disabled until now. Instants that passed meanwhile are skipped; a
// one-shot that has not run yet runs.
func (j *Job) Rejoin(p Progress, now time.Time) Step {
	if j.oneShot() || p.Seen.IsZero() {
		if p.Runs > 0 {
			return j.step(p, time.Time{}, false)
		}
		if first, ok := j.first(); j.oneShot() || ok && !first.Before(now) {
			return j.step(p, first, ok)
		}
	}
	after := p.Seen
	if after.IsZero() {
		after = j.Anchor.Add(-time.Nanosecond)
	}
	n, ok := j.plan(p).Next(after)
	return j.leap(p, n, ok, now, ReasonDisabled)
}

// tally counts an attempt that ended.
func (b Baton) tally(started time.Time, res Result) Progress {
	p := b.Progress
	p.Executions++
	p.Last = started
	if res.Failed {
		p.Failures++
	}
	p.ran(b.Nominal)
	if !b.Manual {
		p.Seen = b.Nominal
	}
	return p
}

// ran notes that the occurrence of an instant runs.
func (p *Progress) ran(nominal time.Time) {
	if !p.Ran.Equal(nominal) {
		p.Prior, p.Ran = p.Ran, nominal
	}
}

// After plans what follows an attempt of b (as begun and tallied) that ended
// with res. ran is the definition it ran under: its retry policies serve the
// occurrence to its end. j is the current definition: it plans what is next.
func (j *Job) After(ran *Job, b Baton, res Result, ended time.Time) Step {
	if res.Failed {
		if next, ok := ran.retry(b, res, ended); ok {
			return Step{Next: next, State: j.State, Progress: next.Progress}
		}
	}
	p, faulted := b.Progress, b.Phase == ErrorPhase || res.Failed
	if faulted {
		p.Faults++
	}
	if b.OneOff || b.Manual && j.State == Disabled { // the schedule does not follow from it
		return Step{State: j.State, Progress: p, Faulted: faulted}
	}
	s := j.proceed(p, b, ended)
	s.Faulted = faulted
	if s.Next == nil && s.State == Completed && faulted && !b.Manual {
		s.State = Faulted
	}
	return s
}

// retry returns the baton of the next attempt of the same occurrence: a retry
// of this action, or the first try of the errorAction.
func (j *Job) retry(b Baton, res Result, ended time.Time) (*Baton, bool) {
	next := b
	next.Try++
	next.Held, next.Postponed, next.Told = time.Time{}, time.Time{}, false
	id := b.attempt(j.Key).ID
	if due, ok := j.Def.Action.in(b.Phase).Retry.Next(b.Attempt, id, res, ended); ok {
		next.Attempt++
		next.Due = due
		return &next, true
	}
	if b.Phase == MainPhase && j.Def.Action.OnError != nil {
		next.Phase, next.Attempt, next.Due = ErrorPhase, 0, ended
		next.Failed = &Failure{Status: res.Status, Attempts: b.Attempt + 1, Message: cutText(res.Message, maxFailureMessage)}
		return &next, true
	}
	return nil, false
}

// maxFailureMessage is the length in bytes at which an errorAction's knowledge
// of what failed is cut: it rides in the baton.
const maxFailureMessage = 2048

// cutText cuts text at a length in bytes, between two characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// proceed plans the occurrence after the one of b.
func (j *Job) proceed(p Progress, b Baton, now time.Time) Step {
	if b.Schedule != j.ScheduleGen {
		return j.Begin(p)
	}
	if b.Manual && b.Resume.IsZero() {
		return Step{State: j.State, Progress: p}
	}
	why := ReasonOverlap
	if !b.Held.IsZero() {
		why = ReasonPostponed
	}
	if j.Plan.Moves() && (b.Manual || p.Last.Sub(b.Nominal) >= spec.OnTime) {
		p.Base = p.Last
		n, ok := j.plan(p).First()
		return j.leap(p, n, ok, now, why)
	}
	if b.Manual && b.Resume.After(p.Seen) {
		return j.leap(p, b.Resume, true, now, why)
	}
	if b.Manual { // skipped meanwhile, as the last of the schedule
		return j.step(p, b.Resume, false)
	}
	n, ok := j.plan(p).NextAfterRun(b.Nominal, p.Last)
	return j.leap(p, n, ok, now, why)
}

// plan returns the job's plan as its last executions have moved it.
func (j *Job) plan(p Progress) *spec.Plan { return j.Plan.Moved(p.Base) }

// leap plans the occurrence at n, or, when n has already passed, what the
// policies make of the instants from n to now.
func (j *Job) leap(p Progress, n time.Time, ok bool, now time.Time, why Reason) Step {
	if !ok || !j.due(p, n).Before(now) || j.oneShot() || j.exhausted(p) {
		return j.step(p, n, ok)
	}
	plan := j.plan(p)
	if j.Def.CatchUp.Policy == CatchUpAll && why != ReasonDisabled {
		return j.step(p, n, true)
	}
	last, found := plan.Last(now.Add(-time.Nanosecond))
	if !found || last.Before(n) {
		last = n
	}
	next, more := plan.Next(last)
	if last.After(n) && !j.due(p, last).Before(now) { // its jitter is still to come
		next, more = last, true
		last, _ = plan.Last(last.Add(-time.Nanosecond))
	}
	before := p
	p.Seen = last
	s := j.step(p, next, more)
	s.skips = append(j.leftOut(before, last), s.skips...)
	s.skips = append(s.skips, skip{from: n, to: last, count: plan.Count(n, last), reason: why})
	return s
}

// step builds the baton of the occurrence at n, or ends the job when there is
// none left.
func (j *Job) step(p Progress, n time.Time, ok bool) Step {
	if j.exhausted(p) {
		return Step{State: Completed, Progress: p}
	}
	if !ok {
		return Step{State: Completed, Progress: p, skips: j.lastGap(p)}
	}
	return Step{State: j.State, Progress: p, Next: &Baton{
		UID: j.mark(), Revision: j.Revision, Schedule: j.ScheduleGen, Nominal: n, Due: j.due(p, n), Gap: j.gap(p, n), Progress: p,
	}}
}

// exhausted reports whether recurrence.count is used up.
func (j *Job) exhausted(p Progress) bool {
	limit := j.Plan.MaxRuns()
	return limit > 0 && p.Runs >= limit
}

func (j *Job) oneShot() bool { return j.Def.Timing.Recurrence == nil }

// due is the instant at which the occurrence at nominal runs: nominal plus its
// jitter. The jitter is a hash of the occurrence, so every replica and every
// restart computes the same, and it never reaches the next occurrence.
func (j *Job) due(p Progress, nominal time.Time) time.Time {
	width := j.Def.Jitter
	if width <= 0 {
		return nominal
	}
	if next, ok := j.plan(p).Next(nominal); ok {
		width = min(width, next.Sub(nominal))
	}
	h := fnv.New64a()
	_, _ = h.Write(appendOccurrence(nil, j.Key, nominal))
	return nominal.Add(time.Duration(h.Sum64() % uint64(width)))
}

// Arrival is what a baton that has become due amounts to.
type Arrival struct {
	Run   bool  // run an attempt of Baton
	Baton Baton // b, or a later occurrence in its place
	Step  Step  // when not Run: what follows instead
	skips []skip
}

// Arrive applies the catch-up policy to b at the time it can run. Only the
// first try of a planned occurrence can be missed: a retry, an errorAction, a
// run by hand or one that was put off is carried out however late.
func (j *Job) Arrive(b Baton, now time.Time) Arrival {
	if b.Begun() || b.Manual || b.OneOff || !b.Held.IsZero() || !now.After(b.Due) {
		return Arrival{Run: true, Baton: b}
	}
	w := j.Def.CatchUp.Window
	switch j.Def.CatchUp.Policy {
	case CatchUpAll:
		return j.arriveAll(b, now, w)
	case CatchUpSkip:
		if now.Sub(b.Due) <= min(lateGrace, w) {
			return Arrival{Run: true, Baton: b}
		}
		return j.pass(b, j.lastDue(b, now))
	default:
		return j.arriveOnce(b, now, w)
	}
}

// arriveOnce runs the latest of the instants that have passed.
func (j *Job) arriveOnce(b Baton, now time.Time, window time.Duration) Arrival {
	last := j.lastDue(b, now)
	if now.Sub(last) > window {
		return j.pass(b, last)
	}
	return j.jump(b, last, now)
}

// arriveAll runs the earliest instant inside the window.
func (j *Job) arriveAll(b Baton, now time.Time, window time.Duration) Arrival {
	oldest := now.Add(-window)
	if !b.Nominal.Before(oldest) {
		return Arrival{Run: true, Baton: b}
	}
	first, ok := j.plan(b.Progress).Next(oldest.Add(-time.Nanosecond))
	if !ok || first.After(now) {
		return j.pass(b, j.lastDue(b, now))
	}
	return j.jump(b, first, now)
}

// lastDue is the last instant of the schedule from b's on that has passed.
func (j *Job) lastDue(b Baton, now time.Time) time.Time {
	last, ok := j.plan(b.Progress).Last(now)
	if !ok || last.Before(b.Nominal) || j.oneShot() {
		return b.Nominal
	}
	return last
}

// jump skips from b's instant to a later one and runs that.
func (j *Job) jump(b Baton, to, now time.Time) Arrival {
	if !to.After(b.Nominal) {
		return Arrival{Run: true, Baton: b}
	}
	plan := j.plan(b.Progress)
	before, ok := plan.Last(to.Add(-time.Nanosecond))
	if !ok || before.Before(b.Nominal) {
		before = b.Nominal
	}
	missed := skip{from: b.Nominal, to: before, count: plan.Count(b.Nominal, before), reason: ReasonCatchUp}
	b.Seen = b.Nominal
	skips := append(j.leftOut(b.Progress, before), missed)
	b.Seen, b.Nominal, b.Due = before, to, j.due(b.Progress, to)
	b.Gap = j.gap(b.Progress, to)
	b, more := j.passGaps(b, now)
	return Arrival{Run: true, Baton: b, skips: append(skips, more...)}
}

// pass skips everything from b's instant to last and plans the one after.
func (j *Job) pass(b Baton, last time.Time) Arrival {
	p := b.Progress
	p.Seen = b.Nominal
	skips := j.leftOut(p, last)
	p.Seen = last
	plan := j.plan(p)
	next, ok := plan.Next(last)
	if j.oneShot() {
		ok = false
	}
	s := j.step(p, next, ok)
	s.skips = append(skips, s.skips...)
	s.skips = append(s.skips, skip{from: b.Nominal, to: last, count: max(1, plan.Count(b.Nominal, last)), reason: ReasonCatchUp})
	return Arrival{Baton: b, Step: s}
}
