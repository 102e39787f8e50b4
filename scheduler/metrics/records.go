package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// other is the label value of unknown action types.
const other = "other"

// The classic buckets, in seconds.
var (
	latenessBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 3600}
	durationBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
)

// records counts history records.
type records struct {
	attempts  *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	retries   *prometheus.CounterVec
	faulted   *prometheus.CounterVec
	skips     *prometheus.CounterVec
	postpones *prometheus.CounterVec
	lateness  prometheus.Histogram
	late      *prometheus.CounterVec

	actions      map[string]*action // by action type
	skipped      map[scheduler.Reason]prometheus.Counter
	byTarget     prometheus.Counter // postponed runs
	byCollection prometheus.Counter
	byCondition  prometheus.Counter
}

// action holds the metrics of an action type.
type action struct {
	completed, failed, retries, faulted prometheus.Counter
	duration                            prometheus.Observer
}

func newRecords(f factory, types []string) records {
	r := records{
		attempts: f.counter("carillon_attempts_total", "Attempts that have ended.", "outcome", "action_type"),
		duration: f.NewHistogramVec(histogram(
			"carillon_attempt_duration_seconds", "How long attempts took: the call of the target.", durationBuckets,
		), []string{"action_type"}),
		retries:   f.counter("carillon_retries_total", "Attempts that were not the first of their action.", "action_type"),
		faulted:   f.counter("carillon_occurrences_faulted_total", "Occurrences that failed after all retries.", "action_type"),
		skips:     f.counter("carillon_occurrences_skipped_total", "Due instants that did not run.", "reason"),
		postpones: f.counter("carillon_occurrences_postponed_total", "Times that occurrences were postponed.", "reason"),
		lateness: f.NewHistogram(histogram(
			"carillon_attempt_lateness_seconds", "How long after it was due an attempt began.", latenessBuckets,
		)),
		late:    f.counter("carillon_occurrences_late_total", "Occurrences that began later than their lateAfter.", "collection"),
		actions: map[string]*action{}, skipped: map[scheduler.Reason]prometheus.Counter{},
	}
	for _, name := range append([]string{other}, types...) {
		r.actions[name] = &action{
			completed: r.attempts.WithLabelValues(string(scheduler.OutcomeCompleted), name),
			failed:    r.attempts.WithLabelValues(string(scheduler.OutcomeFailed), name),
			retries:   r.retries.WithLabelValues(name), faulted: r.faulted.WithLabelValues(name),
			duration: r.duration.WithLabelValues(name),
		}
	}
	for _, reason := range scheduler.Reasons {
		r.skipped[reason] = r.skips.WithLabelValues(string(reason))
	}
	r.late.WithLabelValues(scheduler.DefaultCollection) // other collections appear with their first late occurrence
	r.byTarget, r.byCollection = r.postpones.WithLabelValues("target"), r.postpones.WithLabelValues("collection")
	r.byCondition = r.postpones.WithLabelValues(string(scheduler.ReasonOnlyIf))
	return r
}

// Record counts a stored record. It does not block.
func (r *records) Record(rec *scheduler.Record) {
	a := r.actions[rec.Type]
	if a == nil {
		a = r.actions[other]
	}
	switch rec.Outcome {
	case scheduler.OutcomeCompleted:
		a.completed.Inc()
		r.attempt(a, rec)
	case scheduler.OutcomeFailed:
		a.failed.Inc()
		r.attempt(a, rec)
	case scheduler.OutcomeFaulted:
		a.faulted.Inc()
	case scheduler.OutcomePostponed:
		switch {
		case rec.Reason == scheduler.ReasonOnlyIf:
			r.byCondition.Inc()
		case rec.IsAttempt():
			r.byTarget.Inc()
		default:
			r.byCollection.Inc()
		}
	case scheduler.NeverRan: // never recorded
	case scheduler.OutcomeSkipped:
		if c := r.skipped[rec.Reason]; c != nil {
			c.Add(float64(max(rec.Count, 1)))
		}
	}
}

func (r *records) attempt(a *action, rec *scheduler.Record) {
	a.duration.Observe(rec.Duration.Seconds())
	r.lateness.Observe(max(0, rec.Lateness().Seconds()))
	if rec.Attempt > 0 {
		a.retries.Inc()
	}
	if rec.Late {
		r.late.WithLabelValues(rec.Job.Collection).Inc()
	}
}

var requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// apis counts API requests and published specs.
type apis struct {
	requests *prometheus.HistogramVec
	specs    *prometheus.CounterVec
	hooks    *prometheus.CounterVec
}

func newAPIs(f factory) apis {
	a := apis{
		requests: f.NewHistogramVec(histogram(
			"carillon_api_request_duration_seconds", "How long requests to the APIs took, but for live tails.", requestBuckets,
		), []string{"api", "operation", "status"}),
		specs: f.counter("carillon_specs_total", "Processed specs that were published.", "verb", "result"),
		hooks: f.counter("carillon_webhook_requests_total", "Requests for a webhook of a source.", "result"),
	}
	for _, result := range hookResults {
		a.hooks.WithLabelValues(result)
	}
	return a
}

// Requests returns an observer for the requests to an API. It takes the operation (a small fixed set), the HTTP status
// and the duration.
func (a *apis) Requests(api string) func(operation string, status int, took time.Duration) {
	return func(operation string, status int, took time.Duration) {
		a.requests.WithLabelValues(api, operation, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
	}
}

// Spec counts a published spec. verb and result are from small fixed sets.
func (a *apis) Spec(verb, result string) { a.specs.WithLabelValues(verb, result).Inc() }

// Webhook counts a request for the webhook of a source, whose status is the answer's.
func (a *apis) Webhook(status int) {
	result, known := hookResults[status]
	if !known {
		result = other
	}
	a.hooks.WithLabelValues(result).Inc()
}

// hookResults are the results of webhook requests by the status of the answer.
var hookResults = map[int]string{
	http.StatusAccepted: "accepted", http.StatusUnauthorized: "unverified", http.StatusRequestEntityTooLarge: "large",
	http.StatusTooManyRequests: "limited", http.StatusServiceUnavailable: "unavailable",
}

// The kinds of findings of a consistency check.
const (
	mended   = "mended"   // repaired by the check
	damaged  = "damaged"  // a job's stored data cannot be read
	lost     = "lost"     // a definition is missing
	unmended = "unmended" // any other unrepaired problem
)

// audits records the results of consistency checks.
type audits struct {
	runs     *prometheus.CounterVec
	findings *prometheus.GaugeVec
	last     prometheus.Gauge
	took     prometheus.Gauge
}

func newAudits(f factory) audits {
	a := audits{
		runs: f.counter("carillon_audit_runs_total", "Audits of jobs and batons.", "result"),
		findings: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "carillon_audit_findings", Help: "Findings of the last audit.",
		}, []string{"kind"}),
		last: f.NewGauge(prometheus.GaugeOpts{
			Name: "carillon_audit_last_success_timestamp_seconds", Help: "When the last audit ended that saw everything; 0: none has.",
		}),
		took: f.NewGauge(prometheus.GaugeOpts{
			Name: "carillon_audit_duration_seconds", Help: "How long that audit took.",
		}),
	}
	a.runs.WithLabelValues("completed")
	a.runs.WithLabelValues("failed")
	for _, kind := range []string{mended, damaged, lost, unmended} {
		a.findings.WithLabelValues(kind)
	}
	return a
}

// Audited records a consistency check. An interrupted check keeps the previous findings.
func (a *audits) Audited(rep *v1.AuditReport, err error) {
	if err != nil {
		a.runs.WithLabelValues("failed").Inc()
		return
	}
	count := map[string]int{mended: 0, damaged: 0, lost: 0, unmended: 0}
	for _, f := range rep.Findings {
		count[kindOf(f)]++
	}
	for kind, n := range count {
		a.findings.WithLabelValues(kind).Set(float64(n))
	}
	a.runs.WithLabelValues("completed").Inc()
	a.took.Set(time.Duration(rep.Duration).Seconds())
	a.last.SetToCurrentTime()
}

func kindOf(f v1.Finding) string {
	switch {
	case f.Fixed:
		return mended
	case f.Lost:
		return lost
	case f.Damaged:
		return damaged
	}
	return unmended
}
