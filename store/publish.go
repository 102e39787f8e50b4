package store

import (
	"context"
	"errors"
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
// anything: the stream refuses a message that expects another stream.
func (s *Store) probe(ctx context.Context, subject string) error {
	m := nats.NewMsg(subject)
	m.Header.Set(jetstream.ExpectedStreamHeader, "-")
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	_, err := s.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
	var api *jetstream.APIError
	if err == nil || errors.As(err, &api) {
		return nil
	}
	return denied(s.nc, err)
}
