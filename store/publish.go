package store

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The bounds of a publish: how long one waits for its acknowledgement, and how
// many may be under way before publishing blocks.
const (
	publishTimeout = 5 * time.Second
	publishWindow  = 1 << 16
)

// publish sends a message to its stream and waits until it is stored. Many
// goroutines publish at once, so messages share the connection's writes.
func (s *Store) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	f, err := s.js.PublishMsgAsync(m)
	if err != nil {
		return 0, translate(err)
	}
	select {
	case ack := <-f.Ok():
		return ack.Sequence, nil
	case err := <-f.Err():
		return 0, translate(err)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// probe finds out whether the subject may be published to, without storing
// anything: the stream refuses a message that expects another stream. The
// server answers a forbidden subject before it answers the flush.
func (s *Store) probe(ctx context.Context, subject string) error {
	m := nats.NewMsg(subject)
	m.Reply = s.nc.NewInbox() // nobody listens; only the refusal counts
	m.Header.Set(jetstream.ExpectedStreamHeader, "-")
	if err := s.nc.PublishMsg(m); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := s.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	return denied(s.nc, nil)
}
