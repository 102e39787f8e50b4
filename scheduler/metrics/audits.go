package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-sched/carillon/scheduler/view"
)

// The kinds of findings of a consistency check.
const (
	mended   = "mended" // repaired by the check
	damaged  = "damaged" // a job's stored data cannot be read
	lost     = "lost" // a definition is missing
	unmended = "unmended" // any other unrepaired problem
)

// audits records the results of consistency checks.
type audits struct {
	runs     *prometheus.CounterVec
	findings *prometheus.GaugeVec
	last     prometheus.Gauge
	took     prometheus.Gauge
}

func newAudits() audits {
	a := audits{
		runs: counter("carillon_audit_runs_total", "Audits of jobs and batons.", "result"),
		findings: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "carillon_audit_findings", Help: "What the last audit found wrong.",
		}, []string{"kind"}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carillon_audit_last_success_timestamp_seconds", Help: "When the last audit ended that saw everything; 0: none has.",
		}),
		took: prometheus.NewGauge(prometheus.GaugeOpts{
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

func (a *audits) collectors() []prometheus.Collector {
	return []prometheus.Collector{a.runs, a.findings, a.last, a.took}
}

// Audited records a consistency check. An interrupted check keeps the previous findings.
func (a *audits) Audited(rep *view.AuditReport, err error) {
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

func kindOf(f view.Finding) string {
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
