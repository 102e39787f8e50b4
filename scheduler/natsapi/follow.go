package natsapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Headers of the messages of a live tail.
const (
	sequenceHeader = "Carillon-Sequence"       // of the first message: the tail begins after it; of a record: its own
	firstHeader    = "Carillon-First-Sequence" // of the first message: the first retained record
	numberHeader   = "Carillon-Number"         // number of earlier messages of the tail
	tailHeader     = "Carillon-Tail"           // of the first message: the tail's id; of the last: over or again
)

// Values of the last message's tailHeader.
const (
	tailOver  = "over"  // the history has ended; the body has the cause
	tailAgain = "again" // the time of the tail has elapsed
)

// The times of a live tail.
const (
	tailTime   = time.Minute      // NATS does not report that a listener has left, so listeners renew their requests
	signOfLife = 15 * time.Second // keepalive interval: distinguishes an idle history from a dead connection
)

// maxTails limits the live tails of a process. Each costs the store a consumer.
const maxTails = 256

// readers parse the request for a live tail, by the verb of its subject.
var readers = map[string]func(ctx context.Context, now time.Time, k scheduler.Key, body []byte) (following, error){
	"follow": followHistory, "follow-audit": followTrail,
}

// following sends new records until ctx is done or the history has ended.
type following func(ctx context.Context, s *service.Service, t *tail) error

// beginTail counts a live tail until end is called, or returns the limit that refuses it.
func (a *API) beginTail(caller string) (end func(), err error) {
	end, err = a.tails.Take(caller)
	full, ok := errors.AsType[*throttle.Full](err)
	switch {
	case !ok:
		return end, err
	case full.Own:
		return nil, fmt.Errorf("%w: this connection has %d live tails already, which is as many as one may have; end one of these first",
			scheduler.ErrUnavailable, full.Most)
	}
	return nil, fmt.Errorf("%w: there are %d live tails already, which is as many as this process serves; try again later",
		scheduler.ErrUnavailable, full.Most)
}

// acceptTail answers a request for a live tail in a goroutine.
func (a *API) acceptTail(ctx context.Context, e endpoint, m micro.Request) {
	if !a.takes(m) || m.Reply() == "" || !a.begin() {
		return // the caller retries at another replica
	}
	go func() {
		defer a.answers.Done()
		c := a.counters[e.name]
		began := c.begin()
		err := a.follow(ctx, e, m)
		c.end(began, err)
		if err != nil {
			a.reply(m, answer{err: err})
		}
	}()
}

// follow sends a live tail until its time elapses, the history ends, or its caller ends it. It returns an error only
// before the first message.
func (a *API) follow(ctx context.Context, e endpoint, m micro.Request) error {
	if _, err := orderOf(m, e.op); err != nil {
		return err
	}
	verb, name, _ := strings.Cut(strings.TrimPrefix(m.Subject(), a.cfg.Prefix+".api."), ".")
	follow, err := readers[verb](ctx, a.cfg.Service.Now(), keyOf(name), m.Data())
	if err != nil {
		return err
	}
	end, err := a.beginTail(caller(m.Reply()))
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithTimeout(asking(ctx, m), tailTime)
	defer cancel()
	t := &tail{conn: a.cfg.Conn, reply: m.Reply(), id: nuid.Next()}
	unfollow, err := a.cfg.Conn.Subscribe(a.cfg.Prefix+".api.unfollow."+t.id, func(*nats.Msg) { cancel() })
	if err != nil {
		return fmt.Errorf("%w: %w", scheduler.ErrUnavailable, err)
	}
	defer func() { _ = unfollow.Unsubscribe() }()
	err = follow(ctx, a.cfg.Service, t)
	if !t.close(err) {
		return err
	}
	return nil
}

// followHistory follows the history of a job, of a collection or of all jobs.
func followHistory(ctx context.Context, now time.Time, k scheduler.Key, body []byte) (following, error) {
	var after *uint64
	filter, uid, earlier := "", "", false
	err := readBody(ctx, body, func(o *document.Object) {
		after = readAfter(o)
		filter, _ = o.String("$filter")
		uid, _ = o.String("uid")
		earlier, _ = o.Bool("earlier")
	})
	if err != nil {
		return nil, err
	}
	q := service.HistoryQuery{Key: k}
	q.RecordFilter, err = view.HistoryFilter(filter, now)
	q.UID, q.Earlier = uid, earlier
	return func(ctx context.Context, s *service.Service, t *tail) error {
		record := func(r *scheduler.Record) { t.send(r.Sequence, view.JSON(view.Record(r))) }
		return s.Follow(ctx, q, service.Tail{After: after, Ready: t.open, Record: record, Passed: t.pass})
	}, err
}

// readAfter parses the sequence after which a tail begins; nil: only new records.
func readAfter(o *document.Object) *uint64 {
	n, ok := o.Int("after", 0, math.MaxInt64)
	if !ok {
		return nil
	}
	after := uint64(n)
	return &after
}

// tail sends the messages of a live tail. The store's goroutine and the request's call it.
type tail struct {
	conn  *nats.Conn
	reply string
	id    string

	mu     sync.Mutex
	number uint64
	opened bool
	closed bool
	passed uint64 // the last record that did not match, if no record was sent since; else 0
	life   *time.Timer
}

// open sends the first message. All records after its sequence follow.
func (t *tail) open(b service.Beginning) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened = true
	t.life = time.AfterFunc(signOfLife, t.live)
	t.write(nil, statusHeader, "200", sequenceHeader, strconv.FormatUint(b.After, 10),
		firstHeader, strconv.FormatUint(b.First, 10), tailHeader, t.id)
}

// live sends keepalives until the tail is closed.
func (t *tail) live() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.write(nil, t.place()...)
		t.life.Reset(signOfLife)
	}
}

// pass stores the sequence of a record that does not match.
func (t *tail) pass(sequence uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed = sequence
}

// place returns headers with the last sequence that did not match, if the caller does not have it yet.
func (t *tail) place() []string {
	if t.passed == 0 {
		return nil
	}
	defer func() { t.passed = 0 }()
	return []string{sequenceHeader, strconv.FormatUint(t.passed, 10)}
}

func (t *tail) send(sequence uint64, body []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.passed = 0
		t.write(body, sequenceHeader, strconv.FormatUint(sequence, 10))
	}
}

// close sends the last message; false if the first one was not sent.
func (t *tail) close(why error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if !t.opened {
		return false
	}
	t.life.Stop()
	if errors.Is(why, scheduler.ErrNotFound) {
		t.write(view.JSON(view.Ending(why)), tailHeader, tailOver)
	} else {
		t.write(nil, append(t.place(), tailHeader, tailAgain)...)
	}
	return true
}

// write sends a message with headers, as pairs of names and values.
func (t *tail) write(body []byte, headers ...string) {
	m := &nats.Msg{Subject: t.reply, Data: body, Header: nats.Header{numberHeader: {strconv.FormatUint(t.number, 10)}}}
	for i := 0; i+1 < len(headers); i += 2 {
		m.Header.Set(headers[i], headers[i+1])
	}
	t.number++
	_ = t.conn.PublishMsg(m) // the count reveals a lost message, and the caller requests it again
}
