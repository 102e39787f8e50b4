package protocol

import (
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// An entityFeed delivers the messages of an entity, or of one session of it.
type entityFeed struct {
	link     *outgoing
	source   *broker.Source
	receiver *broker.Receiver
}

// receive begins to receive from an entity and answers the link's attach.
func (l *outgoing) receive(p *amqp.Attach, source *broker.Source, locked *broker.Session) error {
	config := broker.ReceiverConfig{Session: locked, Wake: func() {
		l.session.conn.ready.add(l)
		l.session.conn.wake()
	}}
	if l.presettled {
		config.Mode = broker.ReceiveAndDelete
	}
	receiver, err := source.Receive(config)
	if err != nil {
		return err
	}
	l.feed = &entityFeed{link: l, source: source, receiver: receiver}
	l.entity = source.Path()
	var properties amqp.Map
	if locked != nil {
		properties = amqp.Map{{Key: lockedUntil, Value: filter.Ticks(locked.LockedUntil())}}
	}
	l.accept(p, properties)
	return nil
}

func (f *entityFeed) next(buf []byte) (outMessage, bool, error) {
	d, ok := f.receiver.Next(buf)
	if !ok {
		return outMessage{}, false, f.receiver.Err()
	}
	return outMessage{payload: d.Payload, token: d.Token}, true, nil
}

func (f *entityFeed) credit(n uint32) { f.receiver.SetCredit(n) }

func (f *entityFeed) release() { f.receiver.Close() }

// settle carries out the client's verdict.
func (f *entityFeed) settle(d *outDelivery, state amqp.State) {
	c := f.link.session.conn
	c.guard(f.source.Path(), fault.OpSettle, func(err error) {
		var receipt broker.Receipt
		answer := state
		if err == nil {
			receipt, answer, err = f.carryOut(d.token, state)
		}
		c.finish(receipt, err, func(err error) {
			if err != nil {
				c.explain("a settlement", f.source.Path(), err)
				answer = amqp.Rejected{Error: asError(err)}
			}
			d.answer(answer)
		})
	})
}

// carryOut settles a message with the broker and returns the outcome for the client.
func (f *entityFeed) carryOut(token amqp.UUID, state amqp.State) (broker.Receipt, amqp.State, error) {
	var txn *broker.Txn
	verdict := state
	transactional, ok := state.(amqp.Transactional)
	if ok {
		var err error
		if txn, err = f.link.session.conn.txns.find(transactional.TxnID); err != nil {
			return broker.Receipt{}, nil, err
		}
		verdict = transactional.Outcome
	}
	outcome, answer := outcomeOf(verdict)
	receipt, err := f.source.Settle(token, outcome, txn)
	if ok {
		answer = amqp.Transactional{TxnID: transactional.TxnID, Outcome: answer}
	}
	return receipt, answer, err
}

// outcomeOf translates a verdict to the broker's terms, and to the answer that clients understand as success: an error that is
// sent back, for one, would not be.
func outcomeOf(verdict amqp.State) (broker.Outcome, amqp.State) {
	switch verdict := verdict.(type) {
	case amqp.Accepted:
		return broker.Outcome{Kind: broker.Complete}, verdict
	case amqp.Modified:
		outcome := broker.Outcome{Kind: broker.Abandon, Properties: asProperties(verdict.Annotations)}
		if verdict.UndeliverableHere {
			outcome.Kind = broker.Defer
		}
		return outcome, amqp.Modified{DeliveryFailed: verdict.DeliveryFailed, UndeliverableHere: verdict.UndeliverableHere}
	case amqp.Rejected:
		return deadLetter(verdict.Error), amqp.Rejected{}
	default:
		return broker.Outcome{Kind: broker.Release}, amqp.Released{}
	}
}

// deadLetter is the outcome of a rejection.
func deadLetter(e *amqp.Error) broker.Outcome {
	outcome := broker.Outcome{Kind: broker.MoveDeadLetter}
	if e == nil {
		return outcome
	}
	if e.Condition != broker.DeadLetter {
		outcome.Reason, outcome.Description = string(e.Condition), e.Description
	}
	for _, pair := range asProperties(e.Info) {
		text, isText := pair.Value.(string)
		switch {
		case pair.Key == broker.ReasonKey && isText:
			outcome.Reason = text
		case pair.Key == broker.DescriptionKey && isText:
			outcome.Description = text
		default:
			outcome.Properties = append(outcome.Properties, pair)
		}
	}
	return outcome
}

// asProperties returns the entries of a map with names, as application properties have them.
func asProperties(m amqp.Map) amqp.Map {
	properties := make(amqp.Map, 0, len(m))
	for _, pair := range m {
		switch key := pair.Key.(type) {
		case string:
			properties = append(properties, pair)
		case amqp.Symbol:
			properties = append(properties, amqp.Pair{Key: string(key), Value: pair.Value})
		}
	}
	return properties
}
