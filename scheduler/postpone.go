package scheduler

import (
	"slices"
	"time"
)

// A disabled collection postpones due occurrences: they do not run later. The first time is recorded immediately. From
// then on the baton checks the collection at selected times of the schedule and passes over those in between: they are
// after Progress.Seen and before the baton's own time while Baton.PostponementRecorded is set, and have no record yet.
// They are recorded together before the baton moves elsewhere. A one-shot, which has no other time, waits for the
// collection without a limit.

const (
	// postponedWait is the longest time between two checks. The first check is after 1 s; the interval then grows with
	// the time waited.
	postponedWait = time.Minute

	// postponedSpan is the longest time for which passed times stay without a record.
	postponedSpan = time.Hour
)

// postpone lets b wait for its disabled collection. skips are the times that were passed over before.
func (j *Job) postpone(b Baton, skips []skip, now time.Time) Step {
	if j.OneShot() {
		return j.postponeOneShot(b, skips, now)
	}
	last, plan := j.lastDue(b, now), j.plan(b.Progress)
	wait := time.Second
	if b.PostponementRecorded {
		wait = lookAfter(now.Sub(b.Seen))
	}
	n, ok := plan.Next(now.Add(wait - 1))
	if !ok {
		n, ok = plan.Next(last) // near its end, every time is checked
	}
	p := b.Progress
	p.Seen = b.Nominal
	gaps := j.gapsUpTo(p, last)
	var due []skip
	tell := !ok || !b.PostponementRecorded || len(skips)+len(gaps) > 0 // a passed gap is before Seen
	if p.Seen = b.Seen; tell || now.Sub(b.Seen) >= postponedSpan {
		from := b.Nominal
		if first, passed := j.passedOver(b); passed {
			from = first
		}
		due = []skip{j.postponed(from, last).counted(plan)}
		p.Seen = last
	}
	s := j.step(p, n, ok, now)
	if s.Next != nil {
		s.Next.PostponementRecorded = true
	}
	s = s.after(j.skipped(gaps, now, s.Progress))
	s = s.after(j.skipped(due, now, s.Progress))
	return s.after(j.skipped(skips, now, b.Progress))
}

// postponeOneShot lets a one-shot wait. The first postponement is recorded.
func (j *Job) postponeOneShot(b Baton, skips []skip, now time.Time) Step {
	if !b.PostponementRecorded {
		skips = append(skips, j.postponed(b.Nominal, b.Nominal))
	}
	b.PostponementRecorded = true
	s := j.wait(b, skips, now)
	s.At = now.Add(lookAfter(now.Sub(b.Due)))
	return s
}

// lookAfter returns the time to the next check, given the time waited.
func lookAfter(waited time.Duration) time.Duration {
	return min(postponedWait, max(time.Second, waited))
}

// postponed is a skip of times that the disabled collection postpones.
func (j *Job) postponed(from, to time.Time) skip {
	return skip{
		from: from, to: to, count: 1, postponed: true,
		message: "collection " + j.Key.Collection + " is disabled",
	}
}

// passedOver returns the first time without a record that b passes over because its collection is disabled; false if
// none.
func (j *Job) passedOver(b Baton) (first time.Time, ok bool) {
	if !b.PostponementRecorded || !b.NeedsOpen() || j.OneShot() || b.Schedule != j.ScheduleGen {
		return first, false
	}
	first, ok = j.plan(b.Progress).Next(b.Seen)
	return first, ok && first.Before(b.Nominal)
}

// settle moves b past the times that it has passed over until now because of its collection or a pause. It returns the
// skips to record, including DST gaps.
func (j *Job) settle(b Baton, now time.Time) (Baton, []skip) {
	b, paused := j.settlePause(b, now)
	first, ok := j.passedOver(b)
	if !ok || first.After(now) {
		return b, paused
	}
	plan, until := j.plan(b.Progress), now
	if !b.Nominal.After(now) {
		until = b.Nominal.Add(-1)
	}
	last, ok := plan.Last(until)
	if !ok || last.Before(first) {
		last = first
	}
	skips := slices.Concat(paused, j.gapsUpTo(b.Progress, last))
	skips = append(skips, j.postponed(first, last).counted(plan))
	b.Seen = last
	b.Gap = j.gap(b.Progress, b.Nominal)
	return b, skips
}

// Settle records the times that the waiting baton b has passed over until now, because its collection is disabled or
// the job is paused, before an edit of j moves b elsewhere; false if nothing remains to be recorded.
func (j *Job) Settle(b Baton, now time.Time) (Step, bool) {
	b, skips := j.settle(b, now)
	if len(skips) == 0 {
		return Step{}, false
	}
	return j.wait(b, skips, now), true
}

// Deferral describes why and until when an attempt is deferred, because of its target or of its job's condition.
type Deferral struct {
	At      time.Time // earliest start
	Circuit bool      // the target's circuit breaker is open
	Ahead   bool      // deliver before At, because the start time is exact
	Message string    // of the record; "": no rule of the collection caused it, and it is not recorded
	Reason  Reason    // of the record: [ReasonOnlyIf], or none
}

// Defer lets b, a run under definition j, wait in the store. The first deferral by a rule or a condition is recorded.
func (j *Job) Defer(b Baton, d Deferral, now time.Time) Step {
	if d.Circuit && b.DeferredSince.IsZero() {
		b.DeferredSince = now
	}
	if unmet := d.Reason == ReasonOnlyIf; b.Unmet != unmet {
		b.Unmet, b.DeferralRecorded = unmet, false
	}
	b.DeferredUntil = d.At
	s := Step{Next: &b, At: d.At, State: j.State, Progress: b.Progress}
	if d.Ahead {
		s.At = d.At.Add(-lead)
	}
	if d.Message != "" && !b.DeferralRecorded {
		b.DeferralRecorded = true
		r := deferredRecord(j, &b, now, d.Message)
		r.Reason = d.Reason
		s.Records = []Record{r}
	}
	return s
}
