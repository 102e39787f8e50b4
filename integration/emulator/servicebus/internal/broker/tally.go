package broker

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"
)

// An operation is what the tally tells apart.
type operation uint8

const (
	sendOperation operation = iota
	receiveOperation
	settleOperations // those of settling follow in the order of [OutcomeKind]
)

const operations = settleOperations + operation(MoveDeadLetter) + 1

// String is the name of the operation in metrics.
func (o operation) String() string {
	return [...]string{"send", "receive", "complete", "abandon", "release", "defer", "dead_letter"}[o]
}

// A tally counts messages by operation and outcome: "ok", or the condition of the error.
type tally struct {
	all  *prometheus.CounterVec
	good [operations]prometheus.Counter
}

func newTally() (t tally) {
	t.all = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "carillon_emulator_servicebus_operations_total",
		Help: "Messages sent, received and settled, by outcome: ok or the condition of the error.",
	}, []string{"operation", "outcome"})
	for o := range operations {
		t.good[o] = t.all.WithLabelValues(o.String(), "ok")
	}
	return t
}

// count counts n messages that an operation was about, and its outcome.
func (t *tally) count(o operation, n int, err error) {
	if err == nil {
		t.good[o].Add(float64(n))
		return
	}
	t.all.WithLabelValues(o.String(), cmp.Or(string(Condition(err)), string(InternalError))).Add(float64(n))
}

// Operations counts the messages sent, received and settled since the broker started.
func (b *Broker) Operations() prometheus.Collector { return b.tally.all }
