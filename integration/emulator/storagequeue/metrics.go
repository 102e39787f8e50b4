package storagequeue

import (
	"net/http"

	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
)

const metricPrefix = "carillon_emulator_storagequeue_"

// metrics answers with numbers for Prometheus, for whoever asks.
func (c *call) metrics() {
	messages := exposition.Metric{
		Name: metricPrefix + "messages", Kind: exposition.Gauge, Help: "Messages in a queue, visible or not.",
	}
	for _, q := range c.handler.store.Counts(c.now) {
		messages.Add(float64(q.Messages), "account", q.Account, "queue", q.Queue)
	}
	c.status = http.StatusOK
	exposition.Write(c.w, messages, c.handler.requests.Metric(metricPrefix+"http_requests_total"))
}
