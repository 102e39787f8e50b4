package why

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// omitted answers with a record of instants that were skipped or postponed.
func (q *Question) omitted(a *Answer, r *scheduler.Record) {
	tell(a, []*scheduler.Record{r})
	of := "it was"
	if r.Count > 1 {
		a.Occurrence, a.Nominal = "", time.Time{}
		of = fmt.Sprintf("it was one of %d from %s to %s that were", r.Count, q.say(r.From), q.say(r.To))
		if q.jobOf(r.Schedule) == nil {
			a.Notes = append(a.Notes, "the schedule was changed since: whether one of these was due at the time is not known any more")
		}
	}
	if r.Outcome == scheduler.OutcomePostponed {
		a.say(Postponed, of+" postponed: "+r.Message+q.blamed(a, Shut, r),
			"carillon collection enable "+q.Key.Collection+" lets jobs run that are due from then on")
		return
	}
	why, hint := reasonOf(r.Reason)
	a.Reason = r.Reason
	text := of + " skipped, as " + why
	if r.Message != "" {
		text += ": " + r.Message
	}
	if r.Reason == scheduler.ReasonDisabled {
		text += q.blamed(a, Turned, r)
	}
	if r.Reason == scheduler.ReasonPaused {
		text += q.blamed(a, Halted, r)
	}
	a.say(Skipped, text, hint)
}

// blamed says, in brackets, when and by whom a change was made because of which the instants of a record were left out.
func (q *Question) blamed(a *Answer, what What, r *scheduler.Record) string {
	c, ok := q.blame(a, what, r.From.Add(1))
	if !ok {
		return ""
	}
	return " (at " + q.say(c.At) + by(c) + ")"
}

// reasonOf is a reason in words, and what to change for it not to be one.
func reasonOf(r scheduler.Reason) (why, hint string) {
	switch r {
	case scheduler.ReasonOverlap:
		return "an earlier occurrence was still under way, retries included",
			`"overlap": "allow" lets them run side by side; a shorter "timeout", or fewer retries, ends the earlier one sooner`
	case scheduler.ReasonPostponed:
		return "an earlier occurrence was still waiting for its target", targetHint
	case scheduler.ReasonCatchUp:
		return "no scheduler ran it in time, and it was too late to make up for it",
			`"catchUp": {"policy": "all", "window": "PT6H"} makes up for more; see the reference page jobs`
	case scheduler.ReasonDisabled:
		return "the job was disabled", "what falls due while a job is disabled is not made up for"
	case scheduler.ReasonPaused:
		return "the job was paused", "what falls due while a job is paused is not made up for"
	case scheduler.ReasonCanceled:
		return "it was canceled before it began", ""
	case scheduler.ReasonDST:
		return "the clock jumped over its time", `"dst": {"gap": "next"} runs it at the first instant after such a gap`
	case scheduler.ReasonCostly:
		return "the next run takes too much work to find", "put the job with a simpler schedule"
	}
	return string(r), ""
}
