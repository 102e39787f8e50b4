package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

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
