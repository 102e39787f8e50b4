package tracing_test

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestNothingTold: neither what a job sends nor what its target answers is in a span, and no secret in the log.
func TestNothingTold(t *testing.T) {
	w := newHarness(t)
	done := make(chan struct{}, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Answer", "planted-answer-header")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("planted-answer"))
		done <- struct{}{}
	}))
	t.Cleanup(s.Close)
	w.put("secretive", `{"description": "planted-description", "labels": {"planted": "planted-label"},
		"action": {"type": "http", "request": {"method": "POST", "uri": "`+s.URL+`/planted-path?code=planted-query",
			"headers": {"X-Api-Key": "planted-key", "X-Note": "planted-note"}, "body": "planted-body",
			"authentication": {"type": "basic", "username": "planted-user", "password": "planted-password"}},
		"retryPolicy": {"retryType": "none"}}}`,
		http.Header{"Authorization": {"Bearer planted-token"}, "Traceparent": {kept}, "Tracestate": {"vendor=plantedstate"}})
	w.put("bus", `{"action": {"type": "serviceBusQueue", "serviceBusQueueMessage": {"namespace": "shop", "queueName": "planted-queue",
		"message": "planted-message", "authentication": {"type": "sharedAccessKey", "sasKeyName": "planted-policy", "sasKey": "cGxhbnRlZA=="},
		"customMessageProperties": {"token": "planted-property"}}}}`, nil)
	next(t, done)
	w.spans.wait(t, "attempt", 2)
	w.spans.mu.Lock()
	defer w.spans.mu.Unlock()
	for _, body := range w.spans.raw {
		for _, planted := range []string{"planted-", "cGxhbnRlZA"} {
			if at := strings.Index(body, planted); at >= 0 {
				t.Errorf("a span tells %q", body[at:min(len(body), at+32)])
			}
		}
	}
	log := w.log.String()
	for _, secret := range []string{"planted-key", "planted-query", "planted-password", "planted-token", "cGxhbnRlZA", "planted-property", "planted-body"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log tells %s:\n%s", secret, log)
		}
	}
}

// TestLog: the lines of requests and attempts have the ids of their traces.
func TestLog(t *testing.T) {
	w := newHarness(t)
	url, calls := httpTarget(t, http.StatusNotFound)
	w.put("logged", `{`+httpAction(url, `}, "retryPolicy": {"retryType": "none"`), http.Header{"Traceparent": {kept}})
	next(t, calls)
	attempt := w.spans.one(t, "attempt")
	line := func(parts ...string) func() bool {
		return func() bool {
			for line := range strings.Lines(w.log.String()) {
				found := true
				for _, part := range parts {
					found = found && strings.Contains(line, part)
				}
				if found {
					return true
				}
			}
			return false
		}
	}
	waitFor(t, w, line("msg=request ", "method=PUT", "trace="+callersTrace))
	waitFor(t, w, line("msg=attempt ", "outcome=failed", "trace="+hex.EncodeToString(attempt.GetTraceId())))
}
