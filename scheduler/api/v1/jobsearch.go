package v1

import (
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// JobSearch holds the search parameters of a list of jobs; "" for absent ones.
type JobSearch struct {
	Filter     string `json:"$filter,omitempty"`       // see [JobFilter]
	Labels     string `json:"labelSelector,omitempty"` // see [scheduler.ParseSelector]
	Prefix     string `json:"prefix,omitempty"`        // of job names
	Action     string `json:"actionType,omitempty"`    // such as Http, in any letter case
	Target     string `json:"target,omitempty"`        // of the action: host:port, or a host for all of its ports, in any letter case
	NextAfter  string `json:"nextAfter,omitempty"`     // earliest next run; see [ReadInstant]
	NextBefore string `json:"nextBefore,omitempty"`    // the next run is earlier than this; see [ReadInstant]
	Text       string `json:"text,omitempty"`          // part of a name, a label or a target; see [scheduler.JobQuery]
	Outcome    string `json:"lastOutcome,omitempty"`   // one of [scheduler.LastOutcomes]
}

// JobSearchOptions are the names of the search parameters.
var JobSearchOptions = []string{
	"$filter", "labelSelector", "prefix", "actionType", "target", "nextAfter", "nextBefore", "text", "lastOutcome",
}

// Query parses the parameters. The error reports each problem with the name of its parameter.
func (s *JobSearch) Query(now time.Time) (q scheduler.JobQuery, err error) {
	var wrong [5]error
	if q.State, wrong[0] = JobFilter(s.Filter); q.State == Paused {
		q.State, q.PausedAt = scheduler.Enabled, now
	}
	q.Labels, wrong[1] = scheduler.ParseSelector(s.Labels)
	q.From, wrong[2] = ReadInstant("nextAfter", s.NextAfter, now)
	q.Before, wrong[3] = ReadInstant("nextBefore", s.NextBefore, now)
	if q.Prefix, q.Action = s.Prefix, s.Action; q.Prefix != "" {
		wrong[4] = scheduler.ValidateName("prefix", q.Prefix) // characters that no name begins with
	}
	q.Target, q.Text, q.Outcome = s.Target, s.Text, scheduler.Outcome(s.Outcome)
	return q, errors.Join(wrong[:]...)
}

// Fixed returns the search with instants in place of durations, so that all pages use the same times.
func (s *JobSearch) Fixed(q *scheduler.JobQuery) JobSearch {
	fixed := *s
	for _, at := range []struct {
		text *string
		time time.Time
	}{{&fixed.NextAfter, q.From}, {&fixed.NextBefore, q.Before}} {
		if !at.time.IsZero() {
			*at.text = at.time.UTC().Format(time.RFC3339Nano)
		}
	}
	return fixed
}

// ReadInstant parses an instant: RFC 3339, such as 2026-03-02T09:00:00Z, or a duration from now, such as 1h30m or -15m.
// An empty text is the zero time. The error is [scheduler.ErrInvalid] and names the option.
func ReadInstant(option, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(d), nil
	}
	if t, err := document.ParseTime(text); err == nil {
		return t, nil
	}
	return time.Time{}, scheduler.Invalid(option, fmt.Sprintf(
		"%q is neither a time such as %s nor a length of time from now on, such as 90m or -24h", text, "2026-03-02T09:00:00Z",
	))
}
