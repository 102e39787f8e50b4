package protocol

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

const (
	cbsAddress       = "$cbs"
	managementSuffix = "/$management"
	// destinationProperty is the property of a link that sends via one entity to another.
	destinationProperty = "com.microsoft:transfer-destination-address"
)

// nodePath returns the entity to whose "$management" an address leads, or false.
func nodePath(path string) (string, bool) { return broker.CutSuffix(path, managementSuffix) }

// permitted checks that the client has one of some rights on a path, by a token for it or for a parent path, or by a key.
func (c *conn) permitted(path string, rights auth.Rights) error {
	if c.server.config.Keys.Mode != auth.Strict {
		return nil
	}
	now := time.Now()
	for above := auth.Path(path); ; above = above[:max(strings.LastIndexByte(above, '/'), 0)] {
		if given, ok := c.tokens[above]; ok && given.until.After(now) && given.rights.Has(rights) {
			return nil
		}
		if above == "" {
			return amqp.Errorf(condUnauthorized,
				"Unauthorized access. '%s' claim(s) are required to perform this operation. Resource: 'sb://%s/%s'.",
				rights, c.hostname(), path)
		}
	}
}

// hostname is the name under which the client knows the server.
func (c *conn) hostname() string {
	host, _, _ := strings.Cut(c.host, ":")
	return cmp.Or(host, "localhost")
}

// address is where a link of the client leads.
func address(p *amqp.Attach) string {
	of := p.Target
	if p.Receiver {
		of = p.Source
	}
	if of == nil {
		return ""
	}
	return of.Address
}

// attachIncoming begins a link on which the client sends.
func (s *session) attachIncoming(p *amqp.Attach) {
	l := &incoming{link: s.newLink(p), maxSize: s.conn.server.config.MaxMessageSize, open: map[*inDelivery]bool{}}
	l.entity = address(p)
	path := broker.TargetName(l.entity)
	s.begin(p, l, path, func() (err error) {
		if l.sink, err = s.openSink(p, l, path); err != nil {
			return err
		}
		l.deliveryCount = p.InitialDeliveryCount
		s.conn.send(s.channel, &amqp.Attach{
			Name: p.Name, Handle: p.Handle, Receiver: true,
			SndSettleMode: p.SndSettleMode, RcvSettleMode: p.RcvSettleMode,
			Source: p.Source, Target: p.Target, MaxMessageSize: uint64(l.maxSize),
			Properties: amqp.Map{{Key: amqp.Symbol("com.microsoft:max-message-batch-size"), Value: uint64(l.maxSize)}},
		}, nil)
		l.grant()
		return nil
	})
}

// openSink returns what takes the messages of a link.
func (s *session) openSink(p *amqp.Attach, l *incoming, path string) (sink, error) {
	c := s.conn
	switch {
	case p.Target == nil:
		return nil, amqp.Errorf(broker.InvalidField, "a link without a target")
	case p.Target.Coordinator:
		return &coordinator{conn: c}, nil
	case path == cbsAddress:
		return node{conn: c, answer: (*request).cbs}, nil
	case path == "":
		return nil, amqp.Errorf(condNotImplemented, "a target without an address is not supported")
	}
	if entity, ok := nodePath(path); ok {
		return c.management(entity)
	}
	if err := c.permitted(path, auth.Send); err != nil {
		return nil, err
	}
	target, err := c.server.config.Broker.Target(path)
	if err != nil {
		return nil, err
	}
	if destination, ok := p.Properties.Get(destinationProperty).(string); ok {
		if target, err = c.destination(destination); err != nil {
			return nil, err
		}
	}
	l.maxSize = int(target.MaxMessageSize())
	c.largest = max(c.largest, l.maxSize)
	return &entitySink{conn: c, target: target}, nil
}

// destination returns the entity to which the messages of a link go that names another one on the way. That one has shown that it is
// there, and has no more to do: a message is in the destination as soon as it is accepted, or its transaction committed.
func (c *conn) destination(address string) (*broker.Target, error) {
	path := broker.TargetName(address)
	if err := c.permitted(path, auth.Send); err != nil {
		return nil, err
	}
	return c.server.config.Broker.Target(path)
}

// attachOutgoing begins a link on which the client receives.
func (s *session) attachOutgoing(p *amqp.Attach) {
	l := &outgoing{link: s.newLink(p), presettled: p.SndSettleMode == amqp.SenderSettled}
	path := broker.TargetName(address(p))
	s.begin(p, l, path, func() error { return s.openFeed(p, l, path) })
}

// openFeed opens the feed of a link and answers its attach, immediately or when the broker has found a session for it.
func (s *session) openFeed(p *amqp.Attach, l *outgoing, path string) error {
	c := s.conn
	entity, isNode := nodePath(path)
	switch {
	case p.Source == nil:
		return amqp.Errorf(broker.InvalidField, "a link without a source")
	case path == "":
		return amqp.Errorf(condNotImplemented, "a source without an address is not supported")
	case path == cbsAddress || isNode:
		answers := &replyFeed{}
		if isNode {
			if err := c.permitted(path, auth.All); err != nil {
				return err
			}
			if !c.server.config.Broker.Exists(entity) {
				return broker.ErrNotFound(entity)
			}
			answers.entity = entity
		}
		l.feed = answers
		l.addresses = []string{p.Name}
		if p.Target != nil && p.Target.Address != "" {
			l.addresses = append(l.addresses, p.Target.Address)
		}
		for _, address := range l.addresses {
			c.replies[address] = l
		}
		l.accept(p, nil)
		return nil
	}
	if err := c.permitted(path, auth.Listen); err != nil {
		return err
	}
	source, err := c.server.config.Broker.Source(path)
	if err != nil {
		return err
	}
	if p.Source.Filter.Has(sessionFilter) {
		return s.openSession(p, l, source)
	}
	return l.receive(p, source, nil)
}

// accept answers the attach of a link that has a feed. The answer contains only the filters in force, i.e. the session
// filter: clients see from their absence that the server ignores others.
func (l *outgoing) accept(p *amqp.Attach, properties amqp.Map) {
	p.Source.Filter = slices.DeleteFunc(p.Source.Filter, func(pair amqp.Pair) bool {
		return pair.Key != amqp.Symbol(sessionFilter) && pair.Key != sessionFilter
	})
	l.session.conn.send(l.session.channel, &amqp.Attach{
		Name: p.Name, Handle: p.Handle,
		SndSettleMode: p.SndSettleMode, RcvSettleMode: p.RcvSettleMode,
		Source: p.Source, Target: p.Target,
		MaxMessageSize: uint64(l.session.conn.server.config.MaxMessageSize),
		Properties:     properties,
	}, nil)
}

// undecodable is the error for a message that is malformed.
func undecodable(err error) error {
	return &amqp.Error{Condition: condDecode, Description: err.Error()}
}

// asError converts an error to the AMQP error for clients.
func asError(err error) *amqp.Error {
	if e, ok := err.(*amqp.Error); ok { //nolint:errorlint // wrapped errors are for the log
		return e
	}
	return &amqp.Error{Condition: broker.InternalError, Description: err.Error()}
}

const (
	sessionFilter   = "com.microsoft:session-filter"
	timeoutProperty = "com.microsoft:timeout"
	lockedUntil     = amqp.Symbol("com.microsoft:locked-until-utc")
	// acceptTimeout is the wait for a session if the client sets none.
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
	if s.conn.closing || s.links[p.Handle] != l || l.refused {
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
		s.drop(p.Handle)
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

// sessionTimeout is the wait for a session: up to a second less than the client waits, so that the answer reaches a
// busy client in time.
func sessionTimeout(p *amqp.Attach) time.Duration {
	milliseconds, ok := p.Properties.Get(timeoutProperty).(uint32)
	if !ok {
		return acceptTimeout
	}
	timeout := time.Duration(milliseconds) * time.Millisecond
	return timeout - min(timeout/20, time.Second)
}

// A waiting is the feed of a link for which a session is being looked for. Releasing it ends the search.
type waiting context.CancelFunc

func (waiting) next([]byte) (outMessage, bool, error) { return outMessage{}, false, nil }
func (waiting) settle(*outDelivery, amqp.State)       {}
func (w waiting) release()                            { w() }
