package scheduler

import "time"

// A job can be paused until a time ([Job.PausedUntil]). Its state stays enabled, and occurrences that are due before
// that time do not run. The baton waits for the first occurrence after the pause, so that the end of a pause needs no
// write and no wake-up. [Baton.PausedFrom] is the first of the passed times without a record. They are recorded
// together before the baton moves elsewhere: to the occurrence after the pause, for a manual run, or when an edit
// shortens or extends the pause.
//
//	the schedule reaches a time in the pause          step ──▶ beyondPause
//	an edit changes the end of the pause              [Job.Replan] ──▶ repaused ──▶ beyondPause
//	a worker has the baton of a time in the pause     [Decide] ──▶ pause
//	the baton moves elsewhere: record passed times    [Decide], [Job.Trigger], [Job.Settle] ──▶ settlePause
//	a one-shot is delivered after the pause           [Decide] ──▶ outlasted ──▶ endPaused
//
// A schedule without times after the pause waits for its last time in the pause, because the pause may end early. A
// one-shot waits for the end of the pause; its misfire policy then decides whether it is too late.

// PausedAt reports whether the pause prevents planned occurrences of j at a time.
func (j *Job) PausedAt(now time.Time) bool { return now.Before(j.PausedUntil) }

// Paused returns j with another end of its pause; the zero time ends it.
func (j *Job) Paused(until, now time.Time) *Job {
	next := *j
	next.PausedUntil = until
	next.Generation++
	next.Updated = now
	return &next
}

// pauseUnder returns the end of the pause of j after an edit to def: def's own, or the current one if def has none.
func (j *Job) pauseUnder(def *Definition) time.Time {
	if def.PausedUntil != nil {
		return *def.PausedUntil
	}
	return j.PausedUntil
}

// beyondPause returns the time that a baton waits for if n is next: n, or, if n falls into the pause, the first time
// after it, or the last time in it if none is left. from is n if it is passed over, else zero.
func (j *Job) beyondPause(p Progress, n time.Time) (nominal, from time.Time) {
	if j.OneShot() || !j.PausedAt(n) {
		return n, from
	}
	plan, end := j.plan(p), j.PausedUntil.Add(-1)
	if next, ok := plan.Next(end); ok {
		return next, n
	}
	if last, ok := plan.Last(end); ok && last.After(n) {
		return last, n
	}
	return n, from
}

// mayBegin returns the earliest start of the occurrence at nominal: its due time, or the end of the pause for a
// one-shot.
func (j *Job) mayBegin(p Progress, nominal time.Time) time.Time {
	due := j.due(p, nominal)
	if j.OneShot() && j.PausedAt(due) {
		return j.PausedUntil
	}
	return due
}

// pauses reports whether the pause prevents b from beginning. A baton that was deferred because of its target may run
// after the pause.
func (j *Job) pauses(b *Baton, now time.Time) bool {
	if b.Begun() || b.Kind.IsManual() {
		return false
	}
	if j.OneShot() || b.Kind.IsDetached() || b.Deferred() {
		return j.PausedAt(now)
	}
	return j.PausedAt(b.Nominal)
}

// pause moves b, whose time falls into the pause, beyond it.
func (j *Job) pause(b Baton, now time.Time) Decision {
	if b.Kind.IsDetached() {
		s := j.end(b.Progress, []skip{j.passed(b.Nominal, b.Nominal)}, now)
		s.Merge = true
		return Decision{Verdict: Skip, Step: s}
	}
	if j.OneShot() {
		b.Due = j.mayBegin(b.Progress, b.Nominal)
		return Decision{Verdict: Wait, Step: j.wait(b, nil, now)}
	}
	var skips []skip
	if b.PausedFrom.IsZero() { // otherwise all passed times belong to the pause
		b, skips = j.settle(b, now)
	}
	if gaps := j.gapsUpTo(b.Progress, now); len(gaps) > 0 {
		b.Seen = gaps[len(gaps)-1].from
		skips = append(skips, gaps...)
	}
	from := j.nextInstant(b)
	s := j.step(b.Progress, from, true, now)
	if next := s.Next; next != nil && j.PausedAt(next.Nominal) && !next.Nominal.After(now) { // the last time of the schedule
		p, last := b.Progress, next.Nominal
		if last.After(p.Seen) {
			p.Seen = last
		}
		skips = append(skips, j.passed(from, last).counted(j.plan(p)))
		s = j.onwards(p, last, now)
	}
	return Decision{Verdict: Skip, Step: s.after(j.skipped(skips, now, s.Progress))}
}

// nextInstant returns the first time without a record, from b's nominal time or the times that it passes over.
func (j *Job) nextInstant(b Baton) time.Time {
	if !b.PausedFrom.IsZero() {
		return b.PausedFrom
	}
	if first, passed := j.passedOver(b); passed {
		return first
	}
	return b.Nominal
}

// passed is a skip of times that fell into the pause.
func (j *Job) passed(from, to time.Time) skip {
	s := skip{from: from, to: to, count: 1, reason: ReasonPaused}
	if j.PausedAt(from) {
		s.message = "until " + j.PausedUntil.UTC().Format(time.RFC3339)
	}
	return s
}

// settlePause moves b past the times until now that fell into a pause. It returns the skips to record, including DST
// gaps.
func (j *Job) settlePause(b Baton, now time.Time) (Baton, []skip) {
	from := b.PausedFrom
	if from.IsZero() || from.After(now) || !b.NeedsOpen() || b.Schedule != j.ScheduleGen {
		return b, nil
	}
	plan, until := j.plan(b.Progress), now
	if !b.Nominal.After(now) {
		until = b.Nominal.Add(-1)
	}
	last, ok := plan.Last(until)
	if !ok || last.Before(from) {
		last = from
	}
	skips := append(j.gapsUpTo(b.Progress, last), j.passed(from, last).counted(plan))
	if last.After(b.Seen) {
		b.Seen = last
	}
	b.PausedFrom = time.Time{}
	if next, ok := plan.Next(last); ok && next.Before(b.Nominal) {
		b.PausedFrom = next
	}
	b.Gap = j.gap(b.Progress, b.Nominal)
	return b, skips
}

// repaused returns b, a waiting planned occurrence that has not begun, after an edit that may have changed the end of
// the pause.
func (j *Job) repaused(b Baton) Baton {
	from := b.Nominal
	if first := j.nextInstant(b); !b.PausedFrom.IsZero() || j.PausedAt(first) {
		from = first
	}
	if b.Deferred() {
		return b
	}
	nominal, since := j.beyondPause(b.Progress, from)
	if !nominal.Equal(b.Nominal) {
		b.Nominal, b.PostponementRecorded, b.Queued = nominal, false, false
		b.Gap = j.gap(b.Progress, nominal)
	}
	b.PausedFrom = since
	return b
}

// outlasted reports whether the one-shot b, which waited for the end of a pause, is too late for the misfire policy.
func (j *Job) outlasted(b *Baton, now time.Time) bool {
	due := j.due(b.Progress, b.Nominal)
	if !j.OneShot() || b.Begun() || b.Kind != Planned || b.Deferred() || !b.Due.After(due) {
		return false
	}
	window := j.Def.CatchUp.Window
	if j.Def.CatchUp.Policy == CatchUpSkip {
		window = min(lateGrace, window)
	}
	return now.Sub(due) > window
}

// endPaused ends a one-shot that is too late after its pause.
func (j *Job) endPaused(b Baton, now time.Time) Step {
	p := b.Progress
	p.Seen = b.Nominal
	return j.step(p, time.Time{}, false, now).after(j.skipped([]skip{j.passed(b.Nominal, b.Nominal)}, now, p))
}

// FirstFrom returns the first run at or after from, by its nominal time, that the pause allows. A one-shot that waits
// for the end of its pause runs then.
func (j *Job) FirstFrom(from time.Time) (time.Time, bool) {
	if j.OneShot() {
		t, ok := j.Plan.First()
		if ok && j.PausedAt(t) {
			t = j.PausedUntil
		}
		return t, ok && !t.Before(from) && !j.Never(t)
	}
	if j.PausedAt(from) {
		from = j.PausedUntil
	}
	return j.Plan.Next(from.Add(-1))
}
