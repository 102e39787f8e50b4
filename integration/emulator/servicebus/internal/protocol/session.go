package protocol

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

const (
	// sessionWindow limits the transfers that a client may send ahead.
	sessionWindow = 5000
	// maxHandle is the largest handle, and so bounds the links of a session.
	maxHandle = 255
)

// A session is a two-way conversation with windows in both directions. All its methods want conn.mu held.
type session struct {
	conn    *conn
	channel uint16
	ended   bool // by the server; the client has not answered yet

	links map[uint32]end // by handle

	nextIncoming uint32 // id of the client's next transfer
	window       uint32 // how many more transfers the client may send

	nextOutgoing uint32 // id of the next transfer to the client
	peerWindow   uint32 // how many more transfers the client takes
	nextDelivery uint32
	unsettled    map[uint32]*outDelivery // by delivery id
}

func newSession(c *conn, channel uint16, p *amqp.Begin) *session {
	return &session{
		conn: c, channel: channel,
		links: map[uint32]end{}, unsettled: map[uint32]*outDelivery{},
		nextIncoming: p.NextOutgoingID, window: sessionWindow, peerWindow: p.IncomingWindow,
	}
}

// handle acts on one performative. An error ends the session.
func (s *session) handle(performative amqp.Performative, payload []byte) error {
	switch p := performative.(type) {
	case *amqp.Attach:
		return s.attach(p)
	case *amqp.Detach:
		s.detached(p)
	case *amqp.Flow:
		s.flow(p)
	case *amqp.Transfer:
		return s.transfer(p, payload)
	case *amqp.Disposition:
		s.disposition(p)
	case *amqp.End:
		s.release()
		s.conn.forget(s.channel)
		s.conn.send(s.channel, &amqp.End{}, nil)
	}
	return nil
}

// end ends the session because of an error of the client.
func (s *session) end(err error) {
	s.conn.explain("a session", "", err)
	s.release()
	s.ended = true
	s.conn.send(s.channel, &amqp.End{Error: asError(err)}, nil)
}

// release releases the resources of the session's links.
func (s *session) release() {
	for _, l := range s.links {
		l.release()
	}
	s.conn.links -= len(s.links)
	clear(s.links)
	clear(s.unsettled)
}

// stop ends all links of a server that stops, so that clients see it on every link. It rejects transfers first.
func (s *session) stop(reason error) {
	for _, l := range s.links {
		if l, ok := l.(*incoming); ok {
			l.stop(reason)
		}
	}
	for _, l := range s.links {
		s.detach(l, reason)
	}
}

// attach begins a link. The server's handle is the client's.
func (s *session) attach(p *amqp.Attach) error {
	switch {
	case p.Handle > maxHandle:
		return amqp.Errorf(condHandle, "handle %d is above %d", p.Handle, maxHandle)
	case s.links[p.Handle] != nil:
		return amqp.Errorf(condHandleInUse, "handle %d is in use", p.Handle)
	case s.conn.links >= maxLinks:
		return amqp.Errorf(broker.ResourceLimitExceeded, "more than %d links on a connection", maxLinks)
	case p.Receiver:
		s.attachOutgoing(p)
	default:
		s.attachIncoming(p)
	}
	return nil
}

// refusalPause is the delay between the attach of a refusal and its detach. JavaScript's clients up to version 7.2 lose
// the reason when both arrive together.
const refusalPause = 10 * time.Millisecond

// refuse answers an attach with an attach that has neither source nor target, and a detach with the reason.
func (s *session) refuse(p *amqp.Attach, err error) {
	s.conn.explain("a link", address(p), err)
	answer := &amqp.Attach{
		Name: p.Name, Handle: p.Handle, Receiver: !p.Receiver, SndSettleMode: p.SndSettleMode, RcvSettleMode: p.RcvSettleMode,
	}
	s.conn.send(s.channel, answer, nil)
	s.conn.later(refusalPause, func() {
		if s.conn.sessions[s.channel] == s && !s.ended {
			s.conn.send(s.channel, &amqp.Detach{Handle: p.Handle, Closed: true, Error: asError(err)}, nil)
		}
	})
}

// detached ends a link for the client, or takes note of its answer to a detach.
func (s *session) detached(p *amqp.Detach) {
	l := s.links[p.Handle]
	if l == nil {
		return // the answer to a refusal
	}
	l.release()
	s.drop(p.Handle)
	if !l.base().refused {
		s.conn.send(s.channel, &amqp.Detach{Handle: p.Handle, Closed: p.Closed}, nil)
	}
}

// drop forgets a link.
func (s *session) drop(handle uint32) {
	delete(s.links, handle)
	s.conn.links--
}

// flow takes note of the client's window and of a link's credit.
func (s *session) flow(p *amqp.Flow) {
	s.peerWindow = p.IncomingWindow
	if p.NextIncomingID.Present { // transfers in flight use up the window
		s.peerWindow -= min(ahead(s.nextOutgoing, p.NextIncomingID.Value), s.peerWindow)
	}
	if !p.Handle.Present {
		if p.Echo {
			s.sendFlow(nil)
		}
		s.readyAll()
		return
	}
	switch l := s.links[p.Handle.Value].(type) { // nil: it has been detached meanwhile
	case *outgoing:
		l.flow(p)
		s.readyAll()
	case *incoming:
		if p.Echo {
			l.sendFlow(func(*amqp.Flow) {})
		}
	}
}

// readyAll resumes the links that waited for the window.
func (s *session) readyAll() {
	for _, l := range s.links {
		if l, ok := l.(*outgoing); ok && (l.partial != nil || l.credit > 0) {
			s.conn.ready.add(l)
		}
	}
}

// sendFlow sends the session's windows and, if link is not nil, its credit.
func (s *session) sendFlow(link func(*amqp.Flow)) {
	p := &amqp.Flow{
		NextIncomingID: amqp.Some(s.nextIncoming),
		IncomingWindow: s.window,
		NextOutgoingID: s.nextOutgoing,
		OutgoingWindow: sessionWindow,
	}
	if link != nil {
		link(p)
	}
	s.conn.send(s.channel, p, nil)
}

// transfer takes one frame of a message.
func (s *session) transfer(p *amqp.Transfer, payload []byte) error {
	if s.window == 0 {
		return amqp.Errorf(condWindow, "a transfer outside the window")
	}
	s.nextIncoming++
	s.window--
	if s.window < sessionWindow/2 {
		s.window = sessionWindow
		s.sendFlow(nil)
	}
	switch l := s.links[p.Handle].(type) { // nil: sent before the client knew of the detach
	case *incoming:
		l.transfer(p, payload)
	case *outgoing:
		return amqp.Errorf(broker.NotAllowed, "a transfer on a link for receiving")
	}
	return nil
}

// disposition settles deliveries. The range may have any width; the unsettled deliveries limit its cost.
func (s *session) disposition(p *amqp.Disposition) {
	if !p.Receiver {
		return // the server settles incoming messages first
	}
	found := false
	if width := p.Last - p.First; uint64(width) < uint64(len(s.unsettled)) {
		for id := p.First; ; id++ {
			if d := s.unsettled[id]; d != nil {
				found = true
				d.settle(p)
			}
			if id == p.Last {
				break
			}
		}
	} else {
		for id, d := range s.unsettled {
			if id-p.First <= p.Last-p.First {
				found = true
				d.settle(p)
			}
		}
	}
	if !found {
		s.conn.explain("a settlement", "", errUnknownDelivery)
	}
}
