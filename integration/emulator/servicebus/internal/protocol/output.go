package protocol

import (
	"io"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// The bounds of what waits to be written to one client.
const (
	// fullOutput stops the making of deliveries.
	fullOutput = 256 << 10
	// overfullOutput stops the reading of frames, whose answers come on top of the deliveries.
	overfullOutput = 1 << 20
	// keptOutput limits the buffer that is reused between writes.
	keptOutput = 64 << 10
)

// send appends a frame to the output. The caller holds c.mu.
func (c *conn) send(channel uint16, p amqp.Performative, payload []byte) {
	if !c.closing {
		c.out = amqp.AppendFrame(c.out, amqp.FrameAMQP, channel, p, payload)
	}
}

// wake lets the writer look for something to do. It never blocks.
func (c *conn) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// awaitSpace blocks while the client does not read its input, or the broker does not accept the client's messages. The
// caller holds c.mu.
func (c *conn) awaitSpace() {
	for (len(c.out) > overfullOutput || c.underway > maxUnderway) && !c.closing {
		c.wake() // there may have been no reason yet
		c.space.Wait()
	}
}

// write writes the output until the connection closes, and makes deliveries as fast as the client takes them.
func (c *conn) write() {
	defer close(c.written)
	defer c.socket.Close()
	beat := time.NewTimer(c.beat())
	defer beat.Stop()
	var spare []byte
	for {
		select {
		case <-c.woken:
		case <-beat.C:
			c.mu.Lock()
			if len(c.out) == 0 {
				c.out = amqp.AppendFrame(c.out, amqp.FrameAMQP, 0, nil, nil)
			}
			c.mu.Unlock()
		}
		for {
			batch, last := c.collect(spare)
			if len(batch) > 0 {
				if err := c.flush(batch, c.patience(last)); err != nil {
					c.abort()
					return
				}
			}
			if last {
				c.linger()
				return
			}
			if spare = batch[:0]; cap(spare) > keptOutput {
				spare = nil
			}
			if len(batch) == 0 {
				break
			}
		}
		beat.Reset(c.beat())
	}
}

// collect makes the deliveries that are due and takes the output. It reports whether it is the last.
func (c *conn) collect(spare []byte) (batch []byte, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range c.completed.take() {
		end()
	}
	if !c.closing {
		c.deliver()
	}
	batch, c.out = c.out, spare
	c.space.Broadcast()
	return batch, c.closing
}

// linger reads for a moment after the last write: closing a socket with unread input makes the client lose its own
// unread input, including the reason for the end.
func (c *conn) linger() {
	if c.socket.SetReadDeadline(time.Now().Add(lingering)) == nil {
		_, _ = io.Copy(io.Discard, c.socket)
	}
}

// patience limits the wait for the client to read.
func (c *conn) patience(last bool) time.Duration {
	if last {
		return min(grace, c.server.config.WriteTimeout)
	}
	return c.server.config.WriteTimeout
}

// flush writes one batch to the client, which must take it in time.
func (c *conn) flush(batch []byte, timeout time.Duration) error {
	if err := c.socket.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, err := c.socket.Write(batch)
	return err
}

// beat is the interval of heartbeats: half of the client's idle timeout.
func (c *conn) beat() time.Duration {
	if c.peerIdle == 0 {
		return time.Minute
	}
	return max(c.peerIdle/2, 10*time.Millisecond)
}

// completions are callbacks for finished writes of the broker. Adding one takes no other lock, so the broker may add it
// under any lock; the writer runs them.
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

// finish calls end with the result of a broker operation: immediately if err is set or the receipt is done, and after
// the write otherwise. c.mu is held during finish and end.
func (c *conn) finish(receipt broker.Receipt, err error, end func(error)) {
	if err != nil || receipt.Done() {
		end(broker.Written(receipt, err))
		return
	}
	receipt.Then(func(err error) {
		c.completed.add(func() { end(err) })
		c.wake()
	})
}

// readyLinks are the links of a connection that may have deliveries. Adding one takes no other lock, so the broker may
// add it under any lock.
type readyLinks struct {
	mu    sync.Mutex
	links []*outgoing
}

// add puts a link in, once.
func (r *readyLinks) add(l *outgoing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.queued {
		l.queued = true
		r.links = append(r.links, l)
	}
}

// take returns the links and leaves none.
func (r *readyLinks) take(reuse []*outgoing) []*outgoing {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.links
	for _, l := range taken {
		l.queued = false
	}
	clear(reuse)
	r.links = reuse[:0]
	return taken
}
