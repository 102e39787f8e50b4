package web_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
)

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
	if err := json.Unmarshal([]byte(got.Body), &event); err != nil {
		t.Fatal(err)
	}
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
