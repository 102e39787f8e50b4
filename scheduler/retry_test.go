package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// policyOf parses a retry policy as part of a job.
func policyOf(t *testing.T, policy string) (*scheduler.RetryPolicy, error) {
	t.Helper()
	v := parseDocument(t, `{"action": {"type": "Http", "request": {"uri": "http://x.example", "method": "GET"}, "retryPolicy": `+policy+`}}`)
	reading := scheduler.DefinitionDecoder{Actions: actions.New(web.New(web.Config{}))}
	d, err := reading.Definition(v)
	if err != nil {
		return nil, err
	}
	return &d.Action.Retry, nil
}

// pauses returns the pauses of a policy between attempts that end with res.
func pauses(p *scheduler.RetryPolicy, res scheduler.Result) string {
	ended := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var all []string
	for attempt := 0; ; attempt++ {
		due, ok := p.Next(attempt, "default/job@x#1", res, ended)
		if !ok {
			return strings.Join(all, " ")
		}
		all = append(all, due.Sub(ended).String())
	}
}

func TestBackoff(t *testing.T) {
	busy := scheduler.Result{Failed: true, Status: 503}
	later := scheduler.Result{Failed: true, Status: 503, RetryAfter: 2 * time.Minute}
	missing := scheduler.Result{Failed: true, Status: 404, Final: true}
	tests := []struct {
		policy string
		res    scheduler.Result
		want   string
	}{
		{`{}`, busy, "30s 30s 30s 30s"},
		{`{"retryType": "none"}`, busy, ""},
		// The example for maxDoublings in the Google Cloud Tasks documentation.
		{
			`{"retryType": "exponential", "retryInterval": "PT15S", "maxRetryInterval": "PT450S", "maxDoublings": 3, "retryCount": 8, "jitter": "PT0S"}`, busy,
			"15s 30s 1m0s 2m0s 4m0s 6m0s 7m30s 7m30s",
		},
		{`{"retryType": "exponential", "retryInterval": "PT1M", "maxDoublings": 0, "jitter": "PT0S"}`, busy, "1m0s 2m0s 3m0s 4m0s"},
		{`{"retryType": "exponential", "retryInterval": "PT50M", "jitter": "PT0S"}`, busy, "50m0s 1h0m0s 1h0m0s 1h0m0s"},
		{`{"retryType": "exponential", "retryInterval": "PT2H", "jitter": "PT0S"}`, busy, "2h0m0s 2h0m0s 2h0m0s 2h0m0s"},
		{`{}`, later, "2m0s 2m0s 2m0s 2m0s"},
		{`{"retryInterval": "PT5M"}`, later, "5m0s 5m0s 5m0s 5m0s"},
		{`{"retryType": "exponential", "maxRetryInterval": "PT90S", "jitter": "PT0S"}`, later, "1m30s 1m30s 1m30s 1m30s"},
		{`{}`, scheduler.Result{Failed: true, Status: 429, RetryAfter: 1 << 62}, "1h0m0s 1h0m0s 1h0m0s 1h0m0s"},
		{`{}`, missing, ""},
		{`{"finalOn": []}`, missing, "30s 30s 30s 30s"},
		{`{"finalOn": ["500-503"]}`, missing, "30s 30s 30s 30s"},
		{`{"finalOn": ["4xx", "503"]}`, busy, ""},
		{`{"finalOn": ["4xx"]}`, scheduler.Result{Failed: true}, "30s 30s 30s 30s"},
	}
	for _, test := range tests {
		p, err := policyOf(t, test.policy)
		if err != nil {
			t.Errorf("%s: %v", test.policy, err)
			continue
		}
		if got := pauses(p, test.res); got != test.want {
			t.Errorf("%s after %d: pauses %s, want %s", test.policy, test.res.Status, got, test.want)
		}
	}
}

// TestRetryJitter checks that jitter never shortens a pause, differs between jobs, and is deterministic.
func TestRetryJitter(t *testing.T) {
	for policy, most := range map[string]time.Duration{
		`{"retryType": "exponential", "retryInterval": "PT100S"}`: 10 * time.Second,
		`{"retryInterval": "PT100S", "jitter": "PT30S"}`:          30 * time.Second,
	} {
		p := must.Get(policyOf(t, policy))(t)
		now, seen := time.Now(), map[time.Duration]bool{}
		for _, id := range []string{"a/b@x#1", "a/b@x#2", "a/c@x#1", "a/d@x#1"} {
			due, _ := p.Next(0, id, scheduler.Result{Failed: true}, now)
			again, _ := p.Next(0, id, scheduler.Result{Failed: true}, now)
			d := due.Sub(now) - 100*time.Second
			if d < 0 || d >= most || !due.Equal(again) {
				t.Errorf("%s: %s has a jitter of %v, then %v", policy, id, d, again.Sub(now))
			}
			seen[d] = true
		}
		if len(seen) < 3 {
			t.Errorf("%s: the same jitter for most of them: %v", policy, seen)
		}
	}
}

func TestWrongRetryPolicies(t *testing.T) {
	for policy, want := range map[string]string{
		`{"retryType": "expo"}`:                                `action.retryPolicy.retryType: "expo" is not one of none, fixed, exponential; did you mean "exponential"?`,
		`{"maxDoublings": 3}`:                                  "action.retryPolicy.maxDoublings: goes with retryType exponential only",
		`{"retryType": "exponential", "retryInterval": "P1M"}`: "action.retryPolicy.retryInterval: P1M must not use years or months",
		`{"retryType": "exponential", "retryInterval": "PT1M", "maxRetryInterval": "PT1S"}`: "action.retryPolicy.maxRetryInterval: PT1S is shorter than the allowed PT1M",
		`{"retryType": "exponential", "maxDoublings": 31}`:                                  "action.retryPolicy.maxDoublings: 31 is not in 0-30",
		`{"finalOn": ["4x", "404"]}`:                                                        `action.retryPolicy.finalOn[0]: "4x" is not a status: write 200, 2xx or 200-204`,
		`{"jitter": "P1M"}`:                                                                 "action.retryPolicy.jitter: P1M must not use years or months",
	} {
		if _, err := policyOf(t, policy); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", policy, err, want)
		}
	}
}

// TestFinalStatus checks that a retry can help only a request that came at the wrong time.
func TestFinalStatus(t *testing.T) {
	for status, want := range map[int]bool{
		0: false, 200: false, 399: false, 400: true, 404: true, 408: false, 410: true, 425: false, 429: false, 499: true, 500: false, 503: false,
	} {
		if got := scheduler.FinalStatus(status); got != want {
			t.Errorf("%d: got %t", status, got)
		}
	}
}
