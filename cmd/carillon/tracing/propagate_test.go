package tracing_test

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// A trace of a caller's, kept and not.
const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	kept         = "00-" + callersTrace + "-b7ad6b7169203331-01"
	notKept      = "00-" + callersTrace + "-b7ad6b7169203331-00"
	state        = "vendor=a,other=b"
)

// far is the beginning of a job that is not due in the test.
const far = `{"startTime": "2099-01-01T00:00:00Z", `

// httpTarget is a target that tells what headers it gets, and answers with statuses, the last of them for ever.
func httpTarget(t *testing.T, statuses ...int) (url string, got <-chan http.Header) {
	t.Helper()
	calls := make(chan http.Header, 64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		if len(statuses) > 0 {
			status = statuses[0]
		}
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
		w.WriteHeader(status)
		calls <- r.Header
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

func httpAction(url, more string) string {
	return `"action": {"type": "http", "request": {"method": "POST", "uri": "` + url + `/hook", "body": "b"` + more + `}}}`
}

// TestRunByHand: a run by hand continues the trace of the request, with its state, over each way in.
func TestRunByHand(t *testing.T) {
	w := newHarness(t)
	url, calls := httpTarget(t)
	w.put("hand", far+httpAction(url, ""), nil)
	runs := 0
	for name, run := range map[string]func(){
		"REST": func() {
			w.ask(http.MethodPost, "/jobCollections/default/jobs/hand/run", "", http.Header{"Traceparent": {kept}, "Tracestate": {"vendor=a", "other=b"}})
		},
		"NATS": func() {
			m := &nats.Msg{Subject: "carillon.api.run.default.hand", Header: nats.Header{"traceparent": {kept}, "tracestate": {state}}}
			if _, err := w.nc.RequestMsg(m, 10*time.Second); err != nil {
				t.Error(err)
			}
		},
		"a published spec": func() {
			m := &nats.Msg{Subject: "carillon.spec.run.default.hand", Header: nats.Header{"traceparent": {kept}, "tracestate": {state}}}
			if err := w.nc.PublishMsg(m); err != nil {
				t.Error(err)
			}
		},
	} {
		runs++
		run()
		got := next(t, calls)
		if parent := got.Get("Traceparent"); !strings.HasPrefix(parent, "00-"+callersTrace) || !strings.HasSuffix(parent, "-01") {
			t.Errorf("%s: the target gets the traceparent %q", name, parent)
		}
		if got.Get("Tracestate") != state {
			t.Errorf("%s: the target gets the tracestate %q", name, got.Get("Tracestate"))
		}
		waitFor(t, w, w.idle)
		attempt, fire := last(w.spans.wait(t, "attempt", runs)), last(w.spans.wait(t, "fire", runs))
		occurrence := last(w.spans.wait(t, "occurrence", runs))
		if attempt.parent() != got.Get("Traceparent") || !attempt.within(occurrence) || !occurrence.within(fire) || len(occurrence.GetLinks()) > 0 ||
			hex.EncodeToString(fire.GetTraceId()) != callersTrace || attempt.value("carillon.run") != "hand" {
			t.Errorf("%s: the spans do not hang together:\n%s", name, tree(w.spans.all()))
		}
	}
}

func last(spans []span) span { return spans[len(spans)-1] }

// idle reports whether the job hand can be run by hand again.
func (w *harness) idle() bool {
	w.t.Helper()
	answer, err := w.nc.Request("carillon.api.get.default.hand", nil, 10*time.Second)
	var job struct {
		Properties struct {
			Status struct {
				Running bool `json:"running"`
			} `json:"status"`
		} `json:"properties"`
	}
	return err == nil && json.Unmarshal(answer.Data, &job) == nil && !job.Properties.Status.Running
}

// waitFor waits until ok.
func waitFor(t *testing.T, w *harness, ok func() bool) {
	t.Helper()
	for late := time.After(20 * time.Second); !ok(); {
		select {
		case <-w.spans.news:
		case <-time.After(50 * time.Millisecond):
		case <-late:
			t.Fatalf("the spans are\n%s", tree(w.spans.all()))
		}
	}
}

// TestNotSampled: a caller whose trace is not kept has none here, and its targets are told the same.
func TestNotSampled(t *testing.T) {
	w := newHarness(t)
	url, calls := httpTarget(t)
	w.put("hand", far+httpAction(url, ""), http.Header{"Traceparent": {notKept}})
	w.ask(http.MethodPost, "/jobCollections/default/jobs/hand/run", "", http.Header{"Traceparent": {notKept}})
	if got := next(t, calls).Get("Traceparent"); !strings.HasPrefix(got, "00-"+callersTrace) || !strings.HasSuffix(got, "-00") {
		t.Errorf("the target gets the traceparent %q", got)
	}
	w.put("fence", far+httpAction(url, ""), nil)
	w.spans.one(t, "PUT /jobCollections/{c}/jobs/{j}")
	w.spans.one(t, "arm")
	if all := w.spans.all(); len(all) != 2 {
		t.Errorf("spans that are not to be kept:\n%s", tree(all))
	}
}

// TestRetries: what follows a failed attempt belongs to the trace of its occurrence, and links to that attempt.
func TestRetries(t *testing.T) {
	w := newHarness(t)
	url, calls := httpTarget(t, 500, 503, 200)
	w.put("retried", `{"action": {"type": "http", "request": {"method": "GET", "uri": "`+url+`"},
		"retryPolicy": {"retryType": "fixed", "retryInterval": "PT1S", "retryCount": 1},
		"errorAction": {"type": "http", "request": {"method": "GET", "uri": "`+url+`/error"}}}}`, nil)
	for range 3 {
		next(t, calls)
	}
	after := w.spans.one(t, "errorAction")
	retry, occurrence, attempts := w.spans.one(t, "retry"), w.spans.one(t, "occurrence"), w.spans.wait(t, "attempt", 3)
	if !attempts[0].within(occurrence) || !retry.within(occurrence) || !after.within(occurrence) || !attempts[1].within(retry) ||
		!attempts[2].within(after) || !retry.linksTo(attempts[0]) || !after.linksTo(attempts[0]) {
		t.Errorf("the spans do not hang together:\n%s", tree(w.spans.all()))
	}
	for i, want := range []string{"500", "503", ""} {
		s := attempts[i]
		failed := s.GetStatus().GetCode() == 2
		if got := s.value("error.type"); got != want || failed != (want != "") || s.GetStatus().GetMessage() != "" {
			t.Errorf("attempt %d has the status %v and error %q", i+1, s.GetStatus(), got)
		}
	}
}

// TestEachType: targets of each type get the context of the attempt, where clients look for it.
func TestEachType(t *testing.T) {
	w := newHarness(t)
	url, calls := httpTarget(t)
	messages := make(chan *nats.Msg, 8)
	sub := must.Get(w.nc.ChanSubscribe("lights.*", messages))(t)
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	const storage = `"queueMessage": {"storageAccount": "shop", "queueName": "letters", "sasToken": "?sv=2022-11-02&sp=a&sig=c2ln", "envelope": "cloudEvents", "message": "m"}`
	for job, body := range map[string]string{
		"http":   `{` + httpAction(url, ""),
		"event":  `{` + httpAction(url, `, "envelope": "cloudEventsBinary"`),
		"nats":   `{"action": {"type": "natsMessage", "natsMessage": {"subject": "lights.hall", "message": "m"}}}`,
		"letter": `{"action": {"type": "storageQueue", ` + storage + `}}`,
	} {
		w.put(job, body, nil)
	}
	w.spans.wait(t, "attempt", 4)
	of := map[string]string{}
	for _, s := range w.spans.all() {
		if s.GetName() == "attempt" {
			of[s.value("carillon.job")] = s.parent()
		}
	}
	for range 2 {
		got := next(t, calls)
		job := "default/" + got.Get("X-Ms-Scheduler-Jobid")
		if got.Get("Traceparent") != of[job] || job == "default/event" && got.Get("Ce-Traceparent") != of[job] {
			t.Errorf("%s: %v, and not %s", job, got, of[job])
		}
	}
	if m := next(t, messages); m.Header.Get("traceparent") != of["default/nats"] {
		t.Errorf("nats: %v, and not %s", m.Header, of["default/nats"])
	}
	if text := w.letter(); !strings.Contains(text, `"traceparent":"`+of["default/letter"]+`"`) {
		t.Errorf("storage queue: %s, and not %s", text, of["default/letter"])
	}
}

// letter is the text of the next message of the storage queue letters.
func (w *harness) letter() string {
	w.t.Helper()
	connection := strings.Replace(w.queue.ConnectionString(), "devstoreaccount1;AccountKey", "shop;AccountKey", 1)
	connection = strings.ReplaceAll(connection, "/devstoreaccount1", "/shop")
	client := must.Get(azqueue.NewQueueClientFromConnectionString(connection, "letters", nil))(w.t)
	answer, err := client.DequeueMessage(w.t.Context(), nil)
	if err != nil || len(answer.Messages) != 1 {
		w.t.Fatal(len(answer.Messages), err)
	}
	return *answer.Messages[0].MessageText
}

// TestJobsOwnTrace: what a job gives itself is left as it is, and gets nothing beside it that belongs to another.
func TestJobsOwnTrace(t *testing.T) {
	w := newHarness(t)
	url, calls := httpTarget(t)
	own := "00-11111111111111111111111111111111-2222222222222222-00"
	messages := make(chan *nats.Msg, 8)
	sub := must.Get(w.nc.ChanSubscribe("lights.*", messages))(t)
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	for job, body := range map[string]string{
		"http": httpAction(url, `, "headers": {"TraceParent": "`+own+`"}`),
		"nats": `"action": {"type": "natsMessage", "natsMessage": {"subject": "lights.hall", "message": "m", "headers": {"TraceParent": "` + own + `"}}}}`,
		"bus": `"action": {"type": "serviceBusQueue", "serviceBusQueueMessage": {"namespace": "shop", "queueName": "own", "message": "m",
			"customMessageProperties": {"Diagnostic-Id": "mine"}}}}`,
	} {
		w.put(job, far+body, nil)
		w.ask(http.MethodPost, "/jobCollections/default/jobs/"+job+"/run", "", http.Header{"Traceparent": {kept}, "Tracestate": {state}})
	}
	if got := next(t, calls); got.Get("Traceparent") != own || got.Get("Tracestate") != "" {
		t.Errorf("http: %v", got)
	}
	if m := next(t, messages); m.Header["TraceParent"][0] != own || m.Header.Get("traceparent") != "" || m.Header.Get("tracestate") != "" {
		t.Errorf("nats: %v", m.Header)
	}
	if m := w.receive(t, "own"); len(m.ApplicationProperties) != 1 || m.ApplicationProperties["Diagnostic-Id"] != "mine" {
		t.Errorf("service bus: %v", m.ApplicationProperties)
	}
}

// TestHostileContext: what is not well formed is as if it had not come, and changes nothing else.
func TestHostileContext(t *testing.T) {
	w := newHarness(t)
	url, calls := httpTarget(t)
	w.put("hand", far+httpAction(url, ""), nil)
	long := strings.Repeat("a", 100_000)
	for i, header := range []nats.Header{
		{"traceparent": {long}},
		{"traceparent": {kept, kept}},
		{"traceparent": {"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01"}},
		{"traceparent": {"ff-" + callersTrace + "-b7ad6b7169203331-01"}},
		{"traceparent": {strings.ToUpper(kept)}},
		{"traceparent": {kept + "-" + long}},
		{"traceparent": {kept + "\x00"}},
		{"traceparent": {""}, "tracestate": {long}},
		{"traceparent": {kept}, "tracestate": {"v=" + long}},
		{"traceparent": {kept}, "tracestate": {"=,;\x01=ü"}},
	} {
		answer, err := w.nc.RequestMsg(&nats.Msg{Subject: "carillon.api.run.default.hand", Header: header}, 10*time.Second)
		if err != nil || !strings.Contains(string(answer.Data), "occurrence") {
			t.Fatalf("row %d: %v", i, err)
		}
		got := next(t, calls)
		if parent := got.Get("Traceparent"); len(parent) != len(kept) || got.Get("Tracestate") != "" || strings.Contains(parent, callersTrace) != (i > 7) {
			t.Errorf("row %d: the target gets %q, %q", i, parent, got.Get("Tracestate"))
		}
		waitFor(t, w, w.idle)
	}
}
