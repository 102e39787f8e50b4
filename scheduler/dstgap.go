package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// What a schedule leaves out when a clock jumps over it are times on the wall,
// not instants: no plan knows them, no count is used up by them. So that they
// are not lost in silence, a baton carries the next such change of the clock
// ([Baton.Gap]), wakes a worker then, and goes on waiting for its instant.
// What has been recorded is behind Progress.Seen, as the instants are.

// gap returns the first change of the clock after what p has seen, and not
// after the instant n, that leaves times out; zero if there is none.
func (j *Job) gap(p Progress, n time.Time) time.Time {
	g, _ := j.plan(p).DSTGap(j.seen(p), n)
	return g.At
}

// seen is the instant up to which everything is recorded.
func (j *Job) seen(p Progress) time.Time {
	if p.Seen.IsZero() {
		return j.Anchor
	}
	return p.Seen
}

// gapsUpTo returns what is omitted after what p has seen until to, included.
func (j *Job) gapsUpTo(p Progress, to time.Time) []skip {
	var list []skip
	plan := j.plan(p)
	for g, ok := plan.DSTGap(j.seen(p), to); ok; g, ok = plan.DSTGap(g.At, to) {
		list = append(list, gapSkip(g))
	}
	return list
}

// lastGap returns what is omitted next by a schedule that has no instant any
// more: no baton waits for that change.
func (j *Job) lastGap(p Progress) []skip {
	g, ok := j.plan(p).DSTGap(j.seen(p), time.Time{})
	if !ok {
		return nil
	}
	return []skip{gapSkip(g)}
}

// passGaps takes from b the changes of the clock that have come. One at b's
// instant is passed with the occurrence.
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

// passGap takes from b the next change of the clock.
func (j *Job) passGap(b Baton) Baton {
	if !b.gapFirst() {
		b.Gap = time.Time{}
		return b
	}
	b.Seen = b.Gap
	b.Gap = j.gap(b.Progress, b.Nominal)
	return b
}

// PassRecordedGaps takes from b the changes of the clock that are recorded,
// by their Unix seconds.
func (j *Job) PassRecordedGaps(b Baton, recorded map[int64]bool) Baton {
	for !b.Gap.IsZero() && recorded[b.Gap.Unix()] {
		b = j.passGap(b)
	}
	return b
}

func gapSkip(g spec.DSTGap) skip {
	return skip{from: g.At, to: g.At, count: g.Count, reason: ReasonDST, message: g.Text}
}
