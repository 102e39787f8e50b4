package scheduler

import "slices"

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
