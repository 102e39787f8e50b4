package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// MetricPrefix is what the names of all metrics begin with.
const MetricPrefix = "carillon_emulator_servicebus_"

var (
	messagesMetric = exposition.Gauge(MetricPrefix+"messages", "Messages in an entity, by state. Active are locked ones too.",
		"entity", "state")
	sizeMetric        = exposition.Gauge(MetricPrefix+"size_bytes", "Bytes of all messages in an entity.", "entity")
	receiversMetric   = exposition.Gauge(MetricPrefix+"receivers", "Open receivers of an entity.", "entity")
	connectionsMetric = exposition.Gauge(MetricPrefix+"connections", "Open connections of AMQP.")
	operationsMetric  = exposition.Counter(MetricPrefix+"operations_total",
		"Messages sent, received and settled, by outcome: ok or the condition of the error.", "operation", "outcome")
)

// collect tells of the entities, the connections and the operations.
func (h *handler) collect(to chan<- prometheus.Metric) {
	for _, info := range h.broker.Entities() {
		collectUsage(to, info.Path, info.Usage)
	}
	to <- connectionsMetric(float64(h.connections.Connections()))
	for _, t := range h.broker.Tallies() {
		to <- operationsMetric(float64(t.Messages), t.Operation, t.Outcome)
	}
}

// collectUsage tells of what is in an entity, and of who receives from it.
func collectUsage(to chan<- prometheus.Metric, path string, u broker.Usage) {
	for _, count := range []struct {
		state string
		n     int64
	}{
		{"active", u.Counts.Active},
		{"dead_letter", u.Counts.DeadLetter},
		{"scheduled", u.Counts.Scheduled},
		{"transfer", u.Counts.Transfer},
		{"transfer_dead_letter", u.Counts.TransferDeadLetter},
	} {
		to <- messagesMetric(float64(count.n), path, count.state)
	}
	to <- sizeMetric(float64(u.Size), path)
	to <- receiversMetric(float64(u.Receivers), path)
}
