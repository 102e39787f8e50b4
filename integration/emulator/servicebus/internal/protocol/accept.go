package protocol

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

const (
	sessionFilter   = "com.microsoft:session-filter"
	timeoutProperty = "com.microsoft:timeout"
	lockedUntil     = amqp.Symbol("com.microsoft:locked-until-utc")
	// acceptTimeout is how long a client waits for a session that does not say.
	acceptTimeout = time.Minute
)

// openSession locks the session that a link's filter names, or the next that has messages.
func (s *session) openSession(p *amqp.Attach, l *outgoing, source *broker.Source) error {
	wanted := p.Source.Filter.Get(sessionFilter)
	if described, ok := wanted.(amqp.Described); ok {
		wanted = described.Value
	}
	if id, ok := wanted.(string); ok {
		locked, err := source.Accept(id)
		if err != nil {
			return err
		}
		return l.receiveSession(p, source, locked)
	}
	ctx, cancel := context.WithTimeout(s.conn.ctx, sessionTimeout(p))
	l.feed = waiting(cancel)
	s.conn.server.ended.Go(func() {
		defer cancel()
		locked, err := source.AcceptNext(ctx)
		s.accepted(p, l, source, locked, err)
	})
	return nil
}

// accepted ends the wait for a session.
func (s *session) accepted(p *amqp.Attach, l *outgoing, source *broker.Source, locked *broker.Session, err error) {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.conn.closing || s.outgoing[p.Handle] != l || l.refused {
		if err == nil {
			locked.Close()
		}
		return
	}
	l.feed = nil
	if err == nil {
		err = l.receiveSession(p, source, locked)
	}
	if err != nil {
		s.dropOutgoing(p.Handle)
		s.refuse(p, err)
	}
	s.conn.wake()
}

// receiveSession begins to receive the messages of a session that is locked.
func (l *outgoing) receiveSession(p *amqp.Attach, source *broker.Source, locked *broker.Session) error {
	filter := make(amqp.Map, 0, len(p.Source.Filter))
	for _, pair := range p.Source.Filter { // in the shape the client used
		if pair.Key == amqp.Symbol(sessionFilter) || pair.Key == sessionFilter {
			if described, ok := pair.Value.(amqp.Described); ok {
				pair.Value = amqp.Described{Descriptor: described.Descriptor, Value: locked.ID()}
			} else {
				pair.Value = locked.ID()
			}
		}
		filter = append(filter, pair)
	}
	p.Source.Filter = filter
	if err := l.receive(p, source, locked); err != nil {
		locked.Close()
		return err
	}
	l.session.conn.locked[l.name] = locked.ID()
	return nil
}

// sessionTimeout is how long to look for a session: a little less than the client waits, so that it hears of the end.
func sessionTimeout(p *amqp.Attach) time.Duration {
	milliseconds, ok := p.Properties.Get(timeoutProperty).(uint32)
	if !ok {
		return acceptTimeout
	}
	timeout := time.Duration(milliseconds) * time.Millisecond
	return timeout - min(timeout/20, 50*time.Millisecond)
}

// ticks returns a time as .NET counts it: in 100 nanoseconds since the year 1.
func ticks(t time.Time) int64 {
	const epoch = 621_355_968_000_000_000
	return epoch + t.Unix()*10_000_000 + int64(t.Nanosecond())/100
}

// A waiting is the feed of a link for which a session is being looked for. Releasing it ends the search.
type waiting context.CancelFunc

func (waiting) next([]byte) (outMessage, bool, error) { return outMessage{}, false, nil }
func (waiting) settle(*outDelivery, amqp.State)       {}
func (w waiting) release()                            { w() }
