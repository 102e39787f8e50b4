package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The bounds of a publish: how long one waits for its acknowledgement, and how
// many may be under way before publishing blocks.
const (
	publishTimeout = 5 * time.Second
	clusterTimeout = 2 * time.Second // in a cluster, where what a lost leader was sent is soon for another one
	publishWindow  = 1 << 16
)

// A stream whose leader has just gone has no one who listens for a moment: a
// message that nobody took is sent again.
const (
	untakenTries = 2
	untakenPause = 250 * time.Millisecond
)

// message returns a message that gets headers and is published then. It is the
// publisher's again when [Store.publish] returns.
func (s *Store) message(subject string, data []byte) *nats.Msg {
	m, ok := s.publisher.messages.Get().(*nats.Msg)
	if !ok {
		m = &nats.Msg{Header: nats.Header{}}
	}
	m.Subject, m.Data = subject, data
	return m
}

// bareMessage returns one that gets no headers.
func (s *Store) bareMessage(subject string, data []byte) *nats.Msg {
	m, ok := s.publisher.bare.Get().(*nats.Msg)
	if !ok {
		m = &nats.Msg{}
	}
	m.Subject, m.Data = subject, data
	return m
}

// setHeader sets a header of a message, in the room that an earlier value had.
func setHeader(m *nats.Msg, name, value string) {
	m.Header[name] = append(m.Header[name][:0], value)
}

// publish sends a message to its stream and waits until it is stored. Many
// goroutines publish at once, so messages share the connection's writes.
func (s *Store) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	defer s.publisher.recycle(m)
	a, ok := s.publisher.send(ctx, m)
	for try := 0; ok && errors.Is(a.err, jetstream.ErrNoStreamResponse) && try < untakenTries; try++ {
		if ok = pause(ctx, untakenPause); ok {
			a, ok = s.publisher.send(ctx, m)
		}
	}
	if !ok {
		return 0, context.Cause(ctx)
	}
	return a.sequence, translate(s.suspect(a.err))
}

// pause waits for d; false when ctx is done before.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// publisher sends messages to streams and tells whose acknowledgement is whose.
// The library's does the same at a higher price: here messages share one timer,
// and their headers, channels and acknowledgements make next to no garbage.
type publisher struct {
	nc       *nats.Conn
	id       string        // no other publisher has it
	prefix   string        // of the subjects of acknowledgements
	window   chan struct{} // has a value for each message under way
	other    *elsewhere    // where to publish when nothing is answered here
	messages sync.Pool     // of *nats.Msg with headers
	bare     sync.Pool     // of *nats.Msg without
	waiters  sync.Pool     // of *waiter
	patience atomic.Int64  // for an acknowledgement, as a [time.Duration]

	mu      sync.Mutex
	last    uint64 // token
	waiting map[uint64]*waiter
	overdue *time.Timer // runs while armed
	armed   bool
}

// waiter waits for an acknowledgement: of a message, or of a group.
type waiter struct {
	token  uint64
	sent   time.Time
	answer chan answer // takes one without blocking; of a message
	group  *group
}

// answer is what became of a message.
type answer struct {
	sequence uint64
	err      error
}

// newPublisher returns a publisher, which lives as long as the connection.
func newPublisher(nc *nats.Conn, log *slog.Logger) (*publisher, error) {
	inbox := nc.NewInbox()
	p := &publisher{
		nc: nc, id: inbox[strings.LastIndexByte(inbox, '.')+1:], prefix: inbox + ".",
		window: make(chan struct{}, publishWindow), waiting: map[uint64]*waiter{},
		other: &elsewhere{nc: nc, log: log},
	}
	p.patience.Store(int64(publishTimeout))
	p.overdue = time.AfterFunc(publishTimeout, p.expire)
	p.overdue.Stop()
	sub, err := nc.Subscribe(p.prefix+">", p.receive)
	if err != nil {
		return nil, translate(err)
	}
	_ = sub.SetPendingLimits(-1, -1) // bounded by the window
	go p.followConnection(nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.CLOSED))
	return p, nil
}

// send sends a message and waits for what becomes of it; false when ctx is done
// before that is known.
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

// tokenBase is the base in which tokens are written.
const tokenBase = 36

// reply is where a message is acknowledged.
func (p *publisher) reply(w *waiter) string {
	var reply [80]byte
	return string(strconv.AppendUint(append(reply[:0], p.prefix...), w.token, tokenBase))
}

// await lets a waiter wait for what is sent next.
func (p *publisher) await(w *waiter) {
	w.sent = time.Now()
	p.other.sent(w.sent)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	w.token = p.last
	p.waiting[w.token] = w
	if !p.armed {
		p.armed = true
		p.overdue.Reset(time.Duration(p.patience.Load()))
	}
}

// forget drops a waiter that nobody waits with any more.
func (p *publisher) forget(w *waiter) {
	if p.take(w.token) == w {
		p.waiters.Put(w)
	}
}

// take takes a waiter out; nil when it was answered already.
func (p *publisher) take(token uint64) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waiting[token]
	delete(p.waiting, token)
	return w
}

// receive takes the acknowledgement of a message or of a group. One that nobody
// waits for any more is dropped: a token is used once.
func (p *publisher) receive(m *nats.Msg) {
	token, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, p.prefix), tokenBase, 64)
	if err != nil {
		return
	}
	sequence, err := readAck(m)
	if !errors.Is(err, jetstream.ErrNoStreamResponse) {
		p.other.answered(time.Now())
	}
	if w := p.take(token); w != nil {
		w.settle(sequence, err)
	}
}

// settle tells whoever waits what has become of what was sent.
func (w *waiter) settle(sequence uint64, err error) {
	if w.group != nil {
		w.group.settle(err)
		return
	}
	w.answer <- answer{sequence, err}
}

// expire fails what was not acknowledged in time, and comes again when the next
// is due.
func (p *publisher) expire() {
	now, next := time.Now(), time.Time{}
	p.settleIf(jetstream.ErrAsyncPublishTimeout, func(w *waiter) bool {
		due := w.sent.Add(time.Duration(p.patience.Load()))
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

// followConnection fails what is under way when the connection is lost: what has
// become of it cannot be known any more.
func (p *publisher) followConnection(status <-chan nats.Status) {
	for s := range status {
		p.other.reconnected()
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

// settleIf gives an error to the waiters of a kind. then is called when all are
// looked at, under the lock.
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

// recycle keeps a message for the next.
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

// noResponders is the status of an answer that the server gives for a subject
// on which nobody listens.
const noResponders = "503"

// readAck reads the acknowledgement of a published message: the sequence that
// it has in its stream, or the error that the stream answered.
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

// plainAck reads the form that acknowledgements nearly always have, which spares
// reflection: {"stream":"NAME","seq":1}, with a domain in between where the
// server has one.
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

// plainField cuts off a field that begins as given, up to its closing quote. Its
// value is made of plain characters, and not empty.
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
