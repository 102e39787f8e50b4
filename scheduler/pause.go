package scheduler

import "time"

// A job may be paused until an instant ([Job.PausedUntil]). Its state stays enabled, and what falls due before that instant
// does not run. The baton waits for the first occurrence after the pause, so the end of a pause takes nobody's doing: there
// is no write, and nothing wakes up for the instants between. [Baton.PausedFrom] is the first of these that has no record
// yet. Whatever takes the baton elsewhere settles them first, as one record: the occurrence after the pause, a run by hand,
// an edit that ends the pause early or makes it longer.
//
// A schedule that has nothing left after the pause waits for its last instant in it, as the pause may end early. A one-shot
// has no other instant: it waits for the end of the pause, and its catch-up policy says whether it is too late then.

// PausedAt reports whether planned occurrences of j are kept from beginning at an instant.
func (j *Job) PausedAt(now time.Time) bool { return now.Before(j.PausedUntil) }

// Paused returns j with another end of its pause; the zero time ends it.
func (j *Job) Paused(until, now time.Time) *Job {
	next := *j
	next.PausedUntil = until
	next.Generation++
	next.Updated = now
	return &next
}

// pauseUnder is the end of the pause of j once def is put over it: the one that def names or, when it names none, its own.
func (j *Job) pauseUnder(def *Definition) time.Time {
	if def.PausedUntil != nil {
		return *def.PausedUntil
	}
	return j.PausedUntil
}

// beyondPause returns the instant that a baton is to wait for when n comes next: n or, when that falls into the pause, the
// first one after it, or the last one in it where nothing is left. from is n if it is passed over, else zero.
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

// mayBegin is when the occurrence at nominal may run: when it is due, or at the end of the pause that a one-shot waits for.
func (j *Job) mayBegin(p Progress, nominal time.Time) time.Time {
	due := j.due(p, nominal)
	if j.OneShot() && j.PausedAt(due) {
		return j.PausedUntil
	}
	return due
}

// pauses reports whether b, which a worker has, must not begin because of the pause. One that was put off because of its
// target and comes after the pause may.
func (j *Job) pauses(b *Baton, now time.Time) bool {
	if b.Begun() || b.Kind.IsManual() {
		return false
	}
	if j.OneShot() || b.Kind.IsDetached() || b.Deferred() {
		return j.PausedAt(now)
	}
	return j.PausedAt(b.Nominal)
}

// pause takes b, whose instant falls into the pause, beyond it.
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
	if b.PausedFrom.IsZero() { // else all that it passes over is of the pause
		b, skips = j.settle(b, now)
	}
	if gaps := j.gapsUpTo(b.Progress, now); len(gaps) > 0 {
		b.Seen = gaps[len(gaps)-1].from
		skips = append(skips, gaps...)
	}
	from := j.nextInstant(b)
	s := j.step(b.Progress, from, true, now)
	if next := s.Next; next != nil && j.PausedAt(next.Nominal) && !next.Nominal.After(now) { // the last one of the schedule
		p, last := b.Progress, next.Nominal
		if last.After(p.Seen) {
			p.Seen = last
		}
		skips = append(skips, j.passed(from, last).counted(j.plan(p)))
		s = j.onwards(p, last, now)
	}
	return Decision{Verdict: Skip, Step: s.after(j.skipped(skips, now, s.Progress))}
}

// nextInstant is the first instant of the schedule from b's on, or of those that it passes over, that has no record.
func (j *Job) nextInstant(b Baton) time.Time {
	if !b.PausedFrom.IsZero() {
		return b.PausedFrom
	}
	if first, passed := j.passedOver(b); passed {
		return first
	}
	return b.Nominal
}

// passed is a run of instants that fell into the pause.
func (j *Job) passed(from, to time.Time) skip {
	s := skip{from: from, to: to, count: 1, reason: ReasonPaused}
	if j.PausedAt(from) {
		s.message = "until " + j.PausedUntil.UTC().Format(time.RFC3339)
	}
	return s
}

// settlePause takes from b the instants until now that fell into a pause: they are to be recorded, and changes of the clock
// among them.
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

// repaused is b, which waits for a planned occurrence that has not begun, after an edit: its pause may have another end.
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
		b.Nominal, b.PostponementRecorded = nominal, false
		b.Gap = j.gap(b.Progress, nominal)
	}
	b.PausedFrom = since
	return b
}

// outlasted reports whether b, of a one-shot that has waited for the end of a pause, comes too late for the catch-up policy.
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

// endPaused ends a one-shot that may not run any more after its pause.
func (j *Job) endPaused(b Baton, now time.Time) Step {
	p := b.Progress
	p.Seen = b.Nominal
	return j.step(p, time.Time{}, false, now).after(j.skipped([]skip{j.passed(b.Nominal, b.Nominal)}, now, p))
}

// FirstFrom returns the first run of the schedule, by its nominal time, that is not before an instant and that the pause
// lets begin. A one-shot that waits for the end of its pause runs then.
func (j *Job) FirstFrom(from time.Time) (time.Time, bool) {
	if j.OneShot() {
		t, ok := j.Plan.First()
		if ok && j.PausedAt(t) {
			t = j.PausedUntil
		}
		return t, ok && !t.Before(from)
	}
	if j.PausedAt(from) {
		from = j.PausedUntil
	}
	return j.Plan.Next(from.Add(-1))
}
