package rest

import (
	"net/http"
	"strconv"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

func (c *call) complete() error { return c.settle(broker.Complete) }

func (c *call) unlock() error { return c.settle(broker.Abandon) }

// settle ends a lock.
func (c *call) settle(kind broker.OutcomeKind) error {
	source, err := c.locked()
	if err != nil {
		return err
	}
	receipt, err := source.Settle(c.token, broker.Outcome{Kind: kind}, nil)
	if err == nil {
		err = receipt.Wait()
	}
	return c.done(err)
}

// renew prolongs a lock.
func (c *call) renew() error {
	source, err := c.locked()
	if err != nil {
		return err
	}
	_, err = source.Renew(c.token)
	return c.done(err)
}

func (c *call) done(err error) error {
	if err == nil {
		c.w.Header().Set("Content-Type", contentType)
		c.w.WriteHeader(http.StatusOK)
	}
	return err
}

// locked returns where the message is that the request names, by its lock and by its id or sequence number.
func (c *call) locked() (*broker.Source, error) {
	source, err := c.broker.Source(c.path)
	if err != nil {
		return nil, err
	}
	d, err := source.Locked(c.token)
	if err != nil {
		return nil, err
	}
	m, err := amqp.ParseMessage(d.Payload)
	if err != nil {
		return nil, err
	}
	if c.id != strconv.FormatInt(d.Sequence, 10) && c.id != amqp.IDString(m.Properties().MessageID) {
		return nil, &amqp.Error{
			Condition: broker.MessageNotFound, Description: "No message with the id " + strconv.Quote(c.id) + " has the lock.",
		}
	}
	return source, nil
}
