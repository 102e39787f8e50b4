package main

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// The stream that the messages go to. It is on the scheduler's own server.
const (
	herdStream  = "BENCH"
	herdSubject = "bench.herd"
)

// toJetStream is a stream on the scheduler's own server. What it publishes goes
// over its own connection.
func toJetStream(ctx context.Context, st *stage) (*target, error) {
	server, err := st.engine.streams()
	if err != nil {
		return nil, err
	}
	stream, err := server.js.CreateStream(ctx, jetstream.StreamConfig{Name: herdStream, Subjects: []string{herdSubject}})
	if err != nil {
		server.nc.Close()
		return nil, err
	}
	t := newTarget(st.sink)
	action := fmt.Sprintf(`{"type":"natsMessage","natsMessage":{"mode":"jetstream","subject":%q,"message":%q}}`, herdSubject, body)
	t.action = func(string) string { return action }
	t.arrived = func() int {
		info, err := stream.Info(ctx)
		if err != nil {
			return 0
		}
		return int(info.State.Msgs)
	}
	t.collect = func(ctx context.Context) error { return readAll(ctx, stream, st.sink) }
	t.close = func() error { server.nc.Close(); return nil }
	return t, nil
}

// readAll tells the sink of all messages in the stream.
func readAll(ctx context.Context, stream jetstream.Stream, s *sink) error {
	info, err := stream.Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return err
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for range info.State.Msgs {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		s.note(m.Headers().Get(jetstream.MsgIDHeader), meta.Timestamp)
	}
	return nil
}
