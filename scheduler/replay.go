package scheduler

import (
	"slices"
	"time"
)

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

// Carried returns the cause of the events that a run of j with the cause c carries. A batch carries all, and require all
// one of each listener, see [Job.Carry]. Otherwise each event has replaced the one before, and the run carries the last.
func (j *Job) Carried(c *Cause) *Cause {
	t := j.Def.Trigger
	if t == nil || t.Batch > 0 || t.Within > 0 || c.Count == 1 {
		return c
	}
	id := sequenceOf(c.Sequence, c.Event == "")
	if list := c.Sequences; len(list) > 0 && list[0]>>63 == list[len(list)-1]>>63 { // of one stream, maybe not matched in its order
		id = list[len(list)-1]
	}
	last := *c
	last.Count, last.Sequence = 1, id&^(1<<63)
	if id>>63 == 0 {
		last.Upstream = ""
	}
	return &last
}

// Carry adds e, a later event, to the events of a run of j. With require all, it replaces the event of its listener.
func (j *Job) Carry(events []*Event, e *Event) []*Event {
	if t := j.Def.Trigger; t == nil || t.Within == 0 {
		return append(events, e)
	}
	of := func(e *Event) int {
		if m := j.matchAny(e); m.Verdict == Matches {
			return m.Listener
		}
		return -1 // the trigger was edited
	}
	listener := of(e)
	i := slices.IndexFunc(events, func(other *Event) bool { return listener >= 0 && of(other) == listener })
	if i < 0 {
		return append(events, e)
	}
	events[i] = e
	return events
}
