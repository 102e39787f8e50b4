package scheduler

import (
	"fmt"
	"strings"
	"time"
)

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
		if m.Due.After(e.Time.Add(time.Second)) {
			start = "at " + moment(m.Due)
		}
		count := r.Baton.Cause.Count
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
