package scheduler

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Document returns the record in the form of Azure Scheduler's history
// (reference, "History JSON"), as every door shows it:
//
//	{"id", "type", "name", "properties": {
//	   "startTime", "endTime", "expectedExecutionTime",
//	   "actionName": "MainAction" | "ErrorAction",
//	   "status": "Completed" | "Failed" | "Faulted" | "Postponed" | "Skipped",
//	   "message", "retryCount", "repeatCount", …}}
//
// startTime is there for attempts only, expectedExecutionTime is the nominal
// time. repeatCount is the number of the occurrence, from 1. Carillon adds:
//
//	occurrence  its id; the outgoing idempotency key
//	attemptId   the id of the attempt
//	dueTime     when the attempt was planned for: nominal plus jitter, or a retry's time
//	lateness    seconds from dueTime to startTime, a number
//	duration    seconds from startTime to the end of the attempt, a number
//	actionType  as in the job: Http, StorageQueue, …
//	target      what the action loads: host and port
//	statusCode  the target's, HTTP's or its nearest equivalent
//	final       true when the attempt failed and no retry could help
//	retryAfter  seconds for which the target asked to be left alone, a number
//	response    excerpt of the target's answer
//	manual      true for a run by hand
//	reason      why instants were skipped: overlap, postponed, catchUp, disabled, dst
//	from, to    the first and the last of the skipped or postponed instants
//	count       how many there were
//
// An id is equal wherever the record is shown, and ids of later records sort
// first.
func (r *Record) Document() document.Value {
	id := r.entryID()
	return document.ObjectValue(
		member("id", "/jobCollections/"+r.Job.Collection+"/jobs/"+r.Job.Job+"/history/"+id),
		member("type", "Microsoft.Scheduler/jobCollections/jobs/history"),
		member("name", r.Job.String()+"/"+id),
		document.Member{Name: "properties", Value: document.ObjectValue(r.properties()...)},
	)
}

func (r *Record) properties() []document.Member {
	e := entry{}
	e.time("startTime", r.Started)
	e.time("endTime", r.Ended)
	e.time("expectedExecutionTime", r.Nominal)
	e.text("actionName", r.actionName())
	e.text("status", r.Outcome.status())
	e.text("message", r.Message)
	e.add(number("retryCount", r.Attempt), number("repeatCount", r.Progress.Number))
	e.text("occurrence", r.Occurrence)
	e.text("attemptId", r.ID)
	e.time("dueTime", r.Due)
	if !r.Started.IsZero() {
		e.add(seconds("lateness", r.Lateness()), seconds("duration", r.Duration))
	}
	e.text("actionType", r.Type)
	e.text("target", r.Target)
	e.number("statusCode", r.Status)
	if r.Final {
		e.add(document.Member{Name: "final", Value: document.BoolValue(true)})
	}
	if r.RetryAfter > 0 {
		e.add(seconds("retryAfter", r.RetryAfter))
	}
	e.text("response", r.Response)
	if r.Manual {
		e.add(document.Member{Name: "manual", Value: document.BoolValue(true)})
	}
	e.text("reason", string(r.Reason))
	e.time("from", r.From)
	e.time("to", r.To)
	e.number("count", r.Count)
	return e.members
}

func (r *Record) actionName() string {
	if r.Phase == ErrorPhase {
		return "ErrorAction"
	}
	return "MainAction"
}

// status is the outcome as Azure Scheduler spells it.
func (o Outcome) status() string {
	if o == "" {
		return ""
	}
	return string(o[0]-'a'+'A') + string(o[1:])
}

// maxTicks is the last tick of year 9999: 100 ns units since year 1, the
// clock that Azure's ids are made of.
const maxTicks = 3155378975999999999

// unixTicks is the tick at which Unix time begins.
const unixTicks = 621355968000000000

// entryID identifies a record within its job's history: the ticks left until
// year 9999, as on the recorded service, and a hash that tells records of one
// tick apart. It is made of what the record says, not of where it is stored,
// so that a live tail and a page of the history agree.
func (r *Record) entryID() string {
	at := r.Started
	if at.IsZero() {
		at = r.Ended
	}
	ticks := unixTicks + at.Unix()*10_000_000 + int64(at.Nanosecond()/100)
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %s %s", r.Outcome, r.ID, r.Occurrence)
	if r.Reason == ReasonDST { // it has neither
		_, _ = fmt.Fprintf(h, "%s %d", r.Reason, r.Nominal.Unix())
	}
	return fmt.Sprintf("%020d:%020d", maxTicks-ticks, h.Sum64()&math.MaxInt64)
}

// entry collects the members that have a value.
type entry struct{ members []document.Member }

func (e *entry) add(m ...document.Member) { e.members = append(e.members, m...) }

func (e *entry) text(name, text string) {
	if text != "" {
		e.add(member(name, text))
	}
}

func (e *entry) time(name string, t time.Time) {
	if !t.IsZero() {
		e.add(member(name, t.UTC().Format(time.RFC3339Nano)))
	}
}

func (e *entry) number(name string, n int) {
	if n != 0 {
		e.add(number(name, n))
	}
}

// seconds is a length of time as a JSON number, exact to the nanosecond.
func seconds(name string, d time.Duration) document.Member {
	text := strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	return document.Member{Name: name, Value: document.NumberValue(text)}
}
