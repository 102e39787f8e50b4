// Package exposition shows the numbers of an emulator to Prometheus.
package exposition

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the metrics of one emulator.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	handler  http.Handler
}

// New returns metrics whose names begin with a prefix. There is one, which [Metrics.Counting] counts:
// <prefix>http_requests_total, with the labels code and method.
func New(prefix string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), requests: prometheus.NewCounterVec(
		prometheus.CounterOpts{Name: prefix + "http_requests_total", Help: "HTTP requests by status and method."},
		[]string{"code", "method"},
	)}
	m.registry.MustRegister(m.requests)
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

// Collect registers read to provide more metrics at each scrape. Call it before the first request.
func (m *Metrics) Collect(read func(chan<- prometheus.Metric)) {
	m.registry.MustRegister(collector(read))
}

// Counting returns a handler that counts what another answers.
func (m *Metrics) Counting(next http.Handler) http.Handler {
	return promhttp.InstrumentHandlerCounter(m.requests, next)
}

// ServeHTTP answers with all metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// Gauge describes a number that goes up and down, by labels.
func Gauge(name, help string, labels ...string) func(value float64, of ...string) prometheus.Metric {
	desc := prometheus.NewDesc(name, help, labels, nil)
	return func(value float64, of ...string) prometheus.Metric {
		return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, of...)
	}
}

// collector collects metrics that are not known in advance.
type collector func(chan<- prometheus.Metric)

// Describe says nothing: what there is depends on the entities.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the current metrics.
func (c collector) Collect(to chan<- prometheus.Metric) { c(to) }
