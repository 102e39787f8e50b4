package scheduler

import (
	"fmt"
	"strings"
	"time"
)

// OnEvents replaces the time of the next run of a job that only events start, in all views.
const OnEvents = "on events"

// OnlyEvents reports whether only events start the job.
func (j *Job) OnlyEvents() bool { return j.Def != nil && j.Def.Trigger != nil && j.OneShot() }

// Never reports whether t is the time of the next run of a job that only events start. No view shows it.
func (j *Job) Never(t time.Time) bool { return j.OnlyEvents() && !t.Before(EndOfTime) }

// Schedule describes in English when the job runs, without a full stop: "every hour, and on events: orders".
func (j *Job) Schedule() string {
	switch {
	case j.Def.Trigger == nil:
		return j.Plan.Describe()
	case j.OneShot():
		return OnEvents + ": " + j.Def.Trigger.listens()
	}
	return j.Plan.Describe() + ", and " + OnEvents + ": " + j.Def.Trigger.listens()
}

// listens names the events that the trigger selects: "orders, sales.refunds, extract completed".
func (t *Trigger) listens() string {
	var all []string
	for i := range t.On {
		l := &t.On[i]
		text := l.Source + l.Subject + l.Job // one of them
		if l.Job != "" {
			outcomes := make([]string, len(l.Outcome))
			for n, o := range l.Outcome {
				outcomes[n] = string(o)
			}
			text += " " + strings.Join(outcomes, " or ")
		}
		all = append(all, text)
	}
	if t.Within > 0 {
		return strings.Join(all, " and ")
	}
	return strings.Join(all, ", ")
}

// Describe names the events for people: "3 events, the last: orders (sequence 17), key 42".
func (c *Cause) Describe() string {
	text := "the end of " + c.Upstream
	if c.Upstream == "" {
		text = fmt.Sprintf("the event %s (sequence %d)", c.Event, c.Sequence)
	}
	if c.Replay {
		text = "a replay of " + text
	}
	if c.Count > 1 {
		text = fmt.Sprintf("%d events, the last: %s", c.Count, strings.TrimPrefix(text, "the event "))
	}
	if c.Key != "" {
		text += ", key " + c.Key
	}
	return text
}
