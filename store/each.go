package store

import (
	"context"
	"errors"

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

// errRead ends a reading that is at its end.
var errRead = errors.New("all has been read")

// EachJobFrom calls f for the definitions that were written from a revision on until now, and for the markers of those that were
// deleted, in the order in which they were written, until it returns an error. One that was written more than once may be told
// more than once: the last one is as it is. It is much less work for the server than to look up as many.
func (s *Store) EachJobFrom(ctx context.Context, from uint64, f func(st scheduler.Stored, deleted bool) error) error {
	info, err := s.jobStream.Info(ctx)
	if err != nil || info.State.Msgs == 0 || from > info.State.LastSeq {
		return translate(err)
	}
	cfg := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(from, 1)}
	err = scan(ctx, s.jobStream, cfg, storedAhead, func(m jetstream.Msg, sequence uint64) error {
		if sequence > info.State.LastSeq {
			return errRead
		}
		if k, ok := s.jobKey(m.Subject()); ok {
			if err := f(scheduler.Stored{Key: k, Revision: sequence, Data: m.Data()}, isMarker(m.Headers())); err != nil {
				return err
			}
		}
		if sequence == info.State.LastSeq {
			return errRead
		}
		return nil
	})
	if errors.Is(err, errRead) {
		return nil
	}
	return err
}

// EachStoredBaton calls f for the batons of a lane that are jobs' own, waiting or running, in the order in which they were
// written, until it returns an error. One that is passed on meanwhile may be told twice, or as it was before.
func (s *Store) EachStoredBaton(ctx context.Context, lane int, f func(st scheduler.Stored, waiting bool) error) error {
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
