package natsapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/throttle"
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

// tailTime limits a live tail. NATS does not report that a listener has left, so listeners renew their requests.
const tailTime = time.Minute

// maxTails limits the live tails of a process. Each costs the store a consumer.
const maxTails = 256

// beginTail counts a live tail until end is called, or returns the limit that refuses it.
func (a *API) beginTail(caller string) (end func(), err error) {
	end, err = a.tails.Take(caller)
	full, ok := errors.AsType[*throttle.Full](err)
	switch {
	case !ok:
		return end, err
	case full.Own:
		return nil, fmt.Errorf("%w: this connection has reached its limit of %d live tails; end one first",
			scheduler.ErrUnavailable, full.Most)
	}
	return nil, fmt.Errorf("%w: this process has reached its limit of %d live tails; try again later",
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
	asked, err := a.request(e, m).read(ctx, true)
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
	return dispatch.Follow(ctx, a.cfg.Service, asked, t)
}

// tail sends the messages of a live tail. It is a [dispatch.Form].
type tail struct {
	conn   *nats.Conn
	reply  string
	id     string
	number uint64 // of messages so far
}

// Begin sends the first message.
func (t *tail) Begin(b control.Beginning) {
	t.write(nil, statusHeader, "200", sequenceHeader, strconv.FormatUint(b.After, 10),
		firstHeader, strconv.FormatUint(b.First, 10), tailHeader, t.id)
}

// Record sends a record.
func (t *tail) Record(sequence uint64, document []byte) {
	t.write(document, sequenceHeader, strconv.FormatUint(sequence, 10))
}

// Life sends an empty message.
func (t *tail) Life(passed uint64) { t.write(nil, place(passed)...) }

// End sends the last message.
func (t *tail) End(passed uint64, why error) {
	if errors.Is(why, scheduler.ErrNotFound) {
		t.write(v1.JSON(v1.NewEnd(why)), tailHeader, tailOver)
		return
	}
	t.write(nil, append(place(passed), tailHeader, tailAgain)...)
}

// place returns headers with the last sequence that did not match; 0: none.
func place(passed uint64) []string {
	if passed == 0 {
		return nil
	}
	return []string{sequenceHeader, strconv.FormatUint(passed, 10)}
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
