package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/engine/limits"
	"github.com/carillon-sched/carillon/scheduler/metrics"
)

// process is a fake process with fixed state.
type process struct {
	stats engine.Stats
	load  scheduler.Load
	err   error
	conn  metrics.Connection
	asked int

	settings metrics.Settings
	ahead    time.Duration
}

func (p *process) metrics() *metrics.Metrics {
	return metrics.New(metrics.Config{
		Version: "1.2.3", ActionTypes: []string{"Http", "StorageQueue"},
		Worker:     func() engine.Stats { return p.stats },
		Connection: func() metrics.Connection { return p.conn },
		Shut:       func() int { return 2 },
		ClockAhead: func() time.Duration { return p.ahead },
		Settings: func() metrics.Settings {
			if p.settings == (metrics.Settings{}) {
				return metrics.Settings{Refused: true, Read: time.Unix(0, 0)} // exported as zeros
			}
			return p.settings
		},
		Load: func(context.Context) (scheduler.Load, error) {
			p.asked++
			return p.load, p.err
		},
	})
}

// scrape returns the samples of Carillon's own metrics, without zeros and buckets.
func scrape(t *testing.T, m *metrics.Metrics) []string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var samples []string
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSpace(line)
		own := strings.HasPrefix(line, "carillon_") && !strings.HasPrefix(line, "carillon_build_info")
		if own && !strings.HasSuffix(line, " 0") && !strings.Contains(line, "_bucket{") {
			samples = append(samples, line)
		}
	}
	return samples
}

// want compares the scraped samples with the expected ones, in any order.
func want(t *testing.T, m *metrics.Metrics, when string, samples ...string) {
	t.Helper()
	slices.Sort(samples)
	got := scrape(t, m)
	slices.Sort(got)
	if diff := cmp.Diff(samples, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// always is the sample that the fake processes export without any activity.
const always = "carillon_streams_shut 2"

func TestRecord(t *testing.T) {
	due := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	attempt := func(kind string, outcome scheduler.Outcome, n int) scheduler.Record {
		return scheduler.Record{
			ID: "a", Type: kind, Outcome: outcome, Attempt: n, Due: due, Started: due.Add(250 * time.Millisecond), Duration: 2 * time.Second,
		}
	}
	early := attempt("Http", scheduler.OutcomeCompleted, 0)
	early.Started = due.Add(-time.Millisecond) // by another clock
	late := attempt("Http", scheduler.OutcomeCompleted, 0)
	late.Late, late.Job = true, scheduler.Key{Collection: "billing", Job: "report"}
	for name, test := range map[string]struct {
		record scheduler.Record
		want   []string
	}{
		"late": {late, []string{
			`carillon_attempts_total{action_type="Http",outcome="completed"} 1`, `carillon_occurrences_late_total{collection="billing"} 1`,
			`carillon_attempt_duration_seconds_count{action_type="Http"} 1`, `carillon_attempt_duration_seconds_sum{action_type="Http"} 2`,
			`carillon_attempt_lateness_seconds_count 1`, `carillon_attempt_lateness_seconds_sum 0.25`,
		}},
		"completed": {attempt("Http", scheduler.OutcomeCompleted, 0), []string{
			`carillon_attempts_total{action_type="Http",outcome="completed"} 1`,
			`carillon_attempt_duration_seconds_count{action_type="Http"} 1`, `carillon_attempt_duration_seconds_sum{action_type="Http"} 2`,
			`carillon_attempt_lateness_seconds_count 1`, `carillon_attempt_lateness_seconds_sum 0.25`,
		}},
		"a retry that failed": {attempt("StorageQueue", scheduler.OutcomeFailed, 2), []string{
			`carillon_attempts_total{action_type="StorageQueue",outcome="failed"} 1`, `carillon_retries_total{action_type="StorageQueue"} 1`,
			`carillon_attempt_duration_seconds_count{action_type="StorageQueue"} 1`,
			`carillon_attempt_duration_seconds_sum{action_type="StorageQueue"} 2`,
			`carillon_attempt_lateness_seconds_count 1`, `carillon_attempt_lateness_seconds_sum 0.25`,
		}},
		"early": {early, []string{
			`carillon_attempts_total{action_type="Http",outcome="completed"} 1`,
			`carillon_attempt_duration_seconds_count{action_type="Http"} 1`, `carillon_attempt_duration_seconds_sum{action_type="Http"} 2`,
			`carillon_attempt_lateness_seconds_count 1`,
		}},
		"of a type of a later version": {
			scheduler.Record{Type: "Telegram", Outcome: scheduler.OutcomeFaulted},
			[]string{`carillon_occurrences_faulted_total{action_type="other"} 1`},
		},
		"skipped": {
			scheduler.Record{Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonCatchUp, Count: 7},
			[]string{`carillon_occurrences_skipped_total{reason="catchUp"} 7`},
		},
		"skipped for a reason of a later version": {scheduler.Record{Outcome: scheduler.OutcomeSkipped, Reason: "moon", Count: 7}, nil},
		"postponed because of its target": {
			attempt("Http", scheduler.OutcomePostponed, 0), []string{`carillon_occurrences_postponed_total{reason="target"} 1`},
		},
		"postponed by its condition": {
			scheduler.Record{ID: "a", Outcome: scheduler.OutcomePostponed, Reason: scheduler.ReasonOnlyIf},
			[]string{`carillon_occurrences_postponed_total{reason="onlyIf"} 1`},
		},
		"postponed by its collection": {
			scheduler.Record{Outcome: scheduler.OutcomePostponed, Count: 1}, []string{`carillon_occurrences_postponed_total{reason="collection"} 1`},
		},
	} {
		p := &process{}
		m := p.metrics()
		m.Record(&test.record)
		want(t, m, name, append(test.want, always)...)
	}
}

func TestRequests(t *testing.T) {
	p := &process{}
	m := p.metrics()
	m.Requests("rest")("GET /jobs", 200, 2*time.Second)
	m.Requests("rest")("GET /jobs", 304, time.Second)
	m.Requests("nats")("put", 503, time.Second)
	m.Spec("put", "accepted")
	m.Webhook(202)
	m.Webhook(202)
	m.Webhook(401)
	m.Webhook(400)
	want(t, m, "requests", always,
		`carillon_api_request_duration_seconds_count{api="rest",operation="GET /jobs",status="2xx"} 1`,
		`carillon_api_request_duration_seconds_sum{api="rest",operation="GET /jobs",status="2xx"} 2`,
		`carillon_api_request_duration_seconds_count{api="rest",operation="GET /jobs",status="3xx"} 1`,
		`carillon_api_request_duration_seconds_sum{api="rest",operation="GET /jobs",status="3xx"} 1`,
		`carillon_api_request_duration_seconds_count{api="nats",operation="put",status="5xx"} 1`,
		`carillon_api_request_duration_seconds_sum{api="nats",operation="put",status="5xx"} 1`,
		`carillon_specs_total{result="accepted",verb="put"} 1`, `carillon_webhook_requests_total{result="accepted"} 2`,
		`carillon_webhook_requests_total{result="unverified"} 1`, `carillon_webhook_requests_total{result="other"} 1`,
	)
}

// TestAudited records a check with one finding of each kind, an interrupted check, and one without findings.
func TestAudited(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := &process{}
		m := p.metrics()
		m.Audited(&v1.AuditReport{Duration: scheduler.Seconds(1500 * time.Millisecond), Findings: []v1.Finding{
			{Fixed: true}, {Fixed: true}, {Damaged: true}, {Lost: true}, {Problem: "else"},
		}}, nil)
		found := []string{
			always, `carillon_audit_findings{kind="mended"} 2`, `carillon_audit_findings{kind="damaged"} 1`,
			`carillon_audit_findings{kind="lost"} 1`, `carillon_audit_findings{kind="unmended"} 1`,
			`carillon_audit_duration_seconds 1.5`, `carillon_audit_last_success_timestamp_seconds 9.466848e+08`,
		}
		want(t, m, "one", append(found, `carillon_audit_runs_total{result="completed"} 1`)...)
		m.Audited(&v1.AuditReport{}, errors.New("cut short"))
		want(t, m, "cut short", append(found,
			`carillon_audit_runs_total{result="completed"} 1`, `carillon_audit_runs_total{result="failed"} 1`)...)
		m.Audited(&v1.AuditReport{}, nil)
		want(t, m, "nothing found", always, `carillon_audit_last_success_timestamp_seconds 9.466848e+08`,
			`carillon_audit_runs_total{result="completed"} 2`, `carillon_audit_runs_total{result="failed"} 1`)
	})
}

// TestState checks the metrics that are read at scrape time, and that all scrapes within five seconds share one request
// to NATS, even a failed one.
func TestState(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := &process{
			stats: engine.Stats{
				Stats: limits.Stats{InFlight: 3, Queued: 4, Circuits: limits.Circuits{Closed: 5, Open: 6, HalfOpen: 7}, Opened: 8},
				Held:  9, HoldMemory: 10, HoldLimit: 11, Troubles: map[engine.Trouble]uint64{engine.DamagedJob: 12},
				Events: 20, EventEffects: map[string]uint64{"starts": 21},
			},
			load:     scheduler.Load{Lanes: []scheduler.LaneLoad{{Waiting: 13, Running: 14, Pending: 15}, {Waiting: 16}}, Specs: 17, Events: 22},
			conn:     metrics.Connection{Connected: true, Reconnects: 18},
			settings: metrics.Settings{Read: time.Unix(1e9, 5e8), Pending: 19},
			ahead:    -1500 * time.Millisecond,
		}
		own := []string{
			"carillon_config_last_reload_success_timestamp_seconds 1.0000000005e+09", "carillon_config_last_reload_successful 1",
			"carillon_config_restart_pending 19", "carillon_clock_ahead_seconds -1.5",
			always, "carillon_attempts_in_flight 3", "carillon_attempts_queued 4", `carillon_circuits{state="closed"} 5`,
			`carillon_circuits{state="open"} 6`, `carillon_circuits{state="half_open"} 7`, "carillon_circuits_opened_total 8",
			"carillon_batons_held 9", "carillon_hold_memory_bytes 10", "carillon_hold_memory_limit_bytes 11",
			`carillon_planner_errors_total{reason="damaged_job"} 12`,
			"carillon_events_matched_total 20", `carillon_event_effects_total{effect="starts"} 21`, "carillon_nats_connected 1", "carillon_nats_reconnects_total 18",
		}
		all := append(slices.Clone(own),
			`carillon_lane_batons{lane="0",state="waiting"} 13`, `carillon_lane_batons{lane="0",state="running"} 14`,
			`carillon_lane_consumer_pending{lane="0"} 15`, `carillon_lane_batons{lane="1",state="waiting"} 16`, "carillon_specs_waiting 17",
			"carillon_events_waiting 22",
		)
		m := p.metrics()
		want(t, m, "first", all...)
		p.err = errors.New("NATS does not answer")
		want(t, m, "at once", all...)
		time.Sleep(5 * time.Second)
		want(t, m, "NATS is gone", append(own, "carillon_load_errors_total 1")...)
		want(t, m, "still", append(own, "carillon_load_errors_total 1")...)
		if p.asked != 2 {
			t.Errorf("NATS was asked %d times", p.asked)
		}
		time.Sleep(5 * time.Second)
		p.err = nil
		want(t, m, "it is back", append(all, "carillon_load_errors_total 1")...)
	})
}

// BenchmarkRecord measures the cost per run.
func BenchmarkRecord(b *testing.B) {
	m := (&process{}).metrics()
	due := time.Now()
	r := &scheduler.Record{ID: "a", Type: "Http", Outcome: scheduler.OutcomeCompleted, Due: due}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Started, r.Duration = due.Add(time.Duration(i%1000)*time.Millisecond), time.Duration(i%100)*time.Millisecond
		m.Record(r)
	}
}
