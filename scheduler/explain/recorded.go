package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// recorded answers from the history. It returns false if the history has no record of the time.
func (q *Question) recorded(a *Answer) bool {
	attempt, near := q.attempted()
	left := q.LeftOut()
	switch {
	case attempt != nil && near >= nominal, attempt != nil && left == nil:
		q.occurrence(a, attempt.Occurrence)
	case left != nil:
		q.omitted(a, left)
	default:
		return false
	}
	return true
}

// nearness is how near a recorded attempt is to the time that is asked about.
type nearness int

// The nearnesses, the nearer the higher.
const (
	during  nearness = iota + 1 // it was under way then
	due                         // it was due then, by its jitter or as a retry
	byHand                      // a manual run was requested
	nominal                     // the schedule has its occurrence then
)

// attempted returns the record of an attempt that is nearest to the time.
func (q *Question) attempted() (found *scheduler.Record, best nearness) {
	for _, r := range q.own() {
		if r.Occurrence == "" || !r.IsAttempt() && r.Outcome != scheduler.OutcomeFaulted {
			continue
		}
		if near := q.nearnessOf(r); near > 0 && near >= best {
			found, best = r, near
		}
	}
	return found, best
}

func (q *Question) nearnessOf(r *scheduler.Record) nearness {
	switch {
	case q.has(r.Nominal) && !r.Kind.IsManual():
		return nominal
	case q.has(r.Nominal):
		return byHand
	case q.has(r.Due):
		return due
	case !r.Started.IsZero() && r.Started.Before(q.end()) && !r.Ended.Before(q.At) && !q.queued():
		return during
	}
	return 0
}

// queued reports whether the occurrence at the time waits for an earlier one.
func (q *Question) queued() bool {
	j, b := q.Job, q.Baton
	return j != nil && j.Def != nil && j.Def.Overlap == scheduler.OverlapQueue && b != nil && !b.Nominal.After(q.At) && q.isDue(j)
}

// LeftOut returns the record of skipped or postponed instants that include the time, or nil.
func (q *Question) LeftOut() *scheduler.Record {
	var found *scheduler.Record
	for _, r := range q.own() {
		if r.IsAttempt() || r.Outcome != scheduler.OutcomeSkipped && r.Outcome != scheduler.OutcomePostponed {
			continue
		}
		if q.has(r.From) || q.has(r.To) || q.within(r) {
			found = r
		}
	}
	return found
}

// within reports whether one of the instants between the first and the last of a
// record is at the time. Where the schedule of then is not known, it may be.
func (q *Question) within(r *scheduler.Record) bool {
	if r.Count <= 2 || !r.From.Before(q.At) || r.To.Before(q.end()) {
		return false
	}
	j := q.jobOf(r.Schedule)
	return j == nil || j.Plan == nil || j.Plan.Moves() || j.Plan.Count(q.At, q.end().Add(-1)) > 0
}

// occurrence answers with all that is recorded of an occurrence.
func (q *Question) occurrence(a *Answer, id string) {
	var of []*scheduler.Record
	for _, r := range q.own() {
		if r.Occurrence == id {
			of = append(of, r)
		}
	}
	addRecords(a, of)
	ran := slices.DeleteFunc(slices.Clone(of), func(r *scheduler.Record) bool {
		return r.Outcome != scheduler.OutcomeCompleted && r.Outcome != scheduler.OutcomeFailed
	})
	a.Attempts = len(ran)
	if len(ran) == 0 {
		q.unstarted(a, of[len(of)-1])
		return
	}
	a.Lateness = scheduler.Seconds(ran[0].Lateness())
	q.began(a, of, ran)
	if ran[0].Kind.IsManual() {
		a.Notes = append(a.Notes, "it is a manual run, not an occurrence of the schedule")
	}
	if d := a.Lateness; d > lateAfter {
		a.Notes = append(a.Notes, "its first attempt started "+span(time.Duration(d))+" after it was due")
	}
}

// lateAfter is how late an attempt must be for it to be worth a note.
const lateAfter = scheduler.Seconds(time.Second)

// addRecords adds the records of an occurrence to the answer.
func addRecords(a *Answer, of []*scheduler.Record) {
	first := of[0]
	a.Occurrence, a.Nominal = first.Occurrence, first.Nominal.UTC()
	a.addCause(first.Cause)
	for _, r := range of {
		a.Records = append(a.Records, r.Form())
	}
}

// addCause names the events that started a run; nil: none did.
func (a *Answer) addCause(c *scheduler.Cause) {
	if c != nil {
		a.Notes = append(a.Notes, "started by "+c.Describe())
	}
}

// began handles an occurrence with attempts.
func (q *Question) began(a *Answer, of, ran []*scheduler.Record) {
	last := ran[len(ran)-1]
	tries := count(len(ran), "attempt", "attempts")
	p := q.placeOf(last)
	b := p.Baton
	faulted := slices.IndexFunc(of, func(r *scheduler.Record) bool { return r.Outcome == scheduler.OutcomeFaulted })
	succeeded := slices.ContainsFunc(ran, func(r *scheduler.Record) bool {
		return r.Outcome == scheduler.OutcomeCompleted && r.Phase == scheduler.MainPhase
	})
	switch {
	case succeeded:
		first := ran[0]
		after := ""
		if d := first.Due.Sub(first.Nominal); d > 0 && first.Attempt == 0 {
			after = fmt.Sprintf("delayed by %s (jitter or a pause), and ", span(d))
		}
		a.set(Ran, fmt.Sprintf("it ran: %s, started at %s, %s%s late; %s",
			tries, q.say(first.Started), after, span(first.Lateness()), result(last)), "")
	case faulted >= 0 && of[faulted].Reason == scheduler.ReasonCanceled:
		a.Reason = scheduler.ReasonCanceled
		a.set(Failed, "it did not succeed: after "+tries+q.handled(ran)+", it was "+of[faulted].Message, failedHint(q.Key, a.Occurrence))
	case faulted >= 0:
		a.set(Failed, "it ran and faulted, after "+tries+q.handled(ran)+": "+result(lastOfMain(ran)),
			failedHint(q.Key, a.Occurrence))
	case b != nil && p.Running && !b.MayRun().After(q.Now):
		a.set(Running, tries+" failed, and the next one is active: "+result(last), "")
	case b != nil:
		a.Due = b.MayRun().UTC()
		a.set(Retrying, tries+" failed, and the next one is due at "+q.say(b.MayRun())+": "+result(last), "")
	default:
		a.set(Failed, "it ran and failed, after "+tries+"; the outcome is not recorded yet: "+result(last), "")
	}
}

// placeOf returns where the baton of an occurrence is that has a record; one without a baton when it is done with.
func (q *Question) placeOf(r *scheduler.Record) Place {
	for _, p := range append([]Place{q.Place}, q.Detached...) {
		if p.Baton != nil && p.Baton.Nominal.Equal(r.Nominal) && p.Baton.Kind.IsDetached() == r.Kind.IsDetached() {
			return p
		}
	}
	return Place{}
}

// handled says what became of the errorActions.
func (*Question) handled(ran []*scheduler.Record) string {
	var words []string
	for _, r := range ran {
		if r.Phase != scheduler.ErrorPhase {
			continue
		}
		name := "its errorAction"
		if r.Path != "" {
			name = r.Path
		}
		words = append(words, name+" "+string(r.Outcome))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// lastOfMain is the last attempt of the main action, as far as there is one.
func lastOfMain(ran []*scheduler.Record) *scheduler.Record {
	for _, r := range slices.Backward(ran) {
		if r.Phase == scheduler.MainPhase {
			return r
		}
	}
	return ran[len(ran)-1]
}

func failedHint(k scheduler.Key, occurrence string) string {
	return "to rerun it: carillon resubmit " + k.String() + " " + occurrence + "; to see the last attempt in full: carillon history " +
		k.String() + " --last"
}

// result says how an attempt ended.
func result(r *scheduler.Record) string {
	text := string(r.Outcome)
	if r.Status != 0 {
		text += fmt.Sprintf(" with status %d", r.Status)
	}
	if r.Target != "" {
		text += " of " + r.Target
	}
	if !r.Started.IsZero() {
		text += " after " + span(r.Duration)
	}
	if r.Message != "" && r.Outcome != scheduler.OutcomeCompleted {
		text += ": " + r.Short()
	}
	return text
}

// unstarted handles an occurrence that was deferred, or that ended without an attempt.
func (q *Question) unstarted(a *Answer, last *scheduler.Record) {
	p := q.placeOf(last)
	b := p.Baton
	what, hint := awaited(last.Reason == scheduler.ReasonOnlyIf)
	switch {
	case last.Outcome == scheduler.OutcomeFaulted:
		a.set(Failed, "it failed, and has no more retries: "+result(last), failedHint(q.Key, a.Occurrence))
	case b != nil && !b.MayRun().After(q.Now) && p.Running:
		a.set(Waits, "it waits for "+what+", with a worker: "+last.Message, hint)
	case b != nil:
		a.Due = b.MayRun().UTC()
		a.set(Waits, "it waits for "+what+", until "+q.say(b.MayRun())+": "+last.Message, hint)
	default:
		a.set(Waits, "it was postponed for "+what+", and the outcome is not recorded: "+last.Message, hint)
	}
}

// omitted answers with a record of instants that were skipped or postponed.
func (q *Question) omitted(a *Answer, r *scheduler.Record) {
	addRecords(a, []*scheduler.Record{r})
	of := "it was"
	if r.Count > 1 {
		a.Occurrence, a.Nominal = "", time.Time{}
		of = fmt.Sprintf("it was one of %d from %s to %s that were", r.Count, q.say(r.From), q.say(r.To))
		if q.jobOf(r.Schedule) == nil {
			a.Notes = append(a.Notes, "the schedule has changed since: whether one of these was due at that time is unknown")
		}
	}
	if r.Outcome == scheduler.OutcomePostponed {
		a.set(Postponed, of+" postponed: "+r.Message+q.blamed(a, CollectionDisabled, r),
			"to run jobs that are due from then on: carillon collection enable "+q.Key.Collection)
		return
	}
	why, hint := reasonOf(r.Reason)
	a.Reason = r.Reason
	text := of + " skipped because " + why
	if r.Message != "" {
		text += ": " + r.Message
	}
	if r.Reason == scheduler.ReasonDisabled {
		text += q.blamed(a, JobDisabled, r)
	}
	if r.Reason == scheduler.ReasonPaused {
		text += q.blamed(a, JobPaused, r)
	}
	a.set(Skipped, text, hint)
}

// blamed names, in brackets, the time and the author of the change that made the record's instants be skipped.
func (q *Question) blamed(a *Answer, what ChangeKind, r *scheduler.Record) string {
	c, ok := q.blame(a, what, r.From.Add(1))
	if !ok {
		return ""
	}
	return " (at " + q.say(c.At) + by(c) + ")"
}

const onlyIfHint = "the job's onlyIf names the job that it depends on; carillon run ignores the condition"

// reasonOf is a reason in words, and what to change for it not to be one.
func reasonOf(r scheduler.Reason) (why, hint string) {
	switch r {
	case scheduler.ReasonOverlap:
		return "an earlier occurrence was still active, including its retries",
			`"overlap": "allow" runs them concurrently, "queue" one after the other; a shorter "timeout", or fewer retries, ends ` +
				`the earlier one sooner`
	case scheduler.ReasonPostponed:
		return "an earlier occurrence was still waiting for its target", targetHint
	case scheduler.ReasonCatchUp:
		return "no scheduler ran it in time, and it was too late to catch up",
			`"catchUp": {"policy": "all", "window": "PT6H"} catches up more; see the reference page jobs`
	case scheduler.ReasonDisabled:
		return "the job was disabled", "a job does not catch up on due times while it is disabled"
	case scheduler.ReasonPaused:
		return "the job was paused", "a job does not catch up on due times while it is paused"
	case scheduler.ReasonCanceled:
		return "it was canceled before it started", ""
	case scheduler.ReasonDST:
		return "the clock skipped its time", `"dst": {"gap": "next"} runs it at the first instant after such a gap`
	case scheduler.ReasonTrigger:
		return "its trigger started no run", `test expressions with "carillon try"; see the reference page jobs`
	case scheduler.ReasonOnlyIf:
		return "its condition did not hold", onlyIfHint
	case scheduler.ReasonCostly:
		return "the next run is too expensive to compute", "simplify its schedule"
	}
	return string(r), ""
}
