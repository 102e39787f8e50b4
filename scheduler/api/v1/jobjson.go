package v1

import (
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// MarshalJSON returns the job's document: its properties, state, active pause and status. The answer to an edit also
// has its result and warnings.
func (v *Job) MarshalJSON() ([]byte, error) { return v.appendJSON(make([]byte, 0, usualSize)), nil }

// usualSize is an upper bound of the size of most job documents, in bytes.
const usualSize = 1024

// appendJSON appends the job's document without reflection, because every put and read of a job returns one.
func (v *Job) appendJSON(b []byte) []byte {
	k := v.Job.Key
	b = appendText(append(b, `{"id":`...), jobID(k))
	b = appendText(append(b, `,"type":`...), jobType)
	b = appendText(append(b, `,"name":`...), k.String())
	if etag := v.ETag(); etag != "" {
		b = appendText(append(b, `,"etag":`...), etag)
	}
	b = append(b, `,"properties":`...)
	if own := v.Job.Def.Document(); own.Kind() == document.KindObject {
		b = own.AppendJSON(b)
		b = b[:len(b)-1] // without the closing bracket
	} else { // of a damaged job
		b = append(b, '{')
	}
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = appendText(append(b, `"state":`...), string(v.Job.State))
	if v.Job.State != scheduler.Damaged && v.Job.PausedAt(v.now) { // an expired pause has no effect
		b = appendTime(b, `,"pausedUntil":"`, v.Job.PausedUntil)
	}
	b = append(v.appendStatus(append(b, `,"status":`...)), '}')
	if v.Result != "" {
		b = appendText(append(b, `,"result":`...), string(v.Result))
	}
	if len(v.Warnings) > 0 {
		b = append(append(b, `,"warnings":`...), JSON(v.Warnings)...)
	}
	if v.DryRun != nil {
		b = append(append(b, `,"dryRun":`...), JSON(v.DryRun)...)
	}
	return append(b, '}')
}

// appendStatus appends [Status] and the paths of the definition's secrets, which no answer shows.
func (v *Job) appendStatus(b []byte) []byte {
	s := &v.Status
	schedule := s.Schedule
	if v.Job.Plan != nil {
		schedule = v.Job.Schedule()
	}
	b = appendText(append(b, `{"schedule":`...), schedule)
	b = strconv.AppendInt(append(b, `,"occurrenceCount":`...), int64(s.Occurrences), 10)
	b = strconv.AppendInt(append(b, `,"executionCount":`...), int64(s.Executions), 10)
	b = strconv.AppendInt(append(b, `,"failureCount":`...), int64(s.Failures), 10)
	if s.Errors != 0 {
		b = strconv.AppendInt(append(b, `,"errorActionCount":`...), int64(s.Errors), 10)
	}
	if s.ErrorFails != 0 {
		b = strconv.AppendInt(append(b, `,"errorActionFailureCount":`...), int64(s.ErrorFails), 10)
	}
	b = strconv.AppendInt(append(b, `,"faultedCount":`...), int64(s.Faults), 10)
	b = appendTime(b, `,"lastExecutionTime":"`, s.Last)
	b = appendTime(b, `,"nextExecutionTime":"`, s.Next)
	if s.Running {
		b = append(b, `,"running":true`...)
	}
	if s.Retry != 0 {
		b = strconv.AppendInt(append(b, `,"retryCount":`...), int64(s.Retry), 10)
	}
	if s.WaitsFor != "" {
		b = appendText(append(b, `,"waitsFor":`...), s.WaitsFor)
	}
	if s.Message != "" {
		b = appendText(append(b, `,"message":`...), s.Message)
	}
	if paths := secretPaths(v.Job.Def); len(paths) > 0 {
		begin := `,"secrets":[`
		for _, path := range paths {
			b = appendText(append(b, begin...), path)
			begin = `,`
		}
		b = append(b, ']')
	}
	if inherited := v.Job.Def.Inherited; inherited.Kind() == document.KindObject {
		b = inherited.AppendJSON(append(b, `,"inherited":`...))
	}
	return append(b, '}')
}

func appendText(b []byte, text string) []byte { return document.StringValue(text).AppendJSON(b) }

// appendTime appends a field with an instant, unless it is zero.
func appendTime(b []byte, begin string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b, err := t.AppendText(append(b, begin...))
	if err != nil {
		panic("view: " + err.Error()) // a defect: the year is out of range
	}
	return append(b, '"')
}
