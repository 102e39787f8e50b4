package protocol

import (
	"fmt"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// maxBatch is how many messages one transfer may hold.
const maxBatch = 10_000

// An entitySink sends messages to an entity.
type entitySink struct {
	conn   *conn
	target *broker.Target
	parsed []amqp.Message // kept for its memory
}

func (s *entitySink) release() {}

// take sends one message, or those of a batch.
func (s *entitySink) take(d *inDelivery) {
	s.conn.guard(s.target.Path(), fault.OpSend, func(err error) {
		var receipt broker.Receipt
		if err == nil {
			receipt, err = s.send(d)
		}
		s.conn.finish(receipt, err, d.end)
	})
}

func (s *entitySink) send(d *inDelivery) (broker.Receipt, error) {
	txn, err := s.conn.txns.find(d.txn)
	if err != nil {
		return broker.Receipt{}, err
	}
	messages, err := parseMessages(s.parsed[:0], d)
	if err != nil {
		return broker.Receipt{}, err
	}
	receipt, err := s.target.Send(messages, txn)
	clear(messages)
	if cap(messages) <= 64 {
		s.parsed = messages
	}
	return receipt, err
}

// parseMessages returns the message of a transfer, or those of a batch.
func parseMessages(dst []amqp.Message, d *inDelivery) ([]amqp.Message, error) {
	m, err := amqp.ParseMessage(d.payload)
	if err != nil {
		return nil, undecodable(err)
	}
	if d.format != amqp.BatchFormat {
		return append(dst, m), nil
	}
	sections := m.Data()
	if len(sections) == 0 || len(sections) > maxBatch {
		return nil, &amqp.Error{
			Condition: condInvalid, Description: fmt.Sprintf("a batch of %d messages is not between 1 and %d", len(sections), maxBatch),
		}
	}
	for _, section := range sections {
		m, err := amqp.ParseMessage(section)
		if err != nil {
			return nil, undecodable(err)
		}
		dst = append(dst, m)
	}
	return dst, nil
}
