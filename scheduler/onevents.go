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

// Never reports whether t is the nominal time of the baton of a job that only events start. No view shows it.
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
	if len(t.On) == 0 {
		return "jobs that name it"
	}
	var all []string
	for i := range t.On {
		l := &t.On[i]
		text := l.Source + l.Subject + l.Job // one of them
		if l.Job != "" {
			text += " " + JoinOutcomes(l.Outcome)
		}
		all = append(all, text)
	}
	if t.Within > 0 {
		return strings.Join(all, " and ")
	}
	return strings.Join(all, ", ")
}

// JoinOutcomes returns outcomes as text: "completed or faulted".
func JoinOutcomes(outcomes []Outcome) string {
	words := make([]string, len(outcomes))
	for i, o := range outcomes {
		words[i] = string(o)
	}
	return strings.Join(words, " or ")
}

// Describe names the events for people: "3 events, the last: orders (sequence 17), key 42".
func (c *Cause) Describe() string {
	text := "the end of " + c.Upstream
	if c.Upstream == "" {
		text = "the event " + c.Event
	}
	if c.Upstream == "" && c.Sequence > 0 {
		text += fmt.Sprintf(" (sequence %d)", c.Sequence)
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

// Topic returns the topic that jobs like k call by a name, as the fields source (event) and subject (collection.event)
// of their triggers do.
func (k Key) Topic(name string) Topic {
	l := Listener{Source: name}
	if strings.Contains(name, ".") {
		l = Listener{Subject: name}
	}
	return l.topic(k)
}

// Describe names the events that l selects for people: "source orders".
func (l *Listener) Describe() string {
	switch {
	case l.Source != "":
		return "source " + l.Source
	case l.Subject != "":
		return "subject " + l.Subject
	}
	return "job " + l.Job
}

// Describe explains to people the effect of an event on the slot of its key, in which waiting waits (nil: nothing).
func (j *Job) Describe(r *Reaction, e *Event, m Match, waiting *Baton) string {
	t := j.Def.Trigger
	switch r.Effect {
	case Start:
		return "a run starts immediately" + withEvents(&r.Baton)
	case Flush:
		return "the run that waits starts immediately" + withEvents(waiting) + "; then the event is matched again"
	case Canceled:
		return "the run is skipped: a later event has canceled it"
	case Arm:
		if r.Baton.Spent {
			break
		}
		text := "a run waits until " + moment(r.Baton.Due) + withEvents(&r.Baton)
		if waiting != nil && !t.collects() {
			text += ", in place of the run that waits until " + moment(waiting.Due)
		}
		return text
	case Allow:
		start := "immediately"
		if r.Due.After(e.Time.Add(time.Second)) {
			start = "at " + moment(r.Due)
		}
		if t.Counts {
			return fmt.Sprintf("a run starts %s: run %d of %d (trigger.count)", start, r.Baton.Cause.Count, t.LimitRuns)
		}
		count := (r.Baton.Cause.Count-1)%t.LimitRuns + 1
		return fmt.Sprintf("a run starts %s: run %d of %d until %s", start, count, t.LimitRuns, moment(r.Baton.Due))
	case Limit:
		return fmt.Sprintf("the run is skipped: trigger.rateLimit allows no further run before %s", moment(waiting.Due))
	case Withdraw:
		return "the run that waits until " + moment(waiting.Due) + " is canceled"
	case NoEffect:
	}
	switch {
	case waiting == nil, m.Verdict == Cancels:
		return "no run waits that it could cancel"
	case t.Counts:
		return fmt.Sprintf("no run starts after %d: trigger.count", t.LimitRuns)
	case t.LimitRuns > 0:
		return "no run starts before " + moment(waiting.Due) + ": trigger.once"
	case waiting.Cause.Holds(e):
		return "the run that waits until " + moment(waiting.Due) + " has the event already"
	}
	return "a later event has replaced it"
}

// withEvents is the number of the events of b, if these are several.
func withEvents(b *Baton) string {
	if b.Cause.Count == 1 {
		return ""
	}
	return fmt.Sprintf(" with %d events", b.Cause.Count)
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
