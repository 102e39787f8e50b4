package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/failover"
)

// queue is a stream whose messages all processes take through one consumer. It implements [failover.Queue].
type queue struct {
	store  *Store
	stream jetstream.Stream
	config func(wait time.Duration) jetstream.ConsumerConfig // of the consumer, with the given ack wait
}

// Consumer returns the consumer.
func (q queue) Consumer(ctx context.Context) (jetstream.Consumer, error) {
	return q.stream.Consumer(ctx, workers)
}

// SetAckWait sets the ack wait of the consumer.
func (q queue) SetAckWait(ctx context.Context, wait time.Duration) error {
	return q.store.consumer(ctx, q.stream, q.config(wait))
}

// queues returns all queues.
func (s *Store) queues() []queue {
	queues := []queue{{s, s.specs, s.specConsumer}}
	for lane, st := range s.timers {
		queues = append(queues, queue{s, st, func(wait time.Duration) jetstream.ConsumerConfig { return s.laneConsumer(lane, wait) }})
	}
	return queues
}

// openPublisher prepares failover, and the publisher, which reports to it.
func (s *Store) openPublisher() (err error) {
	s.failover = failover.New(failover.Config{
		Conn: s.nc, Prefix: s.cfg.Prefix, Logger: s.cfg.Logger, Unannounced: s.unannounced,
		Queues: func() (all []failover.Queue) {
			for _, q := range s.queues() {
				all = append(all, q)
			}
			return all
		},
	})
	s.publisher, err = newPublisher(s.nc, s.failover)
	return err
}

func (s *Store) openFailover(ctx context.Context) error { return translate(s.failover.Open(ctx)) }

// unannounced returns the last write of writtenKey, or zero.
func (s *Store) unannounced(ctx context.Context) (time.Time, error) {
	e, err := s.settings.Get(ctx, writtenKey)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, translate(err)
	}
	return e.Created(), nil
}

// workers is the name of the durable consumer that all processes share.
const workers = "workers"

// laneConsumer returns the consumer of a lane.
func (s *Store) laneConsumer(lane int, wait time.Duration) jetstream.ConsumerConfig {
	return sharedConsumer("Carillon: workers", s.cfg.Prefix+".fire."+strconv.Itoa(lane)+".>", wait)
}

// specConsumer returns the consumer of specs. It has a filter although it consumes all specs: without one, any purge,
// even the empty one of a check, makes the server forget released messages, which it then redelivers only after the ack
// wait.
func (s *Store) specConsumer(wait time.Duration) jetstream.ConsumerConfig {
	return sharedConsumer("Carillon: spec ingestion", s.cfg.Prefix+".spec.>", wait)
}

func sharedConsumer(description, filter string, wait time.Duration) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: workers, Description: description, FilterSubject: filter,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: wait, MaxDeliver: -1, MaxAckPending: maxAckPending,
	}
}

// lanesKey is the settings key of the number of lanes.
const lanesKey = "lanes"

// lanesThere counts the existing lane streams.
func (s *Store) lanesThere(ctx context.Context) (n int, err error) {
	for n < MaxLanes && err == nil {
		if _, err = s.js.Stream(ctx, s.cfg.stream(timersStream(n))); err == nil {
			n++
		}
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = nil
	}
	return n, translate(err)
}

// checkLanes refuses a configured number of lanes that differs from the stored one.
func (s *Store) checkLanes() error {
	if s.cfg.Lanes != 0 && s.cfg.Lanes != s.lanes {
		return &SettingError{Setting: "lanes", Conflict: true, Message: fmt.Sprintf(
			"%d was asked for, but this store was created with %d, which is fixed; leave the setting out or use %d",
			s.cfg.Lanes, s.lanes, s.lanes,
		)}
	}
	return nil
}

// takeLanes reads the number of lanes, or writes it at the first start. Another process may write it first, and the
// cluster server that answers a read may lag.
func (s *Store) takeLanes(ctx context.Context, settings jetstream.KeyValue) error {
	for {
		e, err := settings.Get(ctx, lanesKey)
		if err == nil {
			s.lanes, err = strconv.Atoi(string(e.Value()))
			if err != nil || s.lanes < 1 || s.lanes > MaxLanes {
				return &SettingError{Setting: "lanes", Message: fmt.Sprintf(
					"the stored value %q in bucket %s is not a number of lanes", e.Value(), s.cfg.bucket("settings"),
				), Cause: err}
			}
			return s.checkLanes()
		}
		if !errors.Is(err, jetstream.ErrKeyNotFound) {
			return translate(err)
		}
		there, err := s.lanesThere(ctx)
		if err != nil {
			return err
		}
		s.lanes = max(1, s.cfg.Lanes)
		if there > 0 { // the lanes of an earlier start
			s.lanes = there
		}
		_, err = settings.Create(ctx, lanesKey, []byte(strconv.Itoa(s.lanes)))
		switch {
		case errors.Is(err, jetstream.ErrKeyExists):
			continue
		case err != nil:
			return translate(err)
		case there > 0:
			s.cfg.Logger.Error("the settings have lost the number of lanes; it is taken from the streams that are there", "lanes", there)
		}
		return s.checkLanes()
	}
}

// Load returns the number of waiting and running batons and of specs. It requests the state of each lane's stream and
// consumer, and reads no message. The two requests are not atomic, so a baton that fires in between may be counted
// twice.
func (s *Store) Load(ctx context.Context) (scheduler.Load, error) {
	load := scheduler.Load{Lanes: make([]scheduler.LaneLoad, len(s.timers))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(checkAtOnce)
	g.Go(func() error {
		info, err := s.specs.Info(ctx)
		if err == nil {
			load.Specs = int(info.State.Msgs)
		}
		return err
	})
	for lane := range s.timers {
		g.Go(func() (err error) {
			load.Lanes[lane], err = s.laneLoad(ctx, lane)
			return err
		})
	}
	return load, translate(g.Wait())
}

func (s *Store) laneLoad(ctx context.Context, lane int) (scheduler.LaneLoad, error) {
	consumer, err := s.timers[lane].Consumer(ctx, workers)
	if err != nil {
		return scheduler.LaneLoad{}, err
	}
	info, err := s.timers[lane].Info(ctx)
	if err != nil {
		return scheduler.LaneLoad{}, err
	}
	fired := consumer.CachedInfo()
	running := int(fired.NumPending) + fired.NumAckPending
	return scheduler.LaneLoad{
		Waiting: max(0, int(info.State.Msgs)-running), Running: running, Pending: int(fired.NumPending),
	}, nil
}

// Deliver passes the running batons of a lane to take until ctx is done. room returns how many more it may deliver; a
// value on wake signals new room. take must not block. After ctx is done, it should release further batons.
func (s *Store) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	s.failover.Begin()
	defer s.failover.End()
	return s.pull(ctx, s.cfg.stream(timersStream(lane)), pulling{wake: wake, room: room, all: &s.asked, share: s.lanes}, func(m *nats.Msg) {
		if d, ok := s.delivery(m); ok {
			take(d)
		}
	})
}

// delivery parses a message of a fire subject.
func (s *Store) delivery(m *nats.Msg) (*scheduler.Delivery, bool) {
	of, ok := readDelivered(m.Reply)
	if !ok {
		s.cfg.Logger.Error("message without JetStream metadata", "subject", m.Subject, "reply", m.Reply)
		return nil, false
	}
	slot, ok := s.slotOf(m.Subject)
	if !ok {
		s.cfg.Logger.Error("message on a fire subject that names no job; removed", "subject", m.Subject)
		_ = m.Ack()
		return nil, false
	}
	if s.failover.Old(time.Now()) {
		of.deliveries = max(of.deliveries, 2) // the server may have redelivered it to another process
	}
	return &scheduler.Delivery{
		Slot: slot, Body: m.Data, Sequence: of.sequence,
		Deliveries: of.deliveries, Fired: of.stored, Lease: s.failover.Keep(of.stream, of.sequence, m.Reply),
	}, true
}

// delivered is the metadata in the acknowledgement subject of a delivered message (NATS ADR-15):
//
//	$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer sequence>.<time>.<pending>
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<deliveries>.<sequence>.<consumer sequence>.<time>.<pending>[.<any>]
type delivered struct {
	stream     string
	sequence   uint64
	deliveries int
	stored     time.Time
}

// readDelivered parses an acknowledgement subject. Unlike the client library, it does not allocate.
func readDelivered(reply string) (d delivered, ok bool) {
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
	d.stream, rest, _ = strings.Cut(rest, ".")
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
	d.deliveries, d.sequence, d.stored = int(numbers[0]), numbers[1], time.Unix(0, int64(numbers[3]))
	return d, true
}
