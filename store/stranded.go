package store

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// strandedMost is how many stranded batons are looked for at once. There are as many
// as were about to be removed when a server was killed: the next audit has others.
const strandedMost = 256

// Stranded returns the running batons of a lane that the server counts as
// acknowledged and has not removed. They lie below the ack floor of the consumer: it
// has nothing outstanding there, and delivers nothing from there. One that is just
// being removed may be among them, but none that this process has in its hands.
func (s *Store) Stranded(ctx context.Context, lane int) ([]scheduler.Stranded, error) {
	st := s.timers[lane]
	c, err := st.Consumer(ctx, workers)
	if err != nil {
		return nil, translate(err)
	}
	floor := c.CachedInfo().AckFloor.Stream
	if floor == 0 {
		return nil, nil
	}
	messages, _, err := s.forward(ctx, st.CachedInfo().Config.Name, s.laneConsumer(lane, ackWait).FilterSubject, 1, floor+1, strandedMost)
	if err != nil {
		return nil, err
	}
	var found []scheduler.Stranded
	for _, m := range messages {
		if slot, ok := s.slotOf(m.Subject); ok && !s.leases.holds(place{st.CachedInfo().Config.Name, m.Sequence}) {
			found = append(found, scheduler.Stranded{Slot: slot, Body: m.Data, Sequence: m.Sequence})
		}
	}
	return found, nil
}

// Discard removes a running baton by its sequence. One that is gone is no error.
func (s *Store) Discard(ctx context.Context, slot scheduler.Slot, sequence uint64) error {
	err := s.timers[s.Lane(slot.Key)].DeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		if _, missing := s.timers[s.Lane(slot.Key)].GetMsg(ctx, sequence); errors.Is(missing, jetstream.ErrMsgNotFound) {
			return nil
		}
	}
	return translate(err)
}
