package explain

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Answer explains a job's behavior at a time, to people and programs.
type Answer struct {
	Job      string    `json:"job"`      // collection/job
	At       time.Time `json:"at"`       // the time in question, in UTC
	Local    string    `json:"local"`    // the same on the job's clock
	TimeZone string    `json:"timeZone"` // of that clock

	Code   Code   `json:"code"`
	Answer string `json:"answer"`         // in English
	Hint   string `json:"hint,omitempty"` // what may be done about it

	// Set for instants that ran, were left out, or are planned.
	Occurrence string            `json:"occurrence,omitempty"`           // its id
	Nominal    time.Time         `json:"expectedExecutionTime,omitzero"` // by the schedule
	Due        time.Time         `json:"dueTime,omitzero"`               // when the attempt may run that comes next
	Attempts   int               `json:"attempts,omitempty"`             // how many there were, of all actions
	Lateness   scheduler.Seconds `json:"lateness,omitzero"`              // of the first attempt
	Reason     scheduler.Reason  `json:"reason,omitempty"`               // of skipped

	// Since is from when on it is so: that the job is disabled, over or there. By is who
	// did it, where that is known.
	Since time.Time `json:"since,omitzero"`
	By    string    `json:"by,omitempty"`

	// The nearest occurrences by the schedule, before and after the time.
	Before *Time `json:"before,omitempty"`
	After  *Time `json:"after,omitempty"`

	// HistorySince is the instant since which all records of the job are kept.
	HistorySince time.Time `json:"historySince,omitzero"`

	Notes   []string               `json:"notes,omitempty"`   // further facts, such as clock changes
	Records []scheduler.RecordForm `json:"records,omitempty"` // of the occurrence, the oldest first
}

// Time is an instant in UTC and on the job's clock.
type Time struct {
	UTC   time.Time `json:"utc"`
	Local string    `json:"local"`
}

// Code says in one word what became of the job.
type Code string

// The codes of answers.
const (
	Ran        Code = "ran"        // an attempt of the main action succeeded
	Failed     Code = "failed"     // all attempts failed, and the retries are exhausted
	Running    Code = "running"    // an attempt is under way, or about to be
	Retrying   Code = "retrying"   // attempts have failed, and another one follows
	Waits      Code = "waits"      // for its target (circuit breaker, rate or concurrency limit), its condition, or other runs
	Skipped    Code = "skipped"    // left out, for a reason
	Postponed  Code = "postponed"  // with its collection, which is disabled
	Planned    Code = "planned"    // it is to come
	Overdue    Code = "overdue"    // due, and not begun yet
	NotDue     Code = "notDue"     // its schedule has nothing at the time
	Disabled   Code = "disabled"   // the job is
	Paused     Code = "paused"     // the job is, until a later time
	NotCreated Code = "notCreated" // it was not there yet
	Ended      Code = "ended"      // its schedule has ended, or will have ended by that time
	Edited     Code = "edited"     // it had another schedule then, which is not known any more
	Unknown    Code = "unknown"    // the records of that time are not kept any more
	Unrecorded Code = "unrecorded" // it was due, and nothing is known of it
	Deleted    Code = "deleted"    // the job was
	NoJob      Code = "noJob"      // no job has that name, or had it as far as is known
	Damaged    Code = "damaged"    // the stored job cannot be read
)

// local is an instant on the job's clock (RFC 3339).
func (q *Question) local(t time.Time) string { return t.In(q.Zone).Format(time.RFC3339Nano) }

// say is an instant for people: on the job's clock and, where that differs, in UTC.
func (q *Question) say(t time.Time) string {
	const utc = "2006-01-02T15:04:05.999Z"
	if _, offset := t.In(q.Zone).Zone(); offset == 0 {
		return t.UTC().Format(utc)
	}
	return t.In(q.Zone).Format("2006-01-02 15:04:05.999 MST") + " (" + t.UTC().Format(utc) + ")"
}

// span is a length of time for people.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// by says who did it, if that is known.
func by(c Change) string {
	if c.By == "" {
		return ""
	}
	return " by " + c.By
}

// count says how many there are.
func count(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
