package scheduler

import (
	"context"
	"slices"
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
	g, _ := j.plan(p).LeftOut(j.seen(p), n)
	return g.At
}

// seen is the instant up to which everything is recorded.
func (j *Job) seen(p Progress) time.Time {
	if p.Seen.IsZero() {
		return j.Anchor
	}
	return p.Seen
}

// leftOut returns what is left out after what p has seen until to, included.
func (j *Job) leftOut(p Progress, to time.Time) []skip {
	var list []skip
	plan := j.plan(p)
	for g, ok := plan.LeftOut(j.seen(p), to); ok; g, ok = plan.LeftOut(g.At, to) {
		list = append(list, leftOutAt(g))
	}
	return list
}

// lastGap returns what is left out next by a schedule that has no instant any
// more: no baton waits for that change.
func (j *Job) lastGap(p Progress) []skip {
	g, ok := j.plan(p).LeftOut(j.seen(p), time.Time{})
	if !ok {
		return nil
	}
	return []skip{leftOutAt(g)}
}

// passGaps takes from b the changes of the clock that have come. One at b's
// instant is passed with the occurrence.
func (j *Job) passGaps(b Baton, now time.Time) (Baton, []skip) {
	var list []skip
	for !b.Gap.IsZero() && !b.Gap.After(now) && (b.gapFirst() || !b.Due.After(now)) {
		if g, ok := j.plan(b.Progress).LeftOut(b.Gap.Add(-time.Nanosecond), b.Gap); ok {
			list = append(list, leftOutAt(g))
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

func leftOutAt(g spec.LeftOut) skip {
	return skip{from: g.At, to: g.At, count: g.Count, reason: ReasonDST, message: g.Text}
}

// leaveOut passes what the clock has jumped over on the way to r's instant.
// True means that r goes on waiting for it.
func (w *Worker) leaveOut(r *run, j *Job) (waits bool) {
	now := time.Now()
	b, skips := j.passGaps(r.baton, now)
	r.baton, r.skips = b, append(r.skips, skips...)
	if !b.next().After(now) {
		return false
	}
	w.settle(r, j, Step{Next: &r.baton, State: j.State, Progress: b.Progress})
	return true
}

// beginAnew goes on from a baton whose job was given another schedule before
// it was due. What the clock jumped over until then, the old one left out.
func (w *Worker) beginAnew(r *run, j *Job) {
	b := r.baton
	if !b.Gap.IsZero() && !b.Gap.After(j.Anchor) {
		if old := w.library.at(w.settles, r.key(), b.Revision, j); old.ScheduleGen == b.Schedule {
			_, skips := old.passGaps(b, j.Anchor)
			r.skips = append(r.skips, skips...)
		}
	}
	w.settle(r, j, j.Begin(b.Progress))
}

// told returns the changes of the clock, by their Unix seconds, that are among
// the last records of what was left out of the job with a mark.
func told(ctx context.Context, store Store, k Key, mark string) (map[int64]bool, error) {
	there := map[int64]bool{}
	n := 0
	err := store.Recent(ctx, k, 0, []Outcome{OutcomeSkipped}, func(rec *Record) bool {
		n++
		if rec.Reason == ReasonDST && sameJob(rec.UID, mark) {
			there[rec.Nominal.Unix()] = true
		}
		return n < recheckDepth
	})
	return there, err
}

// untold returns those of the skips that the history does not have: a change
// of the clock is recorded once, also when what recorded it was cut short.
func untold(ctx context.Context, store Store, k Key, mark string, skips []skip) ([]skip, error) {
	isTold := func(s skip) bool { return s.reason == ReasonDST }
	if !slices.ContainsFunc(skips, isTold) {
		return skips, nil
	}
	there, err := told(ctx, store, k, mark)
	return slices.DeleteFunc(slices.Clone(skips), func(s skip) bool { return isTold(s) && there[s.from.Unix()] }), err
}

// passTold takes from the next baton of j the changes of the clock that the
// history has.
func (s *Service) passTold(ctx context.Context, j *Job, b *Baton) error {
	if b == nil || b.Gap.IsZero() {
		return nil
	}
	there, err := told(ctx, s.store, j.Key, j.mark())
	for err == nil && !b.Gap.IsZero() && there[b.Gap.Unix()] {
		*b = j.passGap(*b)
	}
	return err
}
