package protocol

import (
	"sync"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// completions are the ends of what the broker had to write first. Adding to them takes no other lock, so that the broker may do it
// whatever it holds; the writer carries them out.
type completions struct {
	mu   sync.Mutex
	ends []func()
}

func (c *completions) add(end func()) {
	c.mu.Lock()
	c.ends = append(c.ends, end)
	c.mu.Unlock()
}

func (c *completions) take() []func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	ends := c.ends
	c.ends = nil
	return ends
}

// finish calls end with the result of what the broker was asked to do: at once if err says that it failed or the receipt that it is
// done, and later if it is still to be written. The caller holds c.mu, and so does whoever calls end.
func (c *conn) finish(receipt broker.Receipt, err error, end func(error)) {
	if err != nil || receipt.Done() {
		if err == nil {
			err = receipt.Wait()
		}
		end(err)
		return
	}
	receipt.Then(func(err error) {
		c.completed.add(func() { end(err) })
		c.wake()
	})
}
