package scheduler_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// Stored forms of the smallest and the largest baton and record, without their kinds.
const (
	leastBaton   = `{"rev":7,"sched":1,"nominal":"2026-03-02T09:00:00Z","due":"2026-03-02T09:00:00Z"}`
	fullestBaton = `{"number":5,"runs":4,"executions":9,"failures":2,"faults":1,"last":"2026-03-02T09:00:00.25Z",` +
		`"seen":"2026-03-02T09:00:00Z","base":"2026-03-02T08:00:00Z","ran":"2026-03-02T09:00:00Z","prior":"2026-03-02T08:59:00Z",` +
		`"merged":[1,2],"repeated":[3],"uid":"01234567","rev":7,"sched":2,"nominal":"2026-03-02T09:00:00Z","due":"2026-03-02T09:00:10Z",` +
		`"attempt":1,"try":2,"phase":"error","errorAction":3,"resume":"2026-03-02T09:01:00Z","waits":true,"told":true,` +
		`"failed":{"status":500,"attempts":1,"message":"out of order","summary":"order"},"resubmits":{"nominal":"2026-03-02T08:00:00Z","previous":"2026-03-02T07:59:00Z"},"gap":"2026-03-02T08:30:00Z",` +
		`"held":"2026-03-02T09:00:20Z","postponed":"2026-03-02T09:00:11Z","unmet":true}`
	leastRecord   = `{"version":2,"status":"Skipped","endTime":"2026-03-02T09:00:11Z","actionName":"MainAction","retryCount":0,"repeatCount":0}`
	fullestRecord = `{"version":2,"startTime":"2026-03-02T09:00:10Z","endTime":"2026-03-02T09:00:11Z",` +
		`"expectedExecutionTime":"2026-03-02T09:00:00Z","actionName":"ErrorAction","status":"Failed","message":"it said: out of order","summary":"order",` +
		`"retryCount":1,"repeatCount":5,"occurrence":"default/job@2026-03-02T09:00:00Z",` +
		`"attemptId":"default/job@2026-03-02T09:00:00Z#3","dueTime":"2026-03-02T09:00:10Z","lateness":0,"duration":1,` +
		`"actionType":"Http","actionPath":"action.errorAction[3]","target":"target:80","statusCode":500,"final":true,"retryAfter":60,` +
		`"responseHeaders":"A: b\r\n","response":"out of order","resubmits":"default/job@2026-03-02T08:00:00Z","reason":"overlap",` +
		`"from":"2026-03-02T09:00:00Z","to":"2026-03-02T09:02:00Z","count":3,"faultedTime":"2026-03-02T09:00:12Z",` +
		`"uid":"01234567"}`
	fullestEngine = `{"try":3,"errorAction":3,"failed":{"status":500,"attempts":1,"message":"out of order","summary":"order"},` +
		`"resubmits":{"nominal":"2026-03-02T08:00:00Z","previous":"2026-03-02T07:59:00Z"},"revision":7,"schedule":2,` +
		`"resume":"2026-03-02T09:01:00Z","progress":{"runs":4}}`
)

// storedKinds are the stored fields of each kind.
var storedKinds = map[scheduler.Kind]string{
	scheduler.Planned: "", scheduler.Manual: `,"manual":true`, scheduler.Detached: `,"oneOff":true`,
	scheduler.ManualDetached: `,"manual":true,"oneOff":true`,
}

// with adds fields to a stored object.
func with(stored, members string) string { return strings.TrimSuffix(stored, "}") + members + "}" }

// members returns the fields of a stored object, in no order.
func members(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return m
}

var (
	again   = &scheduler.Resubmission{Nominal: at("08:00:00"), Previous: at("07:59:00")}
	failure = &scheduler.Failure{Status: 500, Attempts: 1, Message: "out of order", Summary: "order"}
	least   = scheduler.Baton{Revision: 7, Schedule: 1, Nominal: at("09:00:00"), Due: at("09:00:00")}
	fullest = scheduler.Baton{
		Progress: scheduler.Progress{
			Number: 5, Runs: 4, Executions: 9, Failures: 2, Faults: 1, Last: at("09:00:00.25"), Seen: at("09:00:00"),
			Base: at("08:00:00"), Ran: at("09:00:00"), Prior: at("08:59:00"), Merged: []int64{1, 2}, Repeated: []int64{3},
		},
		UID: incarnation, Revision: 7, Schedule: 2, Nominal: at("09:00:00"), Due: at("09:00:10"), Attempt: 1, Try: 2,
		Phase: scheduler.ErrorPhase, ErrorAction: 3, Resume: at("09:01:00"), PostponementRecorded: true, DeferralRecorded: true, Unmet: true, Failed: failure, Resubmits: again,
		Gap: at("08:30:00"), DeferredUntil: at("09:00:20"), DeferredSince: at("09:00:11"),
	}
	skipOnly = scheduler.Record{Outcome: scheduler.OutcomeSkipped, Ended: at("09:00:11")}
	whole    = scheduler.Record{
		ID: "default/job@2026-03-02T09:00:00Z#3", Occurrence: "default/job@2026-03-02T09:00:00Z", Outcome: scheduler.OutcomeFailed,
		Nominal: at("09:00:00"), Due: at("09:00:10"), Started: at("09:00:10"), Ended: at("09:00:11"), Attempt: 1, Try: 3,
		Phase: scheduler.ErrorPhase, ErrorAction: 3, Path: "action.errorAction[3]", Status: 500, Message: "it said: out of order", Summary: "order", Headers: "A: b\r\n", Response: "out of order",
		Duration: time.Second, Final: true, RetryAfter: time.Minute, Type: "Http", Target: "target:80", Failed: failure, Resubmits: again, FaultedAt: at("09:00:12"),
		Reason: scheduler.ReasonOverlap, From: at("09:00:00"), To: at("09:02:00"), Count: 3, UID: incarnation,
		Revision: 7, Schedule: 2, Resume: at("09:01:00"), Progress: scheduler.Progress{Number: 5, Runs: 4},
	}
)

// TestStoredBaton pins the bytes of a stored baton.
func TestStoredBaton(t *testing.T) {
	for stored, b := range map[string]scheduler.Baton{leastBaton: least, fullestBaton: fullest} {
		for kind, flags := range storedKinds {
			b.Kind = kind
			want := with(stored, flags)
			if diff := gocmp.Diff(members(t, []byte(want)), members(t, b.Encode())); diff != "" {
				t.Errorf("stored of kind %d (-want +got)\n%s", kind, diff)
			}
			got := must.Get(scheduler.DecodeBaton([]byte(want)))(t)
			if diff := gocmp.Diff(b, got); diff != "" {
				t.Errorf("read of kind %d (-want +got)\n%s", kind, diff)
			}
		}
	}
	for _, wrong := range []string{"", "{", `{"rev": "7"}`, `{"nominal": "nine"}`} {
		if b, err := scheduler.DecodeBaton([]byte(wrong)); err == nil || !strings.HasPrefix(err.Error(), "baton: ") {
			t.Errorf("%q is read as %+v, %v", wrong, b, err)
		}
	}
}

// TestStoredRecord checks that records are stored under the names that users see.
func TestStoredRecord(t *testing.T) {
	for _, test := range []struct {
		stored, engine string
		record         scheduler.Record
	}{
		{leastRecord, "", skipOnly},
		{fullestRecord, fullestEngine, whole},
	} {
		for kind := range storedKinds {
			test.record.Kind = kind
			want := members(t, []byte(test.stored))
			engine := members(t, []byte(cmp.Or(test.engine, "{}")))
			if kind.IsManual() {
				want["manual"] = true
			}
			if kind.IsDetached() {
				engine["detached"] = true
			}
			if len(engine) > 0 {
				want["engine"] = engine
			}
			data := must.Get(test.record.Encode())(t)
			if diff := gocmp.Diff(want, members(t, data)); diff != "" {
				t.Errorf("stored of kind %d (-want +got)\n%s", kind, diff)
			}
			got := must.Get(scheduler.DecodeRecord(data))(t)
			if diff := gocmp.Diff(&test.record, got); diff != "" {
				t.Errorf("read of kind %d (-want +got)\n%s", kind, diff)
			}
		}
	}
	for _, wrong := range []string{"", "{", `{"version":"2"}`, `{"version":2,"status":7}`, `{"version":3}`, `{"status":"Failed"}`} {
		if r, err := scheduler.DecodeRecord([]byte(wrong)); err == nil {
			t.Errorf("%q is read as %+v", wrong, r)
		}
	}
}

// TestEveryFieldOfARecordIsStored fills one field after the other.
func TestEveryFieldOfARecordIsStored(t *testing.T) {
	fields := reflect.TypeFor[scheduler.Record]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if slices.Contains([]string{"Sequence", "Stored", "Job", "Damaged"}, name) { // where it is stored, or that it cannot be read
			continue
		}
		r := scheduler.Record{Outcome: scheduler.OutcomeFailed}
		fill(t, reflect.ValueOf(&r).Elem().Field(i))
		data := must.Get(r.Encode())(t)
		got, err := scheduler.DecodeRecord(data)
		if diff := gocmp.Diff(&r, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got); give it a line in Form, code and record of recordform.go if users see it, "+
				"else in storedEngine of recordstored.go; the stored form keeps the exact value, such as a duration as Seconds\n%s",
				name, err, diff)
		}
	}
}

// fill sets a value and its elements to nonzero values.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 3, 2, 9, 0, 0, 1, time.UTC)))
	case v.Type() == reflect.TypeFor[scheduler.Phase]():
		v.SetString(string(scheduler.ErrorPhase))
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"order":7}`))
	case v.Kind() == reflect.String:
		v.SetString("text")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			fill(t, field)
		}
	default:
		t.Fatalf("a %s cannot be filled", v.Type())
	}
}

// TestSeconds checks that durations are exact, and written as plain decimals.
func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "1": time.Second, "0.0625037": 62_503_700, "-1.5": -1500 * time.Millisecond, "0.000000001": 1,
		"9223372036.854775807": math.MaxInt64, "-9223372036.854775808": math.MinInt64,
	} {
		data, err := scheduler.Seconds(want).MarshalJSON()
		if err != nil || string(data) != text {
			t.Errorf("%s is written as %s, %v", want, data, err)
		}
		var got scheduler.Seconds
		if err := json.Unmarshal([]byte(text), &got); err != nil || time.Duration(got) != want {
			t.Errorf("%s is read as %s, %v", text, time.Duration(got), err)
		}
	}
	for text, want := range map[string]time.Duration{"1e3": 1000 * time.Second, "2.50": 2500 * time.Millisecond, "1.0000000019": time.Second + 1} {
		var got scheduler.Seconds
		if err := json.Unmarshal([]byte(text), &got); err != nil || time.Duration(got) != want {
			t.Errorf("%s is read as %s, %v", text, time.Duration(got), err)
		}
	}
	for _, wrong := range []string{`"1"`, "9223372036.854775808", "1e300", "true"} {
		var got scheduler.Seconds
		if err := json.Unmarshal([]byte(wrong), &got); err == nil {
			t.Errorf("%s is read as %s", wrong, time.Duration(got))
		}
	}
}

// TestCodecs encodes and decodes random batons and records.
func TestCodecs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := batons().Draw(t, "baton")
		got, err := scheduler.DecodeBaton(b.Encode())
		if diff := gocmp.Diff(b, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
		r := recordsOf(b).Draw(t, "record")
		data := must.Get(r.Encode())(t)
		read, err := scheduler.DecodeRecord(data)
		if diff := gocmp.Diff(&r, read); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
}

// instants are zero or random times, to the nanosecond.
func instants() *rapid.Generator[time.Time] {
	return rapid.OneOf(rapid.Just(time.Time{}), rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
	}))
}

func batons() *rapid.Generator[scheduler.Baton] {
	return rapid.Custom(func(t *rapid.T) scheduler.Baton {
		count, when, flag := rapid.IntRange(0, 99), instants(), rapid.Bool()
		b := scheduler.Baton{
			Progress: scheduler.Progress{
				Number: count.Draw(t, "number"), Runs: count.Draw(t, "runs"), Executions: count.Draw(t, "executions"),
				Failures: count.Draw(t, "failures"), Faults: count.Draw(t, "faults"), Last: when.Draw(t, "last"), Seen: when.Draw(t, "seen"),
				Base: when.Draw(t, "base"), Ran: when.Draw(t, "ran"), Prior: when.Draw(t, "prior"),
			},
			Kind: rapid.SampledFrom(anyKind).Draw(t, "kind"), UID: rapid.StringN(0, 8, -1).Draw(t, "uid"),
			Revision: rapid.Uint64().Draw(t, "revision"), Schedule: count.Draw(t, "schedule"), Nominal: when.Draw(t, "nominal"),
			Due: when.Draw(t, "due"), Attempt: count.Draw(t, "attempt"), Try: count.Draw(t, "try"),
			Phase:       rapid.SampledFrom([]scheduler.Phase{scheduler.MainPhase, scheduler.ErrorPhase}).Draw(t, "phase"),
			ErrorAction: count.Draw(t, "errorAction"),
			Resume:      when.Draw(t, "resume"), PostponementRecorded: flag.Draw(t, "postponed"), Gap: when.Draw(t, "gap"),
			DeferredUntil: when.Draw(t, "until"), DeferredSince: when.Draw(t, "since"), DeferralRecorded: flag.Draw(t, "recorded"),
			Unmet: flag.Draw(t, "unmet"),
		}
		if merged := rapid.SliceOfN(rapid.Int64(), 0, 3).Draw(t, "merged"); len(merged) > 0 {
			b.Merged = merged
		}
		if flag.Draw(t, "again") {
			b.Resubmits = &scheduler.Resubmission{Nominal: when.Draw(t, "repeated"), Previous: when.Draw(t, "before")}
		}
		if flag.Draw(t, "traced") {
			text := rapid.StringN(0, 60, -1)
			context := scheduler.TraceContext{Parent: text.Draw(t, "traceparent"), State: text.Draw(t, "tracestate")}
			b.Trace = &scheduler.BatonTrace{TraceContext: context, First: text.Draw(t, "first span")}
		}
		if flag.Draw(t, "failed") {
			b.Failed = &scheduler.Failure{
				Status: count.Draw(t, "status"), Attempts: count.Draw(t, "attempts"), Message: rapid.String().Draw(t, "message"),
				Summary: rapid.String().Draw(t, "main summary"),
				Due:     when.Draw(t, "main due"), Started: when.Draw(t, "main started"), Ended: when.Draw(t, "main ended"),
			}
		}
		return b
	})
}

func recordsOf(b scheduler.Baton) *rapid.Generator[scheduler.Record] {
	return rapid.Custom(func(t *rapid.T) scheduler.Record {
		text, span := rapid.StringN(0, 9, -1), rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) })
		r := scheduler.Record{
			ID: text.Draw(t, "id"), Occurrence: text.Draw(t, "occurrence"), Outcome: rapid.SampledFrom(scheduler.Outcomes).Draw(t, "outcome"),
			Nominal: b.Nominal, Due: b.Due, Started: b.Last, Ended: b.Seen, Attempt: b.Attempt, Try: b.Try, Phase: b.Phase, ErrorAction: b.ErrorAction, Kind: b.Kind,
			Status: b.Number, Message: text.Draw(t, "message"), Summary: text.Draw(t, "summary"), Headers: text.Draw(t, "headers"), Response: text.Draw(t, "response"), Duration: span.Draw(t, "duration"),
			Final: b.PostponementRecorded, RetryAfter: span.Draw(t, "retryAfter"), Type: text.Draw(t, "type"), Target: text.Draw(t, "target"), Path: text.Draw(t, "path"),
			Failed: b.Failed, Resubmits: b.Resubmits, Reason: scheduler.Reason(text.Draw(t, "reason")), From: b.Ran, To: b.Prior, Count: b.Runs, UID: b.UID,
			Revision: b.Revision, Schedule: b.Schedule, Resume: b.Resume, Progress: b.Progress, Trace: b.Trace,
		}
		if rapid.Bool().Draw(t, "repeated") {
			r.Message += r.Response
		}
		return r
	})
}

// FuzzDecodeRecord checks that every decoded record can be encoded, and decoded and encoded to the same bytes.
func FuzzDecodeRecord(f *testing.F) {
	const untitled = `{"version":2,"status":"a"}`
	for _, stored := range []string{leastRecord, fullestRecord, untitled, `{"version":2,"status":"é"}`} {
		f.Add([]byte(stored))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := scheduler.DecodeRecord(data)
		if err != nil {
			return
		}
		stored, err := r.Encode()
		if err != nil {
			return // a time beyond the year 9999
		}
		again, err := scheduler.DecodeRecord(stored)
		if err != nil {
			t.Fatalf("%s is stored as %s, and that is not read: %v", data, stored, err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(twice, stored) {
			t.Errorf("%s is stored as %s, and that as %s, %v", data, stored, twice, err)
		}
	})
}

// TestStoredMessageLacksTheAnswer checks that the store has the headers and the body of an answer once, and that a
// reader sees the same message as before.
func TestStoredMessageLacksTheAnswer(t *testing.T) {
	r := typical()
	headers, before := r.Headers, "Http Action - Response from host 'x': 'OK' Response Headers: "
	for _, one := range []struct{ message, headers, response, stored string }{
		{r.Message, headers, r.Response, "Http Action - Response from host '127.0.0.1': 'OK' Response Headers:"},
		{before + headers + " Body: ", headers, "", strings.TrimSpace(before)},
		{before + " Body: ok", "", "ok", before + " Body: ok"},
		{before + headers + " Body: [redacted]", headers, "ok", before + headers + " Body: [redacted]"},
		{before + "B: c\r\n Body: ok", "A: b\r\n", "ok", before + "B: c\r\n Body: ok"},
		{"canceled; before that: " + r.Message, headers, "ok", "canceled; before that: Http Action - Response from host '127.0.0.1': 'OK' Response Headers:"},
		{"ok", "A: b\r\n", "ok", "ok"},
	} {
		r.Message, r.Headers, r.Response = one.message, one.headers, one.response
		data := must.Get(r.Encode())(t)
		if got := members(t, data)["message"]; got != one.stored {
			t.Errorf("%q is stored as %q, want %q", one.message, got, one.stored)
		}
		for _, read := range []func([]byte) (*scheduler.Record, error){scheduler.DecodeRecord, scheduler.ReadRecordByReflection} {
			if got, err := read(data); err != nil || got.Message != one.message {
				t.Errorf("read as %+v, %v, want the message %q", got, err, one.message)
			}
		}
		whole := bytes.Replace(data, []byte(quoted(t, one.stored)), []byte(quoted(t, one.message)), 1) // as earlier versions stored it
		if got, err := scheduler.DecodeRecord(whole); err != nil || got.Message != one.message {
			t.Errorf("read from an earlier form as %+v, %v, want the message %q", got, err, one.message)
		}
	}
}

// quoted returns a text as JSON.
func quoted(t *testing.T, text string) string {
	t.Helper()
	data := must.Get(json.Marshal(text))(t)
	return string(data)
}
