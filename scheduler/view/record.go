package view

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// recordProperties are what [Record] shows of a record.
type recordProperties struct {
	Started    time.Time `json:"startTime,omitzero"`
	Ended      time.Time `json:"endTime,omitzero"`
	Nominal    time.Time `json:"expectedExecutionTime,omitzero"`
	Action     string    `json:"actionName"`
	Status     string    `json:"status,omitempty"`
	Message    string    `json:"message,omitempty"`
	Retry      int       `json:"retryCount"`
	Repeat     int       `json:"repeatCount"`
	Occurrence string    `json:"occurrence,omitempty"`
	Attempt    string    `json:"attemptId,omitempty"`
	Due        time.Time `json:"dueTime,omitzero"`
	Lateness   *seconds  `json:"lateness,omitempty"`
	Duration   *seconds  `json:"duration,omitempty"`
	ActionType string    `json:"actionType,omitempty"`
	ActionPath string    `json:"actionPath,omitempty"`
	Target     string    `json:"target,omitempty"`
	StatusCode int       `json:"statusCode,omitempty"`
	Final      bool      `json:"final,omitempty"`
	RetryAfter seconds   `json:"retryAfter,omitzero"`
	Response   string    `json:"response,omitempty"`
	Manual     bool      `json:"manual,omitempty"`
	Resubmits  string    `json:"resubmits,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	From       time.Time `json:"from,omitzero"`
	To         time.Time `json:"to,omitzero"`
	Count      int       `json:"count,omitempty"`
	GivenUp    time.Time `json:"faultedTime,omitzero"`
}

// Record returns a record in the form of Azure Scheduler's history (its REST API,
// "List Job History"):
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
//	actionPath  which of several errorActions it was: action.errorAction[1]
//	target      what the action loads: host and port
//	statusCode  the target's, HTTP's or its nearest equivalent
//	final       true when the attempt failed and no retry could help
//	retryAfter  seconds for which the target asked to be left alone, a number
//	response    excerpt of the target's answer
//	manual      true for a run by hand
//	resubmits   the occurrence that it repeats
//	reason      why instants were skipped: overlap, postponed, catchUp, disabled, dst
//	from, to    the first and the last of the skipped or postponed instants
//	count       how many there were
//	faultedTime when the occurrence was given up, its errorAction included; all
//	            else of a faulted record is of the main action's last attempt
//
// An id is equal wherever the record is shown, and ids of later records sort
// first.
func Record(r *scheduler.Record) any {
	id := RecordID(r)
	p := recordProperties{
		Started: r.Started.UTC(), Ended: r.Ended.UTC(), Nominal: r.Nominal.UTC(), Due: r.Due.UTC(), From: r.From.UTC(), To: r.To.UTC(),
		Action: "MainAction", Status: status(r.Outcome), Message: r.Message, Retry: r.Attempt, Repeat: r.Progress.Number,
		Occurrence: r.Occurrence, Attempt: r.ID, ActionType: r.Type, ActionPath: r.Path, Target: r.Target,
		StatusCode: r.Status, Final: r.Final,
		RetryAfter: seconds(max(0, r.RetryAfter)), Response: r.Response, Manual: r.Kind.IsManual(),
		Reason: string(r.Reason), Count: r.Count, GivenUp: r.GivenUp.UTC(),
	}
	if r.Resubmits != nil {
		p.Resubmits = scheduler.OccurrenceID(r.Job, r.Resubmits.Nominal)
	}
	if r.Phase == scheduler.ErrorPhase {
		p.Action = "ErrorAction"
	}
	if !r.Started.IsZero() {
		lateness, duration := seconds(r.Lateness()), seconds(r.Duration)
		p.Lateness, p.Duration = &lateness, &duration
	}
	return resource{jobID(r.Job) + "/history/" + id, recordType, r.Job.String() + "/" + id, p}
}

// seconds is a length of time as a JSON number, exact to the nanosecond.
type seconds time.Duration

// MarshalJSON returns the number.
func (s seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', -1, 64), nil
}

// status is an outcome as Azure Scheduler spells it.
func status(o scheduler.Outcome) string {
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

// RecordID identifies a record within its job's history: the ticks left until
// year 9999, as on the recorded service, and a hash that tells records of one
// tick apart. It is made of what the record says, not of where it is stored,
// so that a live tail and a page of the history agree.
func RecordID(r *scheduler.Record) string {
	at := cmp.Or(r.GivenUp, r.Started, r.Ended)
	ticks := unixTicks + at.Unix()*10_000_000 + int64(at.Nanosecond()/100)
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %s %s", r.Outcome, r.ID, r.Occurrence)
	if r.Reason == scheduler.ReasonDST { // it has neither
		_, _ = fmt.Fprintf(h, "%s %d", r.Reason, r.Nominal.Unix())
	}
	return fmt.Sprintf("%020d:%020d", maxTicks-ticks, h.Sum64()&math.MaxInt64)
}
