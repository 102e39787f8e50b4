package protocol

import (
	"bytes"
	"encoding/binary"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// An outgoing link carries messages to the client. Its fields are guarded by conn.mu, but for queued.
type outgoing struct {
	*link // whose entity is empty for answers

	presettled bool
	feed       feed
	addresses  []string // under which conn.replies has the link
	drain      bool
	skipped    skipped
	partial    *partial

	queued bool // guarded by readyLinks.mu
}

// A feed has the messages of an outgoing link.
type feed interface {
	// next returns the next message, or false for none at the moment; the feed then adds the link to conn.ready later.
	// The payload may be in buf. An error is final.
	next(buf []byte) (outMessage, bool, error)
	// settle takes the client's verdict on a message that is not settled yet, and reports the outcome through d.
	settle(d *outDelivery, state amqp.State)
	// release releases the resources of the feed.
	release()
}

// A rationed feed needs the number of messages that may be requested.
type rationed interface {
	credit(n uint32)
}

// An outMessage is a message for the client.
type outMessage struct {
	payload []byte
	token   amqp.UUID // what settles it
}

// partial is a message that has been sent in part.
type partial struct {
	transfer amqp.Transfer
	payload  []byte
	kept     bool // the payload is not in conn.scratch
}

// An outDelivery is a message that the client has and that is not settled.
type outDelivery struct {
	link    *outgoing
	id      uint32
	token   amqp.UUID
	settled bool // by the client: it wants no answer
	pending bool // a verdict is being carried out
}

// flow takes note of the client's credit.
func (l *outgoing) flow(p *amqp.Flow) {
	if l.refused {
		return
	}
	if !p.LinkCredit.Present || p.LinkCredit.Value == 0 || l.entity == "" {
		l.allow(p)
		return
	}
	l.session.conn.guard(l.entity, fault.OpReceive, func(err error) {
		if err != nil {
			l.detach(err)
			return
		}
		l.allow(p)
	})
}

// allow gives the link the credit of a flow.
func (l *outgoing) allow(p *amqp.Flow) {
	if l.feed == nil {
		return // detached meanwhile
	}
	if p.LinkCredit.Present {
		l.credit = p.LinkCredit.Value
		if p.DeliveryCount.Present { // messages in flight use up credit
			l.credit -= min(l.skipped.onTheWay(l.deliveryCount, p.DeliveryCount.Value), l.credit)
		}
		l.ration()
	}
	l.drain = p.Drain
	l.session.conn.ready.add(l)
	if p.Echo && !p.Drain {
		l.sendFlow()
	}
}

// ration passes the link's credit to the feed.
func (l *outgoing) ration() {
	if feed, ok := l.feed.(rationed); ok {
		feed.credit(l.credit)
	}
}

func (l *outgoing) sendFlow() {
	l.link.sendFlow(func(p *amqp.Flow) { p.Available, p.Drain = amqp.Some(0), l.drain })
}

// deliver makes the deliveries that credit, windows and the client's pace allow. The caller holds c.mu.
func (c *conn) deliver() {
	c.taken = c.ready.take(c.taken)
	for i, l := range c.taken {
		if l.feed == nil || l.refused || l.fill() {
			continue
		}
		for _, held := range c.taken[i+1:] { // the output is full: continue after the write, with another link
			c.ready.add(held)
		}
		c.ready.add(l)
		c.wake()
		return
	}
}

// fill makes deliveries until the link has no more to give or may not, and returns false if the output is full before.
func (l *outgoing) fill() bool {
	c := l.session.conn
	for {
		if l.partial != nil && !l.resume() {
			return l.session.peerWindow == 0 // a new window makes it ready again
		}
		if len(c.out) >= fullOutput {
			return false
		}
		if l.session.peerWindow == 0 || len(l.session.unsettled) >= maxUnsettled {
			return true // more of either makes the link ready again
		}
		if l.credit == 0 {
			l.drained()
			return true
		}
		message, ok, err := l.feed.next(c.scratch)
		if err != nil {
			l.detach(err)
			return true
		}
		if !ok {
			l.drained()
			return true
		}
		if size := cap(message.payload); size > cap(c.scratch) && size <= maxFrame {
			c.scratch = message.payload[:0]
		}
		l.begin(message)
	}
}

// drained answers a drain: the credit is used up, though not for messages.
func (l *outgoing) drained() {
	if !l.drain {
		return
	}
	l.skipped.note(l.deliveryCount, l.credit)
	l.deliveryCount += l.credit
	l.credit = 0
	l.ration()
	l.sendFlow()
	l.drain = false
}

// begin starts the delivery of a message.
func (l *outgoing) begin(m outMessage) {
	s := l.session
	id := s.nextDelivery
	s.nextDelivery++
	l.deliveryCount++
	l.credit--
	if m.token == (amqp.UUID{}) { // an answer needs no lock token but a separate tag
		binary.BigEndian.PutUint32(m.token[:], id)
	}
	if !l.presettled {
		s.unsettled[id] = &outDelivery{link: l, id: id, token: m.token}
	}
	l.partial = &partial{
		transfer: amqp.Transfer{
			Handle: l.handle, DeliveryID: amqp.Some(id), DeliveryTag: m.token.Tag(), MessageFormat: amqp.Some(0), Settled: l.presettled,
		},
		payload: m.payload,
	}
}

// frameHead is more than the header and the transfer of a frame take.
const frameHead = 96

// resume sends the frames of a message, and returns false if the window or the output ends before it does.
func (l *outgoing) resume() bool {
	c, s := l.session.conn, l.session
	p := l.partial
	for {
		if s.peerWindow == 0 || len(c.out) >= fullOutput {
			if !p.kept {
				p.payload, p.kept = bytes.Clone(p.payload), true
			}
			return false
		}
		n := min(len(p.payload), c.peerFrame-frameHead)
		p.transfer.More = n < len(p.payload)
		c.send(s.channel, &p.transfer, p.payload[:n])
		p.payload = p.payload[n:]
		s.nextOutgoing++
		s.peerWindow--
		if !p.transfer.More {
			l.partial = nil
			return true
		}
		// The id is not repeated: Python's client would take the frame for the first, and not have the tag, which is the lock token.
		p.transfer = amqp.Transfer{Handle: l.handle, Settled: l.presettled}
	}
}

// settle takes the client's verdict on a delivery.
func (d *outDelivery) settle(p *amqp.Disposition) {
	_, partly := p.State.(amqp.Received)
	noVerdict := partly || p.State == nil
	if noVerdict && !p.Settled || d.pending {
		return
	}
	d.settled = p.Settled
	d.pending = true
	state := p.State
	if noVerdict {
		state = amqp.Released{} // settled all the same
	}
	d.link.feed.settle(d, state)
}

// answer ends a delivery with its final state. The caller holds conn.mu.
func (d *outDelivery) answer(state amqp.State) {
	s := d.link.session
	if s.unsettled[d.id] != d {
		return // the session has ended meanwhile
	}
	delete(s.unsettled, d.id)
	if len(s.unsettled) == maxUnsettled-1 {
		s.readyAll()
	}
	if !d.settled {
		s.conn.send(s.channel, &amqp.Disposition{First: d.id, Last: d.id, Settled: true, State: state}, nil)
	}
}

// detach ends the link for the server.
func (l *outgoing) detach(err error) { l.session.detach(l, err) }

// release releases the resources of the link.
func (l *outgoing) release() {
	if l.feed != nil {
		l.feed.release()
		l.feed = nil
	}
	replies := l.session.conn.replies
	for _, address := range l.addresses {
		if replies[address] == l {
			delete(replies, address)
		}
	}
	delete(l.session.conn.locked, l.name)
	for id, d := range l.session.unsettled {
		if d.link == l {
			delete(l.session.unsettled, id)
		}
	}
}

// skipped is the part of a link's delivery count that drains have used up, for which no message was sent.
//
// A drain advances the delivery count, and the client should continue from there. Python's client since version 7.14 does not: it
// counts received messages only. Without this correction, the difference would pass for messages in transit, and the client would
// receive fewer than it asks for, or none.
type skipped struct {
	from    uint32 // the count before the last drain
	by      uint32 // credit used up by that drain; 0 after the client's next flow
	ignored uint32 // what all drains have used up that the client did not count
}

// note takes note of a drain that uses up credit at a delivery count.
func (s *skipped) note(count, credit uint32) {
	if credit != 0 {
		s.from, s.by = count, credit
	}
}

// onTheWay returns how many messages the client has not seen yet, by the link's delivery count and the client's.
func (s *skipped) onTheWay(count, seen uint32) uint32 {
	if s.by != 0 {
		if int32(s.from-s.ignored-seen) >= 0 {
			s.ignored += s.by
		}
		s.by = 0
	}
	if s.ignored != 0 && int32(count-s.ignored-seen) < 0 {
		s.ignored = 0 // the client does count drains
	}
	return ahead(count-s.ignored, seen)
}

// ahead returns by how much one serial number of RFC 1982 is ahead of another, and 0 if it is not.
func ahead(a, b uint32) uint32 {
	return uint32(max(int32(a-b), 0))
}
