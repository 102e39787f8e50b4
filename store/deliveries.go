package store

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
)

// Deliver hands the running batons of a lane to take until ctx is done. room
// says how many more may come, and a value on wake that there is room again.
// take must not block; what it gets after ctx is done it should give back.
func (s *Store) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	s.presence.begin()
	defer s.presence.end()
	return s.pull(ctx, s.cfg.stream(timersStream(lane)), pulling{wake: wake, room: room, all: &s.asked, share: s.lanes}, func(m *nats.Msg) {
		if d, ok := s.delivery(m); ok {
			take(d)
		}
	})
}

// delivery reads a message of a fire subject.
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
	if s.stall.old(time.Now()) {
		of.deliveries = max(of.deliveries, 2) // others may have been given it since
	}
	return &scheduler.Delivery{
		Slot: slot, Body: m.Data, Sequence: of.sequence,
		Deliveries: of.deliveries, Fired: of.stored, Lease: s.leases.keep(place{of.stream, of.sequence}, m.Reply),
	}, true
}
