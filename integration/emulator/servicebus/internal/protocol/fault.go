package protocol

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// guard carries out an operation, or what has been ordered to go wrong with it: it calls proceed with nil or an error, now or after
// a delay, or cuts the connection. The caller holds c.mu, and so does whoever calls proceed.
func (c *conn) guard(entity string, operation fault.Operation, proceed func(error)) {
	befallen, ok := c.server.config.Broker.Faults().Take(entity, operation)
	switch {
	case !ok:
		proceed(nil)
	case befallen.Delay > 0:
		c.later(befallen.Delay, func() { c.suffer(befallen, proceed) })
	default:
		c.suffer(befallen, proceed)
	}
}

func (c *conn) suffer(befallen fault.Fault, proceed func(error)) {
	if befallen.Drop {
		c.cut()
		return
	}
	proceed(befallen.Err())
}

// later calls f with c.mu held after a delay, unless the connection ends before.
func (c *conn) later(delay time.Duration, f func()) *time.Timer {
	return time.AfterFunc(delay, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closing {
			f()
			c.wake()
		}
	})
}
