package admin

import (
	"net/http"

	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// metricPrefix is what the names of all metrics begin with.
const metricPrefix = "carillon_emulator_servicebus_"

// metrics answers with numbers for Prometheus. Like those of /health they are for whoever asks.
func (h *handler) metrics(w http.ResponseWriter) {
	messages := exposition.Metric{
		Name: metricPrefix + "messages", Kind: exposition.Gauge, Help: "Messages in an entity, by state. Active are locked ones too.",
	}
	size := exposition.Metric{Name: metricPrefix + "size_bytes", Kind: exposition.Gauge, Help: "Bytes of all messages in an entity."}
	receivers := exposition.Metric{Name: metricPrefix + "receivers", Kind: exposition.Gauge, Help: "Open receivers of an entity."}
	add := func(path string, u broker.Usage) {
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
			messages.Add(float64(count.n), "entity", path, "state", count.state)
		}
		size.Add(float64(u.Size), "entity", path)
		receivers.Add(float64(u.Receivers), "entity", path)
	}
	for _, q := range h.broker.Queues() {
		add(q.Name, q.Usage)
	}
	for _, topic := range h.broker.Topics() {
		add(topic.Name, topic.Usage)
		subscriptions, err := h.broker.Subscriptions(topic.Name)
		if err != nil {
			continue // deleted meanwhile
		}
		for _, s := range subscriptions {
			add(s.Topic+"/Subscriptions/"+s.Name, s.Usage)
		}
	}
	connections := exposition.Metric{Name: metricPrefix + "connections", Kind: exposition.Gauge, Help: "Open connections of AMQP."}
	connections.Add(float64(h.connections.Connections()))
	operations := exposition.Metric{
		Name: metricPrefix + "operations_total", Kind: exposition.Counter,
		Help: "Messages sent, received and settled, by outcome: ok or the condition of the error.",
	}
	for _, t := range h.broker.Tallies() {
		operations.Add(float64(t.Messages), "operation", t.Operation, "outcome", t.Outcome)
	}
	exposition.Write(w, messages, size, receivers, connections, operations, h.requests.Metric(metricPrefix+"http_requests_total"))
}
