package store

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
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
	wait, err := s.begin(m)
	if err != nil {
		return 0, err
	}
	return wait(ctx)
}

// begin sends a message to its stream; wait returns when it is stored.
func (s *Store) begin(m *nats.Msg) (wait func(context.Context) (uint64, error), err error) {
	f, err := s.js.PublishMsgAsync(m)
	if err != nil {
		return nil, translate(err)
	}
	return func(ctx context.Context) (uint64, error) {
		select {
		case ack := <-f.Ok():
			return ack.Sequence, nil
		case err := <-f.Err():
			return 0, translate(s.suspect(err))
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}, nil
}
