package storagequeue

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/store"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

const (
	week           = 7 * 24 * 60 * 60 // seconds; the longest visibility timeout and the default time to live
	defaultTimeout = 30               // seconds for which a message is hidden that was taken
	maxMessages    = 32
)

func (c *call) putMessage() error {
	text, ok, err := wire.ParseMessage(c.body)
	if err != nil {
		return err
	}
	if !ok {
		return wire.InvalidXML.With("Reason", "there is no MessageText")
	}
	hidden, err := c.seconds("visibilitytimeout", 0, 0, week)
	if err != nil {
		return err
	}
	expires, err := c.expires(hidden)
	if err != nil {
		return err
	}
	message, err := c.handler.store.Put(c.target.name(), text, c.now.Add(hidden), expires, c.now)
	if err != nil {
		return err
	}
	c.send(http.StatusCreated, wire.Messages(wire.Put, []wire.Message{message}))
	return nil
}

// expires reads when a message ends, which must be after it becomes visible.
func (c *call) expires(hidden time.Duration) (time.Time, error) {
	text := c.query.Get("messagettl")
	seconds, err := c.integer("messagettl", week, -1<<31, 1<<31-1)
	invalid := wire.InvalidParameter.With("QueryParameterName", "messagettl").With("QueryParameterValue", text)
	switch {
	case err != nil:
		return time.Time{}, err
	case seconds == -1:
		return wire.Forever, nil
	case seconds < 1:
		return time.Time{}, invalid.With("Reason", "Value must be greater than or equal to 1, or -1 to indicate an infinite TTL.")
	case text != "" && int(hidden/time.Second) >= seconds:
		return time.Time{}, wire.InvalidParameter.With("QueryParameterName", "visibilitytimeout").
			With("QueryParameterValue", c.query.Get("visibilitytimeout")).
			With("Reason", "messagettl must be greater than visibilitytimeout.")
	}
	expires := c.now.Add(time.Duration(seconds) * time.Second)
	if expires.After(wire.Forever) {
		expires = wire.Forever
	}
	return expires, nil
}

func (c *call) getMessages() error {
	limit, err := c.integer("numofmessages", 1, 1, maxMessages)
	if err != nil {
		return err
	}
	hidden, err := c.seconds("visibilitytimeout", defaultTimeout, 1, week)
	if err != nil {
		return err
	}
	messages, err := c.handler.store.Take(c.target.name(), limit, c.now.Add(hidden), c.now)
	if err != nil {
		return err
	}
	c.send(http.StatusOK, wire.Messages(wire.Taken, messages))
	return nil
}

func (c *call) peekMessages() error {
	limit, err := c.integer("numofmessages", 1, 1, maxMessages)
	if err != nil {
		return err
	}
	messages, err := c.handler.store.Peek(c.target.name(), limit, c.now)
	if err != nil {
		return err
	}
	c.send(http.StatusOK, wire.Messages(wire.Peeked, messages))
	return nil
}

func (c *call) clearMessages() error {
	return c.done(c.handler.store.Clear(c.target.name(), c.now))
}

func (c *call) updateMessage() error {
	receipt, err := c.receipt()
	if err != nil {
		return err
	}
	if !c.query.Has("visibilitytimeout") {
		return wire.MissingParameter.With("QueryParameterName", "visibilitytimeout")
	}
	hidden, err := c.seconds("visibilitytimeout", 0, 0, week)
	if err != nil {
		return err
	}
	text, ok, err := wire.ParseMessage(c.body)
	if err != nil {
		return err
	}
	change := &text
	if !ok {
		change = nil
	}
	message, err := c.handler.store.Update(c.target.name(), c.target.message, receipt, change, c.now.Add(hidden), c.now)
	if errors.Is(err, store.ErrTooLate) {
		return wire.OutOfRangeParameter.With("QueryParameterName", "visibilitytimeout").
			With("QueryParameterValue", strconv.Itoa(int(hidden/time.Second))).
			With("Reason", "The message expires before that.")
	}
	if err != nil {
		return err
	}
	c.w.Header().Set("X-Ms-Popreceipt", message.Receipt)
	c.w.Header().Set("X-Ms-Time-Next-Visible", wire.HTTPTime(message.NextVisible))
	c.send(http.StatusNoContent, nil)
	return nil
}

func (c *call) deleteMessage() error {
	receipt, err := c.receipt()
	if err != nil {
		return err
	}
	return c.done(c.handler.store.Delete(c.target.name(), c.target.message, receipt, c.now))
}

// receipt reads the pop receipt, without which a message cannot be changed.
func (c *call) receipt() (string, error) {
	receipt := c.query.Get("popreceipt")
	if receipt == "" {
		return "", wire.MissingParameter.With("QueryParameterName", "popreceipt")
	}
	return receipt, nil
}
