package scheduler

import "time"

// Replay returns the baton of a run that repeats a published event, nil if the trigger of j, which is enabled, starts
// none; the match has the reason. The run starts immediately and has one event: delay, debounce, batch, require and
// rateLimit have no effect. The event may be older than the job. asked is the time of the request. With the sequence of
// the event, it is the nominal time of the run.
func (j *Job) Replay(e *Event, asked time.Time) (*Baton, Match, error) {
	m := j.matchAny(e)
	if m.Verdict == Cancels {
		m.Why = "trigger.unless is true"
	}
	if m.Verdict != Matches {
		return nil, m, nil
	}
	b, err := j.Single(e, m)
	b.Nominal, b.Due, b.Cause.Replay = e.instantAt(asked), asked.UTC(), true
	return &b, m, err
}

// Replays reports whether b is the run of a replayed event.
func (b *Baton) Replays(e *Event) bool {
	return b.Cause != nil && b.Cause.Replay && b.Cause.Sequence == e.Sequence
}
