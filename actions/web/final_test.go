package web_test

import (
	"net/http"
	"testing"
	"time"
)

// TestFinal checks which answers say that a retry cannot help.
func TestFinal(t *testing.T) {
	for name, test := range map[string]struct {
		status        int
		success       string
		failed, final bool
	}{
		"success":              {200, `{}`, false, false},
		"moved":                {301, `{}`, true, false},
		"not found":            {404, `{}`, true, true},
		"beyond all":           {999, `{}`, true, false},
		"own success":          {404, `{"status":["404"]}`, false, false},
		"own success, no text": {404, `{"status":["404"],"bodyContains":"x"}`, true, false},
		"own failure":          {200, `{"status":["201"]}`, true, false},
		"own failure, 4xx":     {404, `{"status":["201"]}`, true, true},
		"no text":              {200, `{"bodyContains":"x"}`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			result := invoke(t, answer(test.status, nil, ""), success(test.success))
			if result.Failed != test.failed || result.Final != test.final {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestRetryAfter has the statuses that may ask to wait.
func TestRetryAfter(t *testing.T) {
	for status, want := range map[int]time.Duration{429: 2 * time.Minute, 503: 2 * time.Minute, 500: 0, 200: 0, 301: 0} {
		if got := invoke(t, answer(status, http.Header{"Retry-After": {"120"}}, ""), uri("http://h/")).RetryAfter; got != want {
			t.Errorf("%d: got %v, want %v", status, got, want)
		}
	}
}

// TestRetryAfterOfSuccess has a job that takes a refusal for a success.
func TestRetryAfterOfSuccess(t *testing.T) {
	header := http.Header{"Retry-After": {"120"}}
	if result := invoke(t, answer(429, header, ""), success(`{"status":["429"]}`)); result.Failed || result.RetryAfter != 0 {
		t.Errorf("got %+v", result)
	}
}
