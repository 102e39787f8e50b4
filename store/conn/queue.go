package conn

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/failover"
)

// queue is a stream whose messages all processes take through one consumer. It implements [failover.Queue].
type queue struct {
	store  *Conn
	stream jetstream.Stream
	config func(wait time.Duration) jetstream.ConsumerConfig // of the consumer, with the given ack wait; nil: see [Conn.Join]
}

// Consumer returns the consumer.
func (q queue) Consumer(ctx context.Context) (jetstream.Consumer, error) {
	return q.stream.Consumer(ctx, Workers)
}

// SetAckWait sets the ack wait of the consumer.
func (q queue) SetAckWait(ctx context.Context, wait time.Duration) error {
	if q.config != nil {
		return q.store.consumer(ctx, q.stream, q.config(wait))
	}
	c, err := q.Consumer(ctx)
	if err == nil {
		cfg := c.CachedInfo().Config
		cfg.AckWait = wait
		_, err = q.stream.UpdateConsumer(ctx, cfg)
	}
	// A deleted consumer has no messages.
	return scheduler.Ignore(err, jetstream.ErrConsumerNotFound, jetstream.ErrConsumerDoesNotExist)
}

// Join lets failover claim the messages of the consumer of a stream until leave is called. The consumer may be deleted,
// in contrast to a consumer of [Conn.OpenQueue].
func (s *Conn) Join(st jetstream.Stream) (leave func()) {
	q := &queue{store: s, stream: st}
	s.joined.Store(q, true)
	return func() { s.joined.Delete(q) }
}

// claimable returns the queues whose messages failover may claim.
func (s *Conn) claimable() (all []failover.Queue) {
	for _, q := range s.queues {
		all = append(all, q)
	}
	s.joined.Range(func(q, _ any) bool {
		all = append(all, q.(failover.Queue))
		return true
	})
	return all
}

// OpenQueue opens a stream and its consumer. A stream without an age is a work queue.
func (s *Conn) OpenQueue(
	ctx context.Context, want jetstream.StreamConfig, config func(wait time.Duration) jetstream.ConsumerConfig,
) (jetstream.Stream, error) {
	want.AllowDirect = true
	if want.MaxAge == 0 {
		want.Retention = jetstream.WorkQueuePolicy
	}
	st, err := s.stream(ctx, want)
	if err != nil {
		return nil, err
	}
	s.queues = append(s.queues, queue{s, st, config})
	return st, s.consumer(ctx, st, config(failover.AckWait))
}

// openPublisher prepares failover, and the publisher, which reports to it.
func (s *Conn) openPublisher(context.Context) (err error) {
	s.Failover = failover.New(failover.Config{
		Conn: s.NC, Prefix: s.Config.Prefix, Logger: s.Config.Logger, Unannounced: s.unannounced, Queues: s.claimable,
	})
	s.publisher, err = newPublisher(s.NC, s.Failover)
	return err
}

// unannounced returns the last write of writtenKey, or zero.
func (s *Conn) unannounced(ctx context.Context) (time.Time, error) {
	e, err := s.Settings.Get(ctx, writtenKey)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, Translate(err)
	}
	return e.Created(), nil
}

// Workers is the name of the durable consumer that all processes share.
const Workers = "workers"

// SharedConsumer returns the consumer of a queue, which all processes share.
func SharedConsumer(description, filter string, wait time.Duration) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: Workers, Description: description, FilterSubject: filter,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: wait, MaxDeliver: -1, MaxAckPending: maxAckPending, MaxWaiting: maxWaiting,
	}
}

// Delivered is the metadata in the acknowledgement subject of a delivered message (NATS ADR-15):
//
//	$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer sequence>.<time>.<pending>
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<deliveries>.<sequence>.<consumer sequence>.<time>.<pending>[.<any>]
type Delivered struct {
	Stream     string
	Sequence   uint64
	Deliveries int
	Stored     time.Time
}

// ReadDelivered parses an acknowledgement subject. Unlike the client library, it does not allocate.
func ReadDelivered(reply string) (d Delivered, ok bool) {
	rest, ok := strings.CutPrefix(reply, "$JS.ACK.")
	if !ok {
		return d, false
	}
	switch tokens := strings.Count(rest, ".") + 1; {
	case tokens == 7:
	case tokens >= 9:
		_, rest, _ = strings.Cut(rest, ".") // domain
		_, rest, _ = strings.Cut(rest, ".") // account
	default:
		return d, false
	}
	d.Stream, rest, _ = strings.Cut(rest, ".")
	_, rest, _ = strings.Cut(rest, ".") // consumer
	var numbers [4]uint64
	for i := range numbers {
		var token string
		var err error
		token, rest, _ = strings.Cut(rest, ".")
		if numbers[i], err = strconv.ParseUint(token, 10, 63); err != nil {
			return d, false
		}
	}
	d.Deliveries, d.Sequence, d.Stored = int(numbers[0]), numbers[1], time.Unix(0, int64(numbers[3]))
	return d, true
}
