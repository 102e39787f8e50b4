package storagequeue

import (
	"net/http"

	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

const metricPrefix = "carillon_emulator_storagequeue_"

// isMetrics reports whether a request is for the metrics. One for an account of the name has a query.
func (c *call) isMetrics() bool {
	return c.r.Method == http.MethodGet && c.r.URL.Path == "/metrics" && c.r.URL.RawQuery == ""
}

// metrics answers with numbers for Prometheus, for whoever asks.
func (c *call) metrics() error {
	if h := c.handler; h.answers != nil && !h.answers(c.r.Host) {
		return wire.UnknownHost
	}
	messages := exposition.Metric{
		Name: metricPrefix + "messages", Kind: exposition.Gauge, Help: "Messages in a queue, visible or not.",
	}
	for _, q := range c.handler.store.Counts(c.now) {
		messages.Add(float64(q.Messages), "account", q.Account, "queue", q.Queue)
	}
	c.status = http.StatusOK
	exposition.Write(c.w, messages, c.handler.requests.Metric(metricPrefix+"http_requests_total"))
	return nil
}
