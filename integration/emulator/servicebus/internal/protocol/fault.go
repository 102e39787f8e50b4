package protocol

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// guard carries out an operation, or what has been ordered to go wrong with it: it calls proceed with nil or an error, now or after
// a delay, or cuts the connection. The caller holds c.mu, and so does whoever calls proceed.
func (c *conn) guard(entity string, operation broker.Operation, proceed func(error)) {
	fault, ok := c.server.config.Broker.Faults().Take(entity, operation)
	switch {
	case !ok:
		proceed(nil)
	case fault.Delay > 0:
		c.later(fault.Delay, func() { c.suffer(fault, proceed) })
	default:
		c.suffer(fault, proceed)
	}
}

func (c *conn) suffer(fault broker.Fault, proceed func(error)) {
	if fault.Drop {
		c.cut()
		return
	}
	proceed(fault.Err())
}

// later calls f with c.mu held after a delay, unless the connection ends before.
func (c *conn) later(delay time.Duration, f func()) {
	time.AfterFunc(delay, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closing {
			f()
			c.wake()
		}
	})
}
