package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// seen is a request as a target saw it.
type seen struct {
	Method, Path, Host, Body string
	Header                   http.Header
}

func see(r *http.Request) seen {
	body, _ := io.ReadAll(r.Body)
	return seen{r.Method, r.URL.RequestURI(), r.Host, string(body), r.Header}
}

// target is a server that keeps what it sees.
type target struct {
	*httptest.Server

	mu       sync.Mutex
	requests []seen
}

// listen starts a target that answers with answer; nil is 200 and no body.
func listen(t *testing.T, answer http.HandlerFunc) *target {
	t.Helper()
	s := newTarget(answer)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// listenAt is listen at an address of this machine.
func listenAt(t *testing.T, address string, answer http.HandlerFunc) *target {
	t.Helper()
	listener := must.Get(net.Listen("tcp", address))(t)
	s := newTarget(answer)
	_ = s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// newTarget returns a target that does not listen yet.
func newTarget(answer http.HandlerFunc) *target {
	s := new(target)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := see(r)
		s.mu.Lock()
		s.requests = append(s.requests, request)
		s.mu.Unlock()
		if answer != nil {
			answer(w, r)
		}
	}))
	return s
}

// seen returns what came so far.
func (s *target) seen() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// newClient returns a client with its own transport.
func newClient(t *testing.T, config web.Config) *web.Client {
	t.Helper()
	client := web.New(config)
	t.Cleanup(client.Close)
	return client
}

// invoke runs one attempt.
func invoke(t *testing.T, client *web.Client, request string) scheduler.Result {
	t.Helper()
	return actiontest.Invoke(t.Context(), mustRead(t, client, "Http", request), attempt())
}

func TestRequest(t *testing.T) {
	server := listen(t, nil)
	client := newClient(t, web.Config{Version: "1.2.3", Region: "North Pole"})
	result := invoke(t, client, fmt.Sprintf(
		`{"uri":"%s/a%%20b?c=d#e","method":"post","body":"{\"a\":1}","headers":{"X-Own":"yes","accept":"text/html"}}`, server.URL,
	))
	if result.Failed {
		t.Fatal(result.Message)
	}
	want := []seen{{
		Method: "POST",
		Path:   "/a%20b?c=d",
		Host:   strings.TrimPrefix(server.URL, "http://"),
		Body:   `{"a":1}`,
		Header: http.Header{
			"Accept":                                 {"text/html"},
			"Content-Length":                         {"7"},
			"Content-Type":                           {"application/json"},
			"Idempotency-Key":                        {"default/nightly@2026-03-01T09:30:00Z"},
			"Traceparent":                            {"00-7e837d9a954834b24fb82387988795c5-850bd4a252df279e-01"},
			"User-Agent":                             {"Carillon/1.2.3"},
			"X-Carillon-Attempt":                     {"2"},
			"X-Ms-Client-Request-Id":                 {"1fd6d249-fa44-8800-b9aa-90034c0427cc"},
			"X-Ms-Execution-Tag":                     {"dbc3505e8e61a3bb74c865229d5e3dce"},
			"X-Ms-Scheduler-Execution-Region":        {"North Pole"},
			"X-Ms-Scheduler-Expected-Execution-Time": {"2026-03-01T09:30:00Z"},
			"X-Ms-Scheduler-Jobid":                   {"nightly"},
			"X-Own":                                  {"yes"},
		},
	}}
	if diff := cmp.Diff(want, server.seen()); diff != "" {
		t.Error(diff)
	}
}

// TestIdentity checks which parts of an attempt's identity stay the same over
// the attempts of an occurrence.
func TestIdentity(t *testing.T) {
	server := listen(t, nil)
	action := mustRead(t, newClient(t, web.Config{}), "Http", uri(server.URL))
	first, second, next := attempt(), attempt(), attempt()
	second.ID, second.Try = strings.Replace(first.ID, "#2", "#3", 1), 3
	next.Nominal = first.Nominal.Add(90*time.Minute + 500*time.Millisecond).In(time.FixedZone("", 3600))
	next.Occurrence = "default/nightly@2026-03-01T11:00:00.5Z"
	next.ID, next.Key = next.Occurrence+"#1", next.Occurrence
	for _, at := range []scheduler.Attempt{first, first, second, next} {
		if result := actiontest.Invoke(t.Context(), action, at); result.Failed {
			t.Fatal(result.Message)
		}
	}
	h := make([]http.Header, 4)
	for i, r := range server.seen() {
		h[i] = r.Header
	}
	if diff := cmp.Diff(h[0], h[1]); diff != "" {
		t.Errorf("the same attempt again:\n%s", diff)
	}
	trace := func(h http.Header) string { return h.Get("traceparent")[:35] }
	span := func(h http.Header) string { return h.Get("traceparent")[36:52] }
	if trace(h[0]) != trace(h[2]) || span(h[0]) == span(h[2]) || trace(h[0]) == trace(h[3]) {
		t.Errorf("traces: %s, %s, %s", h[0]["Traceparent"], h[2]["Traceparent"], h[3]["Traceparent"])
	}
	tag, request := "x-ms-execution-tag", "x-ms-client-request-id"
	if h[0].Get(tag) != h[2].Get(tag) || h[0].Get(tag) == h[3].Get(tag) {
		t.Errorf("tags: %s, %s, %s", h[0].Get(tag), h[2].Get(tag), h[3].Get(tag))
	}
	if h[0].Get(request) == h[2].Get(request) {
		t.Errorf("request ids: %s twice", h[0].Get(request))
	}
	if got := h[3].Get("x-ms-scheduler-expected-execution-time"); got != "2026-03-01T11:00:00.5Z" {
		t.Errorf("expected execution time: %s", got)
	}
	if got := h[0].Values("x-ms-scheduler-execution-region"); got != nil {
		t.Errorf("region: %q, want none", got)
	}
	if got := h[0].Get("User-Agent"); got != "Carillon/dev" {
		t.Errorf("user agent: %s", got)
	}
}

// TestOwnHeaders checks that what a job gives is sent as given.
func TestOwnHeaders(t *testing.T) {
	server := listen(t, nil)
	own := http.Header{
		"Idempotency-Key":      {"order-4711"},
		"Traceparent":          {"00-11111111111111111111111111111111-2222222222222222-00"},
		"User-Agent":           {"curl/8"},
		"Content-Type":         {"application/x-www-form-urlencoded"},
		"X-Ms-Scheduler-Jobid": {"mine"},
		"X-Carillon-Attempt":   {""},
	}
	list := []string{`"hOsT":"virtual.example:99"`}
	for name, values := range own {
		list = append(list, fmt.Sprintf(`%q:%q`, strings.ToLower(name), values[0]))
	}
	request := fmt.Sprintf(`{"uri":%q,"method":"put","body":"{}","headers":{%s}}`, server.URL, strings.Join(list, ","))
	if result := invoke(t, newClient(t, web.Config{}), request); result.Failed {
		t.Fatal(result.Message)
	}
	got := server.seen()[0]
	for name, values := range own {
		if diff := cmp.Diff(values, got.Header[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got.Host != "virtual.example:99" {
		t.Errorf("host: %s", got.Host)
	}
}

func TestBody(t *testing.T) {
	for _, test := range []struct{ method, body, wantType, wantLength string }{
		{"POST", `{"a":1}`, "application/json", "7"},
		{"POST", `[1]`, "application/json", "3"},
		{"PUT", `{"a":1`, "text/plain; charset=utf-8", "6"},
		{"PATCH", "grüße", "text/plain; charset=utf-8", "7"},
		{"DELETE", "x", "text/plain; charset=utf-8", "1"},
		{"GET", "x", "text/plain; charset=utf-8", "1"},
		{"HEAD", "x", "text/plain; charset=utf-8", "1"},
		{"OPTIONS", "", "", ""},
		{"GET", "", "", ""},
		{"POST", "", "", "0"},
	} {
		t.Run(test.method+" "+test.body, func(t *testing.T) {
			server := listen(t, nil)
			result := invoke(t, newClient(t, web.Config{}), fmt.Sprintf(`{"uri":%q,"method":%q,"body":%q}`, server.URL, test.method, test.body))
			if result.Failed {
				t.Fatal(result.Message)
			}
			got := server.seen()[0]
			if got.Method != test.method || got.Body != test.body {
				t.Errorf("got %s %q", got.Method, got.Body)
			}
			if kind, length := got.Header.Get("Content-Type"), got.Header.Get("Content-Length"); kind != test.wantType || length != test.wantLength {
				t.Errorf("got type %q and length %q", kind, length)
			}
		})
	}
}

// envelope runs an attempt with more members and returns what arrived.
func envelope(t *testing.T, members string) seen {
	t.Helper()
	server := listen(t, nil)
	result := invoke(t, newClient(t, web.Config{Region: "here"}), fmt.Sprintf(`{"uri":%q,"method":"POST",%s}`, server.URL, members))
	if result.Failed {
		t.Fatal(result.Message)
	}
	return server.seen()[0]
}

func TestCloudEvents(t *testing.T) {
	got := envelope(t, `"body":"{\"a\":1}","envelope":"cloudEvents"`)
	var event map[string]any
	must.Do(t, json.Unmarshal([]byte(got.Body), &event))
	if event["specversion"] != "1.0" || event["id"] != attempt().Key || !cmp.Equal(event["data"], map[string]any{"a": 1.0}) {
		t.Errorf("got %s", got.Body)
	}
	if kind := got.Header.Get("Content-Type"); kind != "application/cloudevents+json; charset=utf-8" {
		t.Errorf("content type: %s", kind)
	}
	got = envelope(t, `"body":"{}","envelope":"cloudEvents","headers":{"content-type":"application/x-own"}`)
	if kind := got.Header.Get("Content-Type"); kind != "application/x-own" {
		t.Errorf("own content type: %s", kind)
	}
}

func TestCloudEventsBinary(t *testing.T) {
	got := envelope(t, `"body":"grüße","envelope":"cloudEventsBinary","headers":{"ce-type":"own"}`)
	if got.Body != "grüße" || got.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("got %+v", got)
	}
	for name, want := range map[string]string{"ce-specversion": "1.0", "ce-id": attempt().Key, "ce-type": "own"} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: got %q, want %q", name, got.Header.Get(name), want)
		}
	}
}

// TestTemplate checks that what kind of body it is follows from what is sent.
func TestTemplate(t *testing.T) {
	got := envelope(t, `"template":true,"body":"{\"attempt\":{{.Attempt}}}"`)
	if got.Body != `{"attempt":2}` || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %+v", got)
	}
	got = envelope(t, `"template":true,"body":"{{if eq .Attempt 1}}x{{end}}"`)
	if got.Body != "" || got.Header.Get("Content-Type") != "" {
		t.Errorf("got %+v", got)
	}
}

// TestFailureHeaders checks what an errorAction tells its target.
func TestFailureHeaders(t *testing.T) {
	server := listen(t, nil)
	at := attempt()
	at.Phase = scheduler.ErrorPhase
	at.Failure = &scheduler.Failure{Status: 503, Attempts: 5, Message: "Http Action\r\n- größer"}
	request := fmt.Sprintf(`{"uri":%q,"method":"POST","headers":{"X-Carillon-Failed-Attempts":"own"}}`, server.URL)
	if result := mustRead(t, newClient(t, web.Config{}), "Http", request).Invoke(t.Context(), at); result.Failed {
		t.Fatal(result.Message)
	}
	got := server.seen()[0].Header
	for name, want := range map[string]string{
		"x-carillon-failed-status": "503", "x-carillon-failed-attempts": "own", "x-carillon-failed-message": "Http Action - gr??er",
	} {
		if got.Get(name) != want {
			t.Errorf("%s: got %q, want %q", name, got.Get(name), want)
		}
	}
}
