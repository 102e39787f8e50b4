package scheduler

import "time"

// Upcoming returns the nominal times of the next occurrences of j's schedule, n at
// most, when b is its baton: that of the baton, unless it has begun, and those
// after it. recurrence.count is applied as if each of them ran.
func (j *Job) Upcoming(b *Baton, n int) []time.Time {
	plan, t, ok := j.plan(b.Progress), b.Nominal, true
	switch {
	case b.Kind.IsManual() && !b.Rebased():
		t, ok = b.Resume, !b.Resume.IsZero()
	case b.Begun():
		t, ok = plan.Next(b.Nominal)
	}
	if n > 0 && ok && !b.Begun() && j.OneShot() {
		if j.PausedAt(t) {
			t = j.PausedUntil
		}
		return []time.Time{t.UTC()}
	}
	if ok {
		t, _ = j.beyondPause(b.Progress, t)
		ok = !j.PausedAt(t) // nothing is left after the pause
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
