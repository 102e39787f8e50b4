package store

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// storedAhead is how many definitions are asked for at once, of 16 KB at most.
const storedAhead = 512

// EachStoredJob calls f for all definitions that are there, in the order in which they were written, until it returns an
// error. One that is written meanwhile may be told twice, or as it was before. It is much less work for the server than to
// look them up: they are read as they lie in the store.
func (s *Store) EachStoredJob(ctx context.Context, f func(scheduler.Stored) error) error {
	info, err := s.jobStream.Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return translate(err)
	}
	return scan(ctx, s.jobStream, jetstream.OrderedConsumerConfig{}, storedAhead, func(m jetstream.Msg, sequence uint64) error {
		k, ok := s.jobKey(m.Subject())
		if !ok || isMarker(m.Headers()) {
			return nil
		}
		return f(scheduler.Stored{Key: k, Revision: sequence, Data: m.Data()})
	})
}

// EachStoredBaton calls f for the batons of a lane that are jobs' own, waiting or running, in the order in which they were
// written, until it returns an error. One that is passed on meanwhile may be told twice, or as it was before.
func (s *Store) EachStoredBaton(ctx context.Context, lane int, f func(st scheduler.Stored, waiting bool) error) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	info, err := s.timers[lane].Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return translate(err)
	}
	return s.readMessages(ctx, info, func(m *jetstream.RawStreamMsg) error {
		slot, ok := s.slotOf(m.Subject)
		if !ok || slot.Detached != "" {
			return nil
		}
		return f(scheduler.Stored{Key: slot.Key, Revision: m.Sequence, Data: m.Data}, m.Subject == s.timerSubject(slot))
	})
}
