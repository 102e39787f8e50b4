package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

// Events stores published events, and delivers them and the records of a history to the schedulers. Any NATS client with
// permission publishes events. A full stream refuses new events, and drops no unread one. Events is safe for concurrent
// use.
type Events struct {
	conn    *conn.Conn
	history *History
	stream  jetstream.Stream
}

// NewEvents returns the events on the connection of a history. It does no I/O.
func NewEvents(h *History) *Events { return &Events{conn: h.conn, history: h} }

// eventsStream is the stream of published events.
const eventsStream = "EVENTS"

// window is the duplicate window: an event with the ID of another one of the window is stored once.
const window = 2 * time.Minute

// Open opens the stream and its consumer. A server reserves the maximum size of a stream: if it lacks that space, the
// stream is created without a maximum, or keeps its own.
func (s *Events) Open(ctx context.Context) error {
	cfg := jetstream.StreamConfig{
		Name: s.conn.Config.Stream(eventsStream), Description: "Carillon: published events",
		Subjects:  []string{s.conn.Config.Prefix + ".event.*.*"},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
		MaxAge: s.conn.Config.EventAge, MaxBytes: s.conn.Config.EventBytes, Duplicates: window,
	}
	err := s.open(ctx, cfg)
	if !conn.IsOutOfRoom(err) {
		return err
	}
	s.conn.Config.Logger.Warn("the NATS server or the account lacks the space for the maximum size of the stream of events; "+
		"opening it without: set --event-bytes to a size that fits", "stream", cfg.Name, "bytes", cfg.MaxBytes, "err", err)
	cfg.MaxBytes = 0
	return s.open(ctx, cfg)
}

// open opens the stream with these limits, and its consumer.
func (s *Events) open(ctx context.Context, cfg jetstream.StreamConfig) (err error) {
	s.stream, err = s.conn.OpenQueue(ctx, cfg, func(wait time.Duration) jetstream.ConsumerConfig {
		return conn.SharedConsumer("Carillon: events for jobs", s.conn.Config.Prefix+".event.>", wait)
	})
	return err
}

// EventSubject returns the subject of a topic. An empty collection or name matches all.
func (s *Events) EventSubject(t scheduler.Topic) string {
	return s.conn.Config.Prefix + ".event." + cmp.Or(t.Collection, "*") + "." + cmp.Or(t.Name, "*")
}

// PublishEvent stores an event and returns its sequence, which is the sequence of an earlier event if that has the same
// ID. scheduler.ErrUnavailable if the stream is full, scheduler.ErrInvalid if NATS never takes the event.
func (s *Events) PublishEvent(
	ctx context.Context, t scheduler.Topic, header map[string][]string, body []byte,
) (sequence uint64, duplicate bool, err error) {
	m := nats.NewMsg(s.EventSubject(t))
	m.Data = body
	maps.Copy(m.Header, header)
	ack, err := s.conn.JS.PublishMsg(ctx, m)
	switch api, _ := errors.AsType[*jetstream.APIError](err); {
	case api != nil && api.ErrorCode == errStoreFailed:
		return 0, false, fmt.Errorf("%w: the stream %s is full: raise its size or lower its age (--event-bytes, --event-age)",
			scheduler.ErrUnavailable, s.conn.Config.Stream(eventsStream))
	case errors.Is(err, nats.ErrBadHeaderMsg), errors.Is(err, nats.ErrMaxPayload):
		return 0, false, scheduler.Invalid("", err.Error())
	case err != nil:
		return 0, false, conn.Translate(err)
	}
	return ack.Sequence, ack.Duplicate, nil
}

// errStoreFailed is the error code of a stream that refuses a message, such as a full one (JSStreamStoreFailedF).
const errStoreFailed jetstream.ErrorCode = 10077

// PendingEvents returns the number of events that no scheduler has matched.
func (s *Events) PendingEvents(ctx context.Context) (int, error) {
	c, err := s.stream.Consumer(ctx, conn.Workers)
	if err != nil {
		return 0, conn.Translate(err)
	}
	info := c.CachedInfo()
	return int(info.NumPending) + info.NumAckPending, nil
}

// EventAt returns the event with a sequence. scheduler.ErrNotFound if the stream does not have it.
func (s *Events) EventAt(ctx context.Context, sequence uint64) (*scheduler.Event, error) {
	m, err := s.conn.MessageAt(ctx, s.conn.Config.Stream(eventsStream), sequence)
	if err != nil {
		return nil, conn.Translate(err)
	}
	return s.event(m.Subject, m.Header, m.Data, m.Sequence, m.Time)
}

// RecentEvents calls f for the events of a topic, newest first, before a sequence (0: from the newest), until f returns
// false. An empty collection or name matches all.
func (s *Events) RecentEvents(ctx context.Context, t scheduler.Topic, before uint64, f func(*scheduler.Event) bool) error {
	return backwards(ctx, s.conn, s.stream, []string{s.EventSubject(t)}, before, false, func(m *jetstream.RawStreamMsg) (bool, error) {
		e, err := s.event(m.Subject, m.Header, m.Data, m.Sequence, m.Time)
		if err != nil {
			return true, nil //nolint:nilerr // it cannot start a job
		}
		return f(e), nil
	})
}

// event decodes a message.
func (s *Events) event(subject string, header nats.Header, body []byte, sequence uint64, stored time.Time) (*scheduler.Event, error) {
	var t scheduler.Topic
	if err := t.UnmarshalText([]byte(strings.TrimPrefix(subject, s.conn.Config.Prefix+".event."))); err != nil {
		return nil, err
	}
	e, err := scheduler.NewEvent(t, header, body)
	e.Sequence, e.Time = sequence, stored.UTC()
	return &e, err
}

// eventBytes is the maximum total size of the events in one request.
const eventBytes = 4 << 20

// DeliverEvents passes published events to take until ctx is done. room returns how many more it may deliver; a value
// on wake signals new room. take must not block. An event that cannot be decoded has Err.
func (s *Events) DeliverEvents(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.DeliveredEvent)) error {
	return s.deliver(ctx, eventsStream, wake, room, func(m *nats.Msg, of conn.Delivered) {
		e, err := s.event(m.Subject, m.Header, m.Data, of.Sequence, of.Stored)
		if e == nil {
			e = &scheduler.Event{Sequence: of.Sequence}
		}
		lease := s.conn.Failover.Keep(of.Stream, of.Sequence, m.Reply)
		take(scheduler.DeliveredEvent{Event: e, Err: err, Deliveries: of.Deliveries, Lease: lease})
	})
}

// deliver passes the messages of a stream to take until ctx is done.
func (s *Events) deliver(
	ctx context.Context, stream string, wake <-chan struct{}, room func() int, take func(*nats.Msg, conn.Delivered),
) error {
	p := conn.Pulling{Wake: wake, Capacity: room, All: &atomic.Int64{}, Share: 1, Bytes: eventBytes}
	return s.conn.Pull(ctx, s.conn.Config.Stream(stream), p, func(m *nats.Msg, of conn.Delivered) {
		if s.conn.Failover.Old(time.Now()) {
			of.Deliveries = max(of.Deliveries, 2) // the server may have redelivered it to another process
		}
		take(m, of)
	})
}
