package conn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/failover"
)

// Limits of a publish: the timeout of an acknowledgement, and the number of messages in flight before publishing
// blocks.
const (
	PublishTimeout = 5 * time.Second
	clusterTimeout = 2 * time.Second // in a cluster, where a new leader soon accepts a repeated message
	publishWindow  = 1 << 16
)

// Retries of a message without a responder: a stream is briefly without one when its leader has just gone.
const (
	untakenTries = 2
	untakenPause = 250 * time.Millisecond
)

// Message returns a pooled message with headers. It returns to the pool after [Conn.Publish].
func (s *Conn) Message(subject string, data []byte) *nats.Msg {
	m, ok := s.publisher.messages.Get().(*nats.Msg)
	if !ok {
		m = &nats.Msg{Header: nats.Header{}}
	}
	m.Subject, m.Data = subject, data
	return m
}

// BareMessage returns a pooled message without headers.
func (s *Conn) BareMessage(subject string, data []byte) *nats.Msg {
	m, ok := s.publisher.bare.Get().(*nats.Msg)
	if !ok {
		m = &nats.Msg{}
	}
	m.Subject, m.Data = subject, data
	return m
}

// SetHeader sets a header and reuses the memory of its previous value.
func SetHeader(m *nats.Msg, name, value string) {
	m.Header[name] = append(m.Header[name][:0], value)
}

// Publish sends a message to its stream and waits until it is stored. Concurrent publishes share writes to the
// connection.
func (s *Conn) Publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	defer s.publisher.recycle(m)
	a, ok := s.publisher.send(ctx, m)
	for try := 0; ok && errors.Is(a.err, jetstream.ErrNoStreamResponse) && try < untakenTries; try++ {
		if ok = failover.Pause(ctx, untakenPause); ok {
			a, ok = s.publisher.send(ctx, m)
		}
	}
	if !ok {
		return 0, context.Cause(ctx)
	}
	return a.sequence, Translate(s.suspect(a.err))
}

// publisher sends messages to streams and matches acknowledgements. Unlike the client library's, it shares one timer
// between messages and reuses headers, channels and acknowledgements, so it creates almost no garbage.
type publisher struct {
	nc         *nats.Conn
	id         string             // unique to this publisher
	prefix     string             // of acknowledgement subjects
	window     chan struct{}      // one value per message in flight
	watcher    *failover.Failover // changes the server if nothing is answered here
	messages   sync.Pool          // of *nats.Msg with headers
	bare       sync.Pool          // of *nats.Msg without headers
	waiters    sync.Pool          // of *waiter
	ackTimeout atomic.Int64       // timeout of an acknowledgement, a [time.Duration]

	mu      sync.Mutex
	last    uint64 // last token
	waiting map[uint64]*waiter
	overdue *time.Timer // runs while armed
	armed   bool
}

// waiter waits for the acknowledgement of a message or of a group.
type waiter struct {
	token  uint64
	sent   time.Time
	answer chan answer // for a message; has room for one value
	group  *group
}

// answer is the result of a message.
type answer struct {
	sequence uint64
	err      error
}

// newPublisher returns a publisher that lives as long as the connection.
func newPublisher(nc *nats.Conn, w *failover.Failover) (*publisher, error) {
	inbox := nc.NewInbox()
	p := &publisher{
		nc: nc, id: inbox[strings.LastIndexByte(inbox, '.')+1:], prefix: inbox + ".",
		window: make(chan struct{}, publishWindow), waiting: map[uint64]*waiter{},
		watcher: w,
	}
	p.ackTimeout.Store(int64(PublishTimeout))
	p.overdue = time.AfterFunc(PublishTimeout, p.expire)
	p.overdue.Stop()
	sub, err := nc.Subscribe(p.prefix+">", p.receive)
	if err != nil {
		return nil, Translate(err)
	}
	_ = sub.SetPendingLimits(-1, -1) // bounded by window
	go p.followConnection(nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.CLOSED))
	return p, nil
}

// send sends a message and waits for its result. It returns false if ctx is done first.
func (p *publisher) send(ctx context.Context, m *nats.Msg) (answer, bool) {
	select {
	case p.window <- struct{}{}:
	case <-ctx.Done():
		return answer{}, false
	}
	defer func() { <-p.window }()
	w, ok := p.waiters.Get().(*waiter)
	if !ok {
		w = &waiter{answer: make(chan answer, 1)}
	}
	p.await(w)
	m.Reply = p.reply(w)
	if err := p.nc.PublishMsg(m); err != nil {
		p.forget(w)
		return answer{err: err}, true
	}
	select {
	case a := <-w.answer:
		p.waiters.Put(w)
		return a, true
	case <-ctx.Done():
		p.forget(w)
		return answer{}, false
	}
}

// tokenBase is the base of a token in a subject.
const tokenBase = 36

// reply returns the acknowledgement subject of w.
func (p *publisher) reply(w *waiter) string {
	var reply [80]byte
	return string(strconv.AppendUint(append(reply[:0], p.prefix...), w.token, tokenBase))
}

// await registers w for the message that is sent next.
func (p *publisher) await(w *waiter) {
	w.sent = time.Now()
	p.watcher.Sent(w.sent)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	w.token = p.last
	p.waiting[w.token] = w
	if !p.armed {
		p.armed = true
		p.overdue.Reset(time.Duration(p.ackTimeout.Load()))
	}
}

// forget removes a waiter whose caller has stopped waiting.
func (p *publisher) forget(w *waiter) {
	if p.take(w.token) == w {
		p.waiters.Put(w)
	}
}

// take removes and returns a waiter, or nil if it was already answered.
func (p *publisher) take(token uint64) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waiting[token]
	delete(p.waiting, token)
	return w
}

// receive handles the acknowledgement of a message or a group. It drops one without a waiter; a token is used only
// once.
func (p *publisher) receive(m *nats.Msg) {
	token, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, p.prefix), tokenBase, 64)
	if err != nil {
		return
	}
	sequence, err := readAck(m)
	if !errors.Is(err, jetstream.ErrNoStreamResponse) {
		p.watcher.Answered(time.Now())
	}
	if w := p.take(token); w != nil {
		w.settle(sequence, err)
	}
}

// settle delivers the result to the waiting caller.
func (w *waiter) settle(sequence uint64, err error) {
	if w.group != nil {
		w.group.settle(err)
		return
	}
	w.answer <- answer{sequence, err}
}

// expire fails overdue messages, and rearms the timer for the next one.
func (p *publisher) expire() {
	now, next := time.Now(), time.Time{}
	p.settleIf(jetstream.ErrAsyncPublishTimeout, func(w *waiter) bool {
		due := w.sent.Add(time.Duration(p.ackTimeout.Load()))
		if due.After(now) && (next.IsZero() || due.Before(next)) {
			next = due
		}
		return !due.After(now)
	}, func() {
		if p.armed = !next.IsZero(); p.armed {
			p.overdue.Reset(next.Sub(now))
		}
	})
}

// followConnection fails all messages in flight when the connection is lost, because their results are unknown.
func (p *publisher) followConnection(status <-chan nats.Status) {
	for s := range status {
		p.watcher.Reconnected()
		if s == nats.CONNECTED {
			continue
		}
		err := nats.ErrDisconnected
		if s == nats.CLOSED {
			err = nats.ErrConnectionClosed
		}
		p.settleIf(err, func(*waiter) bool { return true }, func() {})
		if s == nats.CLOSED {
			return
		}
	}
}

// settleIf fails the waiters for which kind returns true. It then calls then, under the lock.
func (p *publisher) settleIf(err error, kind func(*waiter) bool, then func()) {
	p.mu.Lock()
	var settled []*waiter
	for token, w := range p.waiting {
		if kind(w) {
			delete(p.waiting, token)
			settled = append(settled, w)
		}
	}
	then()
	p.mu.Unlock()
	for _, w := range settled {
		w.settle(0, err)
	}
}

// recycle returns a message to its pool.
func (p *publisher) recycle(m *nats.Msg) {
	for name, values := range m.Header {
		m.Header[name] = values[:0]
	}
	m.Data = nil
	if m.Header == nil {
		p.bare.Put(m)
	} else {
		p.messages.Put(m)
	}
}

// noResponders is the status of a response for a subject without a subscriber.
const noResponders = "503"

// readAck parses an acknowledgement: the sequence of the stored message, or the stream's error.
func readAck(m *nats.Msg) (sequence uint64, err error) {
	if len(m.Data) == 0 && m.Header.Get("Status") == noResponders {
		return 0, jetstream.ErrNoStreamResponse
	}
	if sequence, ok := plainAck(m.Data); ok {
		return sequence, nil
	}
	var ack struct {
		Error    *jetstream.APIError `json:"error"`
		Stream   string              `json:"stream"`
		Sequence uint64              `json:"seq"`
	}
	switch err := json.Unmarshal(m.Data, &ack); {
	case err != nil:
		return 0, jetstream.ErrInvalidJSAck
	case ack.Error != nil:
		return 0, ack.Error
	case ack.Stream == "":
		return 0, jetstream.ErrInvalidJSAck
	}
	return ack.Sequence, nil
}

// plainAck parses the usual form of an acknowledgement without reflection: {"stream":"NAME","seq":1}, with an optional
// domain.
func plainAck(data []byte) (sequence uint64, ok bool) {
	rest, ok := plainField(data, `{"stream":"`)
	if !ok {
		return 0, false
	}
	if r, domain := plainField(rest, `,"domain":"`); domain {
		rest = r
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`))
	if !ok {
		return 0, false
	}
	digits, ok := bytes.CutSuffix(rest, []byte("}"))
	if !ok || len(digits) == 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	sequence, err := strconv.ParseUint(string(digits), 10, 64)
	return sequence, err == nil
}

// plainField cuts a leading field, up to its closing quote. The value must be non-empty printable ASCII without
// escapes.
func plainField(data []byte, begin string) (rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(data, []byte(begin))
	if !ok {
		return nil, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 1 {
		return nil, false
	}
	for _, c := range rest[:end] {
		if c == '\\' || c < ' ' || c > '~' {
			return nil, false
		}
	}
	return rest[end+1:], true
}
