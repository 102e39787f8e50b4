package scheduler

import "time"

// lateGrace is how late an occurrence can start under [CatchUpSkip] without being missed. It covers a redelivery after
// a crash.
const lateGrace = 30 * time.Second

// arrival is the result of the misfire policy (catchUp) for a due baton.
type arrival struct {
	run   bool  // run an attempt of baton
	baton Baton // the delivered baton, or one for a later occurrence
	skips []skip
	step  Step // if run is false: how to continue instead
}

// arrive applies the misfire policy (catchUp) to b. Only the first attempt of a planned occurrence can be missed:
// retries, errorActions, manual runs, and deferred and queued attempts run however late.
func (j *Job) arrive(b Baton, now time.Time) arrival {
	if b.Begun() || b.Kind != Planned || b.Deferred() || b.Queued || !now.After(b.Due) {
		return arrival{run: true, baton: b}
	}
	window := j.Def.CatchUp.Window
	switch j.Def.CatchUp.Policy {
	case CatchUpAll:
		return j.catchUpAll(b, now, window)
	case CatchUpSkip:
		if now.Sub(b.Due) <= min(lateGrace, window) {
			return arrival{run: true, baton: b}
		}
		return j.skipThrough(b, j.lastDue(b, now), now)
	default:
		return j.catchUpOnce(b, now, window)
	}
}

// catchUpOnce runs the latest missed occurrence.
func (j *Job) catchUpOnce(b Baton, now time.Time, window time.Duration) arrival {
	last := j.lastDue(b, now)
	if now.Sub(last) > window {
		return j.skipThrough(b, last, now)
	}
	return j.skipUpTo(b, last, now)
}

// catchUpAll runs the earliest occurrence inside the window.
func (j *Job) catchUpAll(b Baton, now time.Time, window time.Duration) arrival {
	oldest := now.Add(-window)
	if !b.Nominal.Before(oldest) {
		return arrival{run: true, baton: b}
	}
	first, ok := j.plan(b.Progress).Next(oldest.Add(-time.Nanosecond))
	if !ok || first.After(now) {
		return j.skipThrough(b, j.lastDue(b, now), now)
	}
	return j.skipUpTo(b, first, now)
}

// lastDue returns the last schedule time from b's on that has passed.
func (j *Job) lastDue(b Baton, now time.Time) time.Time {
	last, ok := j.plan(b.Progress).Last(now)
	if !ok || last.Before(b.Nominal) || j.OneShot() {
		return b.Nominal
	}
	return last
}

// skipUpTo skips from b's nominal time up to a later occurrence, and runs that.
func (j *Job) skipUpTo(b Baton, to, now time.Time) arrival {
	if !to.After(b.Nominal) {
		return arrival{run: true, baton: b}
	}
	plan := j.plan(b.Progress)
	before, ok := plan.Last(to.Add(-time.Nanosecond))
	if !ok || before.Before(b.Nominal) {
		before = b.Nominal
	}
	missed := skip{from: b.Nominal, to: before, reason: ReasonCatchUp}.counted(plan)
	b.Seen = b.Nominal
	skips := append(j.gapsUpTo(b.Progress, before), missed)
	b.Seen, b.Nominal, b.Due = before, to, j.due(b.Progress, to)
	b.Gap = j.gap(b.Progress, to)
	b, more := j.passGaps(b, now)
	return arrival{run: true, baton: b, skips: append(skips, more...)}
}

// passOver moves b past all times up to last. It returns the skips to record: s, and the DST gaps among them.
func (j *Job) passOver(b Baton, last time.Time, s skip) (Baton, []skip) {
	s.from, s.to = b.Nominal, last
	s = s.counted(j.plan(b.Progress))
	b.Seen = b.Nominal
	gaps := j.gapsUpTo(b.Progress, last)
	b.Seen = last
	return b, append(gaps, s)
}

// skipThrough skips from b's nominal time through last, and plans the next occurrence.
func (j *Job) skipThrough(b Baton, last, now time.Time) arrival {
	passed, skips := j.passOver(b, last, skip{reason: ReasonCatchUp})
	next, ok := j.plan(passed.Progress).Next(last)
	s := j.step(passed.Progress, next, ok && !j.OneShot(), now)
	return arrival{baton: b, step: s.after(j.skipped(skips, now, passed.Progress))}
}
