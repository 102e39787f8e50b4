package rest

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// How long a receiver waits.
const (
	defaultTimeout = 60 * time.Second
	maxTimeout     = time.Hour
)

// maxIgnored limits a body without meaning.
const maxIgnored = 64 << 10

// timeout returns how long the client wants to wait.
func (c *call) timeout() (time.Duration, error) {
	text := c.r.URL.Query().Get("timeout")
	if text == "" {
		return defaultTimeout, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds < 0 || math.IsNaN(seconds) {
		return 0, badRequest(fmt.Sprintf("timeout: %.100q is no number of seconds.", text))
	}
	return time.Duration(min(seconds, maxTimeout.Seconds()) * float64(time.Second)), nil
}

func (c *call) receiveAndDelete() error { return c.receive(broker.ReceiveAndDelete) }

func (c *call) receiveAndLock() error { return c.receive(broker.PeekLock) }

// receive waits for a message and answers with it, or that there was none in time.
func (c *call) receive(mode broker.Mode) error {
	timeout, err := c.timeout()
	if err != nil {
		return err
	}
	// net/http detects a disconnect only after it has read the whole request.
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(c.w, c.r.Body, maxIgnored)); err != nil {
		return badRequest("The body could not be read: " + err.Error())
	}
	source, err := c.broker.Source(c.path)
	if err != nil {
		return err
	}
	woken := make(chan struct{}, 1)
	receiver, err := source.Receive(broker.ReceiverConfig{Mode: mode, Wake: func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		return err
	}
	defer receiver.Close()
	receiver.SetCredit(1)
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{}) // the request has been read, and may wait longer
	expired := time.NewTimer(timeout)
	defer expired.Stop()
	for {
		if c.r.Context().Err() != nil {
			return nil // the client has disconnected
		}
		if d, ok := receiver.Next(nil); ok {
			return c.answer(d, source.Path())
		}
		if err := receiver.Err(); err != nil {
			return err
		}
		select {
		case <-woken:
		case <-c.r.Context().Done():
		case <-expired.C:
			c.w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
}

// answer writes a message. A locked message comes with the URL of its lock.
func (c *call) answer(d broker.Delivery, path string) error {
	m, err := amqp.ParseMessage(d.Payload)
	if err != nil {
		return err
	}
	status, header := http.StatusOK, c.w.Header()
	setCustom(header, m.ApplicationProperties())
	header[propertiesHeader] = []string{taken(m, d.Sequence, d.Token, d.LockedUntil)} // as the service spells it
	header.Set("Content-Type", contentType)
	if kind := m.Properties().ContentType; kind != "" {
		header.Set("Content-Type", printable(kind))
	}
	if d.Token != (amqp.UUID{}) {
		status = http.StatusCreated
		at := url.URL{Scheme: c.scheme(), Host: c.r.Host, Path: fmt.Sprintf("/%s/messages/%d/%s", path, d.Sequence, d.Token)}
		header.Set("Location", at.String())
	}
	c.w.WriteHeader(status)
	_ = http.NewResponseController(c.w).Flush() // chunked, without Content-Length, which old clients take for a property
	_, _ = c.w.Write(body(m))                   // the client may have disconnected
	return nil
}

// scheme is the scheme of URLs for the client.
func (c *call) scheme() string {
	if c.r.TLS == nil {
		return "http"
	}
	return "https"
}

// body returns the content of a message: its bytes, or the text of a value.
func body(m amqp.Message) []byte {
	if value, ok := m.Value(); ok {
		switch v := value.(type) {
		case nil:
			return nil
		case []byte:
			return v
		default:
			return fmt.Append(nil, v)
		}
	}
	return bytes.Join(m.Data(), nil)
}

func (c *call) complete() error { return c.settle(broker.Complete) }

func (c *call) unlock() error { return c.settle(broker.Abandon) }

// settle ends a lock.
func (c *call) settle(kind broker.OutcomeKind) error {
	source, err := c.locked()
	if err != nil {
		return err
	}
	return c.done(broker.Written(source.Settle(c.token, broker.Outcome{Kind: kind}, nil)))
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
		return nil, amqp.Errorf(broker.MessageNotFound, "No message with the id %q has the lock.", c.id)
	}
	return source, nil
}
