package view

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// Record returns a record in the form of Azure Scheduler's history (its REST API,
// "List Job History"):
//
//	{"id", "type", "name", "properties": {
//	   "version": 2, "startTime", "endTime", "expectedExecutionTime",
//	   "actionName": "MainAction" | "ErrorAction",
//	   "status": "Completed" | "Failed" | "Faulted" | "Postponed" | "Skipped",
//	   "message", "retryCount", "repeatCount", …}}
//
// and what Carillon adds to these: [scheduler.RecordForm] has all of it. The name is
// that of the job, and the end of the id. sequence is the place of the record
// among those of all jobs, in whose order they were stored.
//
// An id is equal wherever the record is shown, and ids of later records sort
// first.
func Record(r *scheduler.Record) any {
	id, properties := RecordID(r), RecordProperties{scheduler.RecordVersion, r.Form(), r.Sequence}
	properties.RetryAfter = max(0, properties.RetryAfter)
	return resource{jobID(r.Job) + "/history/" + id, recordType, r.Job.String() + "/" + id, properties}
}

// RecordProperties are what is shown of a record, and where it is in the history.
type RecordProperties struct {
	Version int `json:"version"`

	scheduler.RecordForm //nolint:embeddedstructfieldcheck // the version is the first member, as it is stored

	Sequence uint64 `json:"sequence,omitempty"` // 0: it was not read from the history
}

// Answer is in one line what became of an attempt: the status, what it means, and the target's answer.
func Answer(r *scheduler.Record) string {
	text := r.Short()
	if status := strconv.Itoa(r.Status); r.Status != 0 && !strings.Contains(text, status) {
		text = status + " " + text
	}
	if response := strings.TrimSpace(r.Response); response != "" && !strings.HasSuffix(strings.TrimSpace(text), response) {
		text = strings.TrimSpace(text) + ": " + response
	}
	return strings.Join(strings.Fields(text), " ")
}

// Ending returns the last line of a live tail of which nothing more can come:
//
//	{"end": {"code": "ResourceNotFound", "message": "job default/report: not found: it was deleted"}}
func Ending(why error) End {
	d := DescribeError(why)
	return End{EndCause{d.Code, d.Message}}
}

// End says that nothing more can come, and why.
type End struct {
	Cause EndCause `json:"end"`
}

// EndCause is an error without its details.
type EndCause struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// HistoryGap says of a live tail that was to go on after a sequence what it may have missed, nil when that is nothing:
//
//	{"after": 5, "first": 100, "last": 200, "message": "what was recorded after 5 and before 100 is not kept any more"}
//
// Nil or 0 after a sequence has missed nothing: it asked for what is kept.
func HistoryGap(after *uint64, first, last uint64) *Gap {
	var why string
	switch {
	case after == nil || *after == 0:
		return nil
	case *after > last:
		why = fmt.Sprintf("the last record is %d: %d is of a history that was lost, and the tail goes on from now", last, *after)
	case *after+1 < first:
		why = fmt.Sprintf("what was recorded after %d and before %d is not kept any more", *after, first)
	default:
		return nil
	}
	return &Gap{*after, first, last, why}
}

// Gap is a part of a history that a live tail may have missed.
type Gap struct {
	After   uint64 `json:"after"` // what was asked for
	First   uint64 `json:"first"` // the first record that is kept
	Last    uint64 `json:"last"`  // the last one there is
	Message string `json:"message"`
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
	if r.ID == "" && r.Occurrence == "" { // a change of the clock, say
		_, _ = fmt.Fprintf(h, "%s %d", r.Reason, r.Nominal.Unix())
	}
	return fmt.Sprintf("%020d:%020d", maxTicks-ticks, h.Sum64()&math.MaxInt64)
}
