package scheduler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// traced is the trace of an occurrence after its first attempt.
var traced = &scheduler.BatonTrace{TraceContext: scheduler.TraceContext{
	Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", State: "vendor=a,other=b",
}, First: "00f067aa0ba902b7"}

// storedTrace is its stored form in a baton and in a record.
const storedTrace = `"trace":{"parent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",` +
	`"state":"vendor=a,other=b","first":"00f067aa0ba902b7"},`

// TestStoredTrace checks the stored form of traces, and that batons and records without a trace are unchanged.
func TestStoredTrace(t *testing.T) {
	b, plain := fullest, fullest
	b.Trace = traced
	if got, want := strings.Replace(string(b.Encode()), storedTrace, "", 1), string(plain.Encode()); got != want {
		t.Errorf("stored with a trace as\n%s\nand without as\n%s", b.Encode(), want)
	}
	if got, err := scheduler.DecodeBaton(b.Encode()); err != nil || !cmp.Equal(got, b) || !scheduler.ReadsBaton(b.Encode()) {
		t.Errorf("read as %+v, %v", got, err)
	}
	r, untraced := whole, whole
	r.Trace = traced
	data := must.Get(r.Encode())(t)
	without, err := untraced.Encode()
	id := `,"traceId":"` + traced.ID() + `"`
	if got := strings.Replace(strings.Replace(string(data), storedTrace, "", 1), id, "", 1); err != nil || got != string(without) {
		t.Errorf("stored with a trace as\n%s\nand without as\n%s, %v", data, without, err)
	}
	if got, err := scheduler.DecodeRecord(data); err != nil || !cmp.Equal(got.Trace, traced) || !scheduler.ReadsRecord(data) {
		t.Errorf("read as %+v, %v", got, err)
	}
}

// TestTraceOfWhatFollows checks that a retry belongs to the trace of its occurrence, also after recovery from a record,
// and that the next occurrence has none.
func TestTraceOfWhatFollows(t *testing.T) {
	j := job(t, minutely)
	b := baton(j, "09:00:00")
	b.Trace = traced
	failed := scheduler.Result{Failed: true, Status: 503}
	record, begun := scheduler.AttemptRecord(j, b, at("09:00:00"), failed)
	retry := scheduler.After(j, j, begun, failed, at("09:00:01")).Step.Next
	if retry == nil || !retry.Begun() || retry.Trace != traced {
		t.Errorf("a retry: %+v", retry)
	}
	search := scheduler.NewAttemptSearch(key, b)
	search.Visit(record)
	recovered := scheduler.Recover(j, j, search, at("09:00:01")).Step.Next
	if recovered == nil || !recovered.Begun() || recovered.Trace != traced {
		t.Errorf("a retry that was recovered: %+v", recovered)
	}
	record, begun = scheduler.AttemptRecord(j, b, at("09:00:00"), scheduler.Result{})
	next := scheduler.After(j, j, begun, scheduler.Result{}, at("09:00:01")).Step.Next
	if record.Trace != traced || next == nil || next.Begun() || next.Trace != nil {
		t.Errorf("a success: recorded with %+v, and then %+v", record.Trace, next)
	}
	var none *scheduler.BatonTrace
	if traced.ID() != "0af7651916cd43dd8448eb211c80319c" || none.ID() != "" || record.Form().Trace != traced.ID() {
		t.Errorf("the ids are %q, %q, %q", traced.ID(), none.ID(), record.Form().Trace)
	}
	if none.Context() != (scheduler.TraceContext{}) || traced.Context() != traced.TraceContext {
		t.Error("the contexts are others")
	}
}
