package protocol

import (
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// link is the common part of incoming and outgoing links. Its fields are guarded by conn.mu.
type link struct {
	session *session
	name    string
	entity  string // the path of the target or source
	handle  uint32
	refused bool // detached by the server; the client has not answered yet

	deliveryCount uint32
	credit        uint32 // messages that the sender may still send
}

// An end is the server's end of a link: [incoming] or [outgoing].
type end interface {
	base() *link
	// release releases the resources of the link.
	release()
}

func (s *session) newLink(p *amqp.Attach) *link {
	return &link{session: s, name: p.Name, handle: p.Handle}
}

func (l *link) base() *link { return l }

// sendFlow sends a flow frame with the link's credit. more adds fields to it.
func (l *link) sendFlow(more func(*amqp.Flow)) {
	l.session.sendFlow(func(p *amqp.Flow) {
		p.Handle, p.DeliveryCount, p.LinkCredit = amqp.Some(l.handle), amqp.Some(l.deliveryCount), amqp.Some(l.credit)
		more(p)
	})
}

// begin attaches a link: open answers the attach, and its error refuses it.
func (s *session) begin(p *amqp.Attach, l end, path string, open func() error) {
	s.links[p.Handle] = l
	s.conn.links++
	s.conn.guard(path, fault.OpAttach, func(err error) {
		if s.links[p.Handle] != l {
			return // detached meanwhile
		}
		if err == nil {
			err = open()
		}
		if err != nil {
			s.drop(p.Handle)
			s.refuse(p, err)
		}
	})
}

// detach ends a link for the server.
func (s *session) detach(l end, err error) {
	b := l.base()
	if b.refused || s.links[b.handle] != l {
		return
	}
	s.conn.explain("to continue a link", b.entity, err)
	l.release()
	b.refused = true
	s.conn.send(s.channel, &amqp.Detach{Handle: b.handle, Closed: true, Error: asError(err)}, nil)
}
