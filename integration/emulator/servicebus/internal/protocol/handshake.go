package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// The SASL mechanisms. MSSBCBS and ANONYMOUS say that tokens come later; EXTERNAL is what some clients choose over TLS.
const (
	anonymous = "ANONYMOUS"
	plain     = "PLAIN"
	mssbcbs   = "MSSBCBS"
	external  = "EXTERNAL"
)

// plainTime is the lifetime of a key given by SASL PLAIN; it outlives every connection.
const plainTime = 100 * 365 * 24 * time.Hour

var errNoHandshake = errors.New("no AMQP handshake")

// handshake runs the exchange of protocol headers, SASL and open. Only this goroutine uses the connection until it returns.
func (c *conn) handshake() error {
	if err := c.socket.SetDeadline(time.Now().Add(c.server.config.HandshakeTimeout)); err != nil {
		return err
	}
	header, err := c.reader.Header()
	if err != nil {
		return err
	}
	if header == amqp.HeaderSASL {
		if err := c.sasl(); err != nil {
			return err
		}
		if header, err = c.reader.Header(); err != nil {
			return err
		}
	}
	if header != amqp.HeaderAMQP {
		_ = c.flush(amqp.HeaderSASL[:], c.patience(false)) // the standard's answer: what would have been understood
		return fmt.Errorf("%w: protocol header %q", errNoHandshake, header[:])
	}
	if err := c.flush(amqp.HeaderAMQP[:], c.patience(false)); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	return c.socket.SetDeadline(time.Time{})
}

// sasl lets the client in by one of the mechanisms.
func (c *conn) sasl() error {
	offer := &amqp.SASLMechanisms{Mechanisms: []amqp.Symbol{mssbcbs, plain, anonymous, external}}
	if err := c.flush(amqp.AppendFrame(amqp.HeaderSASL[:], amqp.FrameSASL, 0, offer, nil), c.patience(false)); err != nil {
		return err
	}
	frame, err := c.reader.Frame()
	if err != nil {
		return err
	}
	if frame.Kind != amqp.FrameSASL {
		return fmt.Errorf("%w: a frame of type %d within SASL", errNoHandshake, frame.Kind)
	}
	performative, err := amqp.DecodeSASL(frame.Body)
	if err != nil {
		return err
	}
	init, ok := performative.(*amqp.SASLInit)
	if !ok {
		return fmt.Errorf("%w: %T where a choice of mechanism is due", errNoHandshake, performative)
	}
	refusal := c.login(init)
	outcome := &amqp.SASLOutcome{}
	if refusal != nil {
		outcome.Code = 1
	}
	if err := c.flush(amqp.AppendFrame(nil, amqp.FrameSASL, 0, outcome, nil), c.patience(false)); err != nil {
		return err
	}
	return refusal
}

// login checks the initial response of a mechanism.
func (c *conn) login(init *amqp.SASLInit) error {
	switch init.Mechanism {
	case anonymous, mssbcbs, external:
		return nil
	case plain:
		parts := bytes.SplitN(init.Response, []byte{0}, 3)
		if len(parts) != 3 {
			return fmt.Errorf("%w: a malformed response to PLAIN", errNoHandshake)
		}
		grant, err := c.server.config.Keys.Password(string(parts[1]), string(parts[2]))
		if err != nil {
			return err
		}
		c.keep(grant.Entity, permit{grant.Rights, time.Now().Add(plainTime)})
		return nil
	default:
		return fmt.Errorf("%w: unknown mechanism %.20q", errNoHandshake, string(init.Mechanism))
	}
}

// open exchanges the performatives that begin a connection.
func (c *conn) open() error {
	frame, err := c.reader.Frame()
	if err != nil {
		return err
	}
	performative, _, err := amqp.Decode(frame.Body)
	if err != nil {
		return err
	}
	peer, ok := performative.(*amqp.Open)
	if !ok || frame.Kind != amqp.FrameAMQP {
		return fmt.Errorf("%w: %T where an open is due", errNoHandshake, performative)
	}
	c.peerFrame = int(min(max(peer.MaxFrameSize, amqp.MinFrameSize), maxFrame))
	c.peerIdle = time.Duration(peer.IdleTimeout) * time.Millisecond
	c.name, c.host = peer.ContainerID, peer.Hostname
	answer := &amqp.Open{
		ContainerID:  c.server.id,
		Hostname:     peer.Hostname,
		MaxFrameSize: maxFrame,
		ChannelMax:   maxChannel,
		IdleTimeout:  uint32(c.server.config.IdleTimeout.Milliseconds()),
		Properties:   amqp.Map{{Key: amqp.Symbol("product"), Value: "Carillon"}},
	}
	return c.flush(amqp.AppendFrame(nil, amqp.FrameAMQP, 0, answer, nil), c.patience(false))
}
