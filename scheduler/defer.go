package scheduler

import "time"

// Deferral is how long, and why, an attempt is deferred because of its target.
type Deferral struct {
	At      time.Time // when it may run
	Circuit bool      // because the target's circuit is open
	Ahead   bool      // a worker is to hold it before At already, for its turn is exact
	Message string    // of the record; "" when no rule of the collection is why, and nothing is recorded
}

// Defer lets b, of a run under the definition j, wait for its target outside
// the process. That a rule delays it is recorded the first time.
func (j *Job) Defer(b Baton, d Deferral, now time.Time) Step {
	if d.Circuit && b.DeferredSince.IsZero() {
		b.DeferredSince = now
	}
	b.DeferredUntil = d.At
	s := Step{Next: &b, At: d.At, State: j.State, Progress: b.Progress}
	if d.Ahead {
		s.At = d.At.Add(-lead)
	}
	if d.Message != "" && !b.DeferralRecorded {
		b.DeferralRecorded = true
		s.Records = []Record{deferredRecord(j, &b, now, d.Message)}
	}
	return s
}
