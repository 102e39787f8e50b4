package store

import (
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// queue is a stream whose messages the processes share by one durable consumer: the
// batons of a lane, or specs.
type queue struct {
	stream   jetstream.Stream
	consumer func(wait time.Duration) jetstream.ConsumerConfig // on which the server waits so long for a sign of life
}

// queues returns all that there are.
func (s *Store) queues() []queue {
	queues := []queue{{s.specs, s.specConsumer}}
	for lane, st := range s.timers {
		queues = append(queues, queue{st, func(wait time.Duration) jetstream.ConsumerConfig { return s.laneConsumer(lane, wait) }})
	}
	return queues
}

// workers is the durable consumer that every process of a queue shares.
const workers = "workers"

// laneConsumer is the consumer of a lane.
func (s *Store) laneConsumer(lane int, wait time.Duration) jetstream.ConsumerConfig {
	return sharedConsumer("Carillon: workers", s.cfg.Prefix+".fire."+strconv.Itoa(lane)+".>", wait)
}

// specConsumer is the consumer of specs. Its filter takes all there is: without one,
// a purge of anything, such as that of a check, would have the server forget what was
// given back, and deliver it only when that is overdue.
func (s *Store) specConsumer(wait time.Duration) jetstream.ConsumerConfig {
	return sharedConsumer("Carillon: spec ingestion", s.cfg.Prefix+".spec.>", wait)
}

func sharedConsumer(description, filter string, wait time.Duration) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: workers, Description: description, FilterSubject: filter,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: wait, MaxDeliver: -1, MaxAckPending: maxAckPending,
	}
}
