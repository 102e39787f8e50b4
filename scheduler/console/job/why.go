package job

import (
	"errors"
	"net/url"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/view"
	"github.com/carillon-sched/carillon/scheduler/why"
)

// asked is an explanation of a run, with its question.
type asked struct {
	name

	At     string
	Link   string // to this answer
	Answer *why.Answer
	State  string // name of its mark
	zone   *time.Location
	Run    string // the instant of the explained run; "": none
	Wrong  *frame.Problem
}

// showWhy explains why the job ran at a time, or did not: a page, or the answer alone. It supports deleted jobs.
func (r room) showWhy(c *frame.Call) error {
	k := key(c)
	a := &asked{name: nameOf(c, k), At: c.Query("at")}
	a.Link = a.Path + "/why?at=" + url.QueryEscape(a.At)
	answer, err := r.service.Why(c.Context(), k, a.At)
	switch {
	case errors.Is(err, scheduler.ErrInvalid):
		p := c.Describe(err)
		a.Wrong = &p
	case err != nil:
		return err
	default:
		a.zone = time.UTC
		if zone, err := time.LoadLocation(answer.TimeZone); err == nil && answer.TimeZone != "Local" {
			a.zone = zone
		}
		a.Answer, a.State, a.Run = answer, stateOf(answer.Code), instantOf(answer.Occurrence)
		if answer.Attempts == 0 {
			a.Run = ""
		}
	}
	if c.Part() {
		return c.Show(&frame.Page{Template: page, Part: "job-answer", Data: a})
	}
	return c.Show(shown(c.Say("job.why")+" · "+k.Job, "why", a))
}

// stateOf returns the mark of an answer.
func stateOf(code why.Code) string {
	switch code {
	case why.Ran:
		return "completed"
	case why.Failed:
		return "faulted"
	case why.Running:
		return "running"
	case why.Retrying, why.Waits, why.Overdue:
		return "retrying"
	case why.Skipped, why.Unrecorded:
		return "skipped"
	case why.Postponed:
		return "postponed"
	case why.Paused:
		return string(view.Paused)
	case why.Planned:
		return "waiting"
	case why.Damaged:
		return "damaged"
	case why.NotDue:
		return "idle"
	case why.Disabled:
		return "disabled"
	case why.NotCreated, why.Ended, why.Edited, why.Unknown, why.Deleted, why.NoJob:
	}
	return "none"
}

// Clock formats a time on the job's clock.
func (a *asked) Clock(t time.Time) string { return t.In(a.zone).Format(clockForm + " MST") }
