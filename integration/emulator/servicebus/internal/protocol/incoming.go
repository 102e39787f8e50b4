package protocol

import (
	"bytes"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// linkCredit limits the unsettled messages of a client on one link.
const linkCredit = 1000

// An incoming link carries messages from the client. Its fields are guarded by conn.mu.
type incoming struct {
	*link

	sink     sink
	maxSize  int
	open     map[*inDelivery]bool // messages that have no answer yet
	assembly *inDelivery
}

// A sink takes the messages of an incoming link.
type sink interface {
	// take processes the message and calls d.answer once, immediately or later.
	take(d *inDelivery)
	// release releases the resources of the sink.
	release()
}

// An inDelivery is a message from the client.
type inDelivery struct {
	link    *incoming
	id      uint32
	format  uint32
	settled bool // the client wants no answer
	txn     []byte
	payload []byte
	aborted bool
	whole   bool
}

// transfer takes one frame of a message.
func (l *incoming) transfer(p *amqp.Transfer, payload []byte) {
	if l.refused {
		return
	}
	if l.assembly == nil {
		if l.credit == 0 {
			l.detach(amqp.Errorf(condOverCredit, "a transfer without credit"))
			return
		}
		if !p.DeliveryID.Present {
			l.detach(amqp.Errorf(broker.InvalidField, "a transfer without a delivery id"))
			return
		}
		l.credit--
		l.deliveryCount++
		l.assembly = &inDelivery{link: l, id: p.DeliveryID.Value, format: p.MessageFormat.Value}
		l.open[l.assembly] = true
	}
	d := l.assembly
	d.settled = d.settled || p.Settled
	if state, ok := p.State.(amqp.Transactional); ok {
		d.txn = bytes.Clone(state.TxnID)
	}
	switch {
	case p.Aborted:
		d.aborted = true
	case len(d.payload)+len(payload) > l.maxSize:
		l.detachTooLarge(d)
		return
	default:
		d.payload = append(d.payload, payload...)
		l.session.conn.held += len(payload)
	}
	if p.More && !p.Aborted {
		return
	}
	l.assembly = nil
	if d.aborted {
		l.closed(d)
		return
	}
	d.whole = true
	l.session.conn.underway += len(d.payload)
	l.sink.take(d)
}

// detachTooLarge refuses a message that is larger than the link allows. The message is rejected for clients that look at that, and
// the link ends, because the rest of the message may still be on its way.
func (l *incoming) detachTooLarge(d *inDelivery) {
	reason := amqp.Errorf(broker.MessageSizeExceeded, "The message exceeds the maximum size of %d bytes.", l.maxSize)
	l.assembly = nil
	d.end(reason)
	l.detach(reason)
}

// end reports that the message was accepted, or why not. The caller holds conn.mu.
func (d *inDelivery) end(err error) {
	if err != nil {
		d.link.session.conn.explain("a message", d.link.entity, err)
		d.answer(amqp.Rejected{Error: asError(err)})
	} else {
		d.answer(amqp.Accepted{})
	}
}

// answer ends the delivery with its outcome. The caller holds conn.mu.
func (d *inDelivery) answer(state amqp.State) {
	s := d.link.session
	s.conn.drop(d)
	if s.ended || s.links[d.link.handle] != d.link || d.link.refused {
		return // the link has ended meanwhile
	}
	if !d.settled {
		if d.txn != nil {
			if _, declared := state.(amqp.Rejected); !declared {
				state = amqp.Transactional{TxnID: d.txn, Outcome: state}
			}
		}
		s.conn.send(s.channel, &amqp.Disposition{Receiver: true, First: d.id, Last: d.id, Settled: true, State: state}, nil)
	}
	d.link.closed(d)
}

// drop stops counting the memory of a message.
func (c *conn) drop(d *inDelivery) {
	c.held -= len(d.payload)
	if d.whole {
		c.underway -= len(d.payload)
		c.space.Broadcast()
	}
	d.payload = nil
}

// closed counts a message as done with and gives the client new credit when it has used half.
func (l *incoming) closed(d *inDelivery) {
	l.session.conn.drop(d)
	delete(l.open, d)
	if l.credit+uint32(len(l.open)) <= linkCredit/2 {
		l.grant()
	}
}

// grant lets the client send what makes linkCredit messages under way.
func (l *incoming) grant() {
	l.credit = linkCredit - uint32(len(l.open))
	l.sendFlow(func(*amqp.Flow) {})
}

// stop rejects the deliveries in progress and ends the link of a server that stops. JavaScript's clients wait for the
// disposition of a message even after the link and the connection have ended.
func (l *incoming) stop(reason error) {
	for d := range l.open {
		if d.whole {
			d.end(reason)
		}
	}
	l.detach(reason)
}

// detach ends the link for the server.
func (l *incoming) detach(err error) { l.session.detach(l, err) }

// release releases the resources of the link.
func (l *incoming) release() {
	if l.assembly != nil {
		l.session.conn.drop(l.assembly)
		l.assembly = nil
	}
	if l.sink != nil {
		l.sink.release()
		l.sink = nil
	}
}

// maxBatch limits the messages of one transfer.
const maxBatch = 10_000

// An entitySink sends messages to an entity.
type entitySink struct {
	conn   *conn
	target *broker.Target
	parsed []amqp.Message // kept for its memory
}

func (s *entitySink) release() {}

// take sends one message, or the messages of a batch.
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

// parseMessages returns the message of a transfer, or the messages of a batch.
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
		return nil, amqp.Errorf(broker.InvalidField, "a batch of %d messages is not between 1 and %d", len(sections), maxBatch)
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
