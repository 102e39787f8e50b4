package v1

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// Record returns a record in the form of Azure Scheduler's history (its REST API, "List Job History"):
//
//	{"id", "type", "name", "properties": {
//	   "version": 2, "startTime", "endTime", "expectedExecutionTime",
//	   "actionName": "MainAction" | "ErrorAction",
//	   "status": "Completed" | "Failed" | "Faulted" | "Postponed" | "Skipped",
//	   "message", "retryCount", "repeatCount", …}}
//
// with Carillon's own fields in addition; [scheduler.RecordForm] has all of them. The name consists of the job's name
// and the end of the id. sequence is the position of the record in the history of all jobs, in the order of storage.
//
// A record has the same id in every view. Ids of later records sort first.
func Record(r *scheduler.Record) any {
	id, properties := RecordID(r), RecordProperties{scheduler.RecordVersion, r.Form(), r.Sequence}
	properties.RetryAfter = max(0, properties.RetryAfter)
	return resource{jobID(r.Job) + "/history/" + id, recordType, r.Job.String() + "/" + id, properties}
}

// RecordProperties are the fields of a record and its position in the history.
type RecordProperties struct {
	Version int `json:"version"`

	scheduler.RecordForm //nolint:embeddedstructfieldcheck // the version is the first field, as it is stored

	Sequence uint64 `json:"sequence,omitempty"` // 0: not read from the history
}

// Answer summarizes an attempt in one line: the status, its meaning, and the target's answer.
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

// End marks the end of a live tail, with its cause.
type End struct {
	Cause EndCause `json:"end"`
}

// NewEnd returns the last line of a live tail that has ended:
//
//	{"end": {"code": "ResourceNotFound", "message": "job default/report: not found: it was deleted"}}
func NewEnd(why error) End {
	d := DescribeError(why)
	return End{EndCause{d.Code, d.Message}}
}

// EndCause is an error without its details.
type EndCause struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// HistoryGap returns the records that a live tail resumed after a sequence may have missed, nil for none:
//
//	{"after": 5, "first": 100, "last": 200, "message": "what was recorded after 5 and before 100 is not kept any more"}
//
// A tail with after nil or 0 misses no records: it requested only retained ones.
func HistoryGap(after *uint64, first, last uint64) *Gap {
	var why string
	switch {
	case after == nil || *after == 0:
		return nil
	case *after > last:
		why = fmt.Sprintf("the last record is %d: %d is of a history that was lost, and the tail continues from now", last, *after)
	case *after+1 < first:
		why = fmt.Sprintf("what was recorded after %d and before %d is not kept any more", *after, first)
	default:
		return nil
	}
	return &Gap{*after, first, last, why}
}

// Gap is a part of a history that a live tail may have missed.
type Gap struct {
	After   uint64 `json:"after"` // the requested position
	First   uint64 `json:"first"` // the first retained record
	Last    uint64 `json:"last"`  // the last record
	Message string `json:"message"`
}

// maxTicks is the last tick of the year 9999, in units of 100 ns since year 1. Azure derives its ids from this clock.
const maxTicks = 3155378975999999999

// unixTicks is the tick of the Unix epoch.
const unixTicks = 621355968000000000

// RecordID identifies a record within its job's history: the ticks left until the year 9999, as in Azure's recorded
// answers, and a hash that distinguishes records of the same tick. It depends on the content of the record and not on
// its position, so that live tails and pages of the history agree.
func RecordID(r *scheduler.Record) string {
	at := cmp.Or(r.FaultedAt, r.Started, r.Ended)
	ticks := unixTicks + at.Unix()*10_000_000 + int64(at.Nanosecond()/100)
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %s %s", r.Outcome, r.ID, r.Occurrence)
	if r.ID == "" && r.Occurrence == "" { // for example a record of a DST gap
		_, _ = fmt.Fprintf(h, "%s %d", r.Reason, r.Nominal.Unix())
	}
	return fmt.Sprintf("%020d:%020d", maxTicks-ticks, h.Sum64()&math.MaxInt64)
}
