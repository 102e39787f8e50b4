package scheduler

import (
	"hash/fnv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Begin plans the first baton of a new schedule.
func (j *Job) Begin(p Progress, now time.Time) Step {
	n, ok := j.first()
	return j.step(p.afresh(), n, ok, now)
}

// first returns the first run of the schedule. Without a startTime, a new job runs immediately; an edit of a recurring
// job does not trigger a run.
func (j *Job) first() (time.Time, bool) {
	if j.ScheduleGen > 1 && !j.OneShot() && j.Def.Timing.Start.IsZero() {
		return j.Plan.Next(j.Anchor)
	}
	return j.Plan.First()
}

// ResumeSchedule plans the next baton of a job that had none while it was disabled. Missed times are skipped; a one-shot that
// has not run yet runs.
func (j *Job) ResumeSchedule(p Progress, now time.Time) Step {
	if j.OneShot() || p.Seen.IsZero() {
		if p.Runs > 0 {
			return j.step(p, time.Time{}, false, now)
		}
		if first, ok := j.first(); j.OneShot() || ok && !first.Before(now) {
			return j.step(p, first, ok, now)
		}
	}
	after := p.Seen
	if after.IsZero() {
		after = j.Anchor.Add(-time.Nanosecond)
	}
	n, ok := j.plan(p).Next(after)
	return j.skipTo(p, n, ok, now, ReasonDisabled)
}

// following plans the next occurrence after b's, which ended now.
func (j *Job) following(p Progress, b Baton, now time.Time) Step {
	if b.Schedule != j.ScheduleGen {
		return j.Begin(p, now)
	}
	manual := b.Kind.IsManual()
	if manual && b.Resume.IsZero() {
		return Step{State: j.State, Progress: p}
	}
	why := ReasonOverlap
	if b.Deferred() && !b.Unmet {
		why = ReasonPostponed
	}
	manual = manual && !b.Rebased()
	if manual && b.Resume.After(p.Seen) {
		s := j.skipTo(p, b.Resume, true, now, why)
		if s.Next != nil && j.OneShot() {
			s.Next.PostponementRecorded = b.PostponementRecorded
		}
		return s
	}
	if manual { // skipped in the meantime, as the last of the schedule
		return j.step(p, b.Resume, false, now)
	}
	n, ok := j.plan(p).Next(Later(b.Nominal, p.Seen))
	return j.skipTo(p, n, ok, now, why)
}

// advanceDetached advances the job's own baton past the occurrence of b, which has been running detached since started.
func (j *Job) advanceDetached(b Baton, started, now time.Time) Step {
	b = b.Begin()
	b.rebase(j, started)
	b.Seen = b.Nominal
	b.ran(b.Nominal)
	n, ok := j.plan(b.Progress).Next(b.Nominal)
	return j.step(b.Progress, n, ok, now)
}

// plan returns the job's plan, relative to its last executions where the schedule depends on them.
func (j *Job) plan(p Progress) *spec.Plan { return j.Plan.Moved(p.Base) }

// skipTo plans the occurrence at n. If n has passed, the policies decide about the times from n to now.
func (j *Job) skipTo(p Progress, n time.Time, ok bool, now time.Time, why Reason) Step {
	if !ok || !j.due(p, n).Before(now) || j.OneShot() || j.exhausted(p) {
		return j.step(p, n, ok, now)
	}
	plan := j.plan(p)
	queues := j.Def.Overlap == OverlapQueue && why != ReasonDisabled
	all := j.Def.CatchUp.Policy == CatchUpAll && why != ReasonDisabled
	if queues {
		all = plan.Count(n, now) <= maxQueuedTimes
	}
	if all {
		return j.step(p, n, true, now).queued(queues, now)
	}
	last, found := plan.Last(now.Add(-time.Nanosecond))
	if !found || last.Before(n) {
		last = n
	}
	next, more := plan.Next(last)
	if last.After(n) && !j.due(p, last).Before(now) { // its jitter has not elapsed
		next, more = last, true
		last, _ = plan.Last(last.Add(-time.Nanosecond))
	}
	for i := 0; queues && i < maxQueuedTimes; i++ {
		next, more = last, true
		last, _ = plan.Last(next.Add(-time.Nanosecond))
	}
	if last.Before(n) { // the newest has not passed, so that none is too many
		return j.step(p, n, true, now).queued(queues, now)
	}
	gaps := j.gapsUpTo(p, last)
	p.Seen = last
	s := j.step(p, next, more, now)
	missed := skip{from: n, to: last, reason: why}.counted(plan)
	s = s.after(j.skipped(gaps, now, p))
	s.Records = append(s.Records, missed.record(j, now, p))
	return s.queued(queues, now)
}

// maxQueuedTimes is the maximum number of occurrences that wait for an earlier one with [OverlapQueue]. The oldest of
// more are skipped.
const maxQueuedTimes = 100

// queued marks the next baton of the step if it was due while an earlier occurrence ran, and queues.
func (s Step) queued(queues bool, now time.Time) Step {
	if s.Next != nil {
		s.Next.Queued = queues && !s.Next.Due.After(now)
	}
	return s
}

// DueAt returns the due time of the occurrence at nominal: nominal plus its jitter, or the end of the pause for a
// one-shot.
func (j *Job) DueAt(nominal time.Time) time.Time { return j.mayBegin(j.Progress, nominal) }

// due returns the time at which the occurrence at nominal runs: nominal plus its jitter. The jitter is a hash of the
// occurrence, so every replica computes the same, also after a restart. It never reaches the next occurrence. The baton
// of a job that only events start is due when its trigger ends.
func (j *Job) due(p Progress, nominal time.Time) time.Time {
	if j.Never(nominal) {
		return j.Def.Trigger.End
	}
	width := j.Def.Jitter
	if width <= 0 {
		return nominal
	}
	if next, ok := j.plan(p).Next(nominal); ok {
		width = min(width, next.Sub(nominal))
	}
	due := Jittered(j.Key, nominal, width)
	if due.UTC().Year() > lastYear {
		return nominal
	}
	return due
}

// lastYear is the last year that RFC 3339 can express.
const lastYear = 9999

// Upcoming returns the nominal times of at most n occurrences from the baton b on: b's own, unless it has begun, and
// the times after it. recurrence.count applies as if each of them ran.
func (j *Job) Upcoming(b *Baton, n int) []time.Time {
	plan, t, ok := j.plan(b.Progress), b.Nominal, true
	switch {
	case b.Kind.IsManual() && !b.Rebased():
		t, ok = b.Resume, !b.Resume.IsZero()
	case b.Begun():
		t, ok = plan.Next(b.Nominal)
	}
	ok = ok && !j.Never(t)
	if n > 0 && ok && !b.Begun() && j.OneShot() {
		if j.PausedAt(t) {
			t = j.PausedUntil
		}
		return []time.Time{t.UTC()}
	}
	if ok {
		t, _ = j.beyondPause(b.Progress, t)
		ok = !j.PausedAt(t) // no times are left after the pause
	}
	if most := plan.MaxRuns(); most > 0 {
		n = min(n, most-b.Runs)
	}
	times := []time.Time{}
	if ok && n > 0 {
		times = append([]time.Time{t.UTC()}, plan.After(t, n-1)...)
	}
	return times
}

// ScheduleText returns the canonical text of the fields that decide when the job runs. Jobs with equal texts have equal
// schedules, except for the parts that depend on their names and creation times.
func (d *Definition) ScheduleText() string { return d.schedule() }

// PlanLike returns the plan of j from p, the plan of a schedule with the same text. The rule is compiled again only if
// it depends on the job.
func (j *Job) PlanLike(p *spec.Plan) (*spec.Plan, error) { return p.For(j.Key.Job, j.UID, j.Anchor) }

// Jittered returns nominal plus a share of width that is a hash of the occurrence, so every replica computes the same,
// also after a restart.
func Jittered(k Key, nominal time.Time, width time.Duration) time.Time {
	if width <= 0 {
		return nominal
	}
	h := fnv.New64a()
	_, _ = h.Write(appendOccurrence(nil, k, nominal))
	return nominal.Add(time.Duration(h.Sum64() % uint64(width)))
}

// DST gaps: a clock change skips times on the wall, not instants of the schedule. Plans do not contain them, and they
// do not count toward recurrence.count. To record them, a baton carries the next such clock change ([Baton.Gap]), wakes
// a worker then, and continues to wait for its nominal time. Recorded gaps lie before Progress.Seen, as recorded times
// do.

// gap returns the first clock change after p.Seen, and not after n, that skips times of the schedule; zero if none.
func (j *Job) gap(p Progress, n time.Time) time.Time {
	g, _ := j.plan(p).DSTGap(j.seen(p), n)
	return g.At
}

// seen returns the time up to which everything is recorded.
func (j *Job) seen(p Progress) time.Time {
	if p.Seen.IsZero() {
		return j.Anchor
	}
	return p.Seen
}

// gapsUpTo returns the gaps after p.Seen, up to and including to.
func (j *Job) gapsUpTo(p Progress, to time.Time) []skip {
	var list []skip
	plan := j.plan(p)
	for g, ok := plan.DSTGap(j.seen(p), to); ok; g, ok = plan.DSTGap(g.At, to) {
		list = append(list, gapSkip(g))
	}
	return list
}

// lastGap returns the next gap of a schedule without further times, for which no baton waits.
func (j *Job) lastGap(p Progress) []skip {
	g, ok := j.plan(p).DSTGap(j.seen(p), time.Time{})
	if !ok {
		return nil
	}
	return []skip{gapSkip(g)}
}

// passGaps moves b past the gaps until now. A gap at b's nominal time is passed when the occurrence is due.
func (j *Job) passGaps(b Baton, now time.Time) (Baton, []skip) {
	var list []skip
	for !b.Gap.IsZero() && !b.Gap.After(now) && (b.gapFirst() || !b.Due.After(now)) {
		if g, ok := j.plan(b.Progress).DSTGap(b.Gap.Add(-time.Nanosecond), b.Gap); ok {
			list = append(list, gapSkip(g))
		}
		b = j.passGap(b)
	}
	return b, list
}

// passGap moves b past its next gap.
func (j *Job) passGap(b Baton) Baton {
	if !b.gapFirst() {
		b.Gap = time.Time{}
		return b
	}
	b.Seen = b.Gap
	b.Gap = j.gap(b.Progress, b.Nominal)
	return b
}

// PassRecordedGaps moves b past the gaps that are recorded, given by their Unix seconds.
func (j *Job) PassRecordedGaps(b Baton, recorded map[int64]bool) Baton {
	for !b.Gap.IsZero() && recorded[b.Gap.Unix()] {
		b = j.passGap(b)
	}
	return b
}

func gapSkip(g spec.DSTGap) skip {
	return skip{from: g.At, to: g.At, count: g.Count, reason: ReasonDST, message: g.Text}
}
