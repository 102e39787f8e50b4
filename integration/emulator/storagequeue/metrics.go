package storagequeue

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

const metricPrefix = "carillon_emulator_storagequeue_"

var messagesMetric = exposition.Gauge(metricPrefix+"messages", "Messages in a queue, visible or not.", "account", "queue")

// isMetrics reports whether a request is for the metrics. One for an account of the name has a query.
func (c *call) isMetrics() bool {
	return c.r.Method == http.MethodGet && c.r.URL.Path == "/metrics" && c.r.URL.RawQuery == ""
}

// metrics answers with numbers for Prometheus, for whoever asks.
func (c *call) metrics() error {
	if h := c.handler; h.answers != nil && !h.answers(c.r.Host) {
		return wire.UnknownHost
	}
	c.status = http.StatusOK
	c.handler.metrics.ServeHTTP(c.w, c.r)
	return nil
}

// collect tells of the messages in each queue.
func (h *Handler) collect(to chan<- prometheus.Metric) {
	for _, q := range h.store.Counts(time.Now()) {
		to <- messagesMetric(float64(q.Messages), q.Account, q.Queue)
	}
}
