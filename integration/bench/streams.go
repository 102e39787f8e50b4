package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The streams whose messages are counted.
const (
	historyStream = "CARILLON_HISTORY"
	timersStream  = "CARILLON_TIMERS_0"
	resultStream  = "CARILLON_SPEC_RESULTS"
)

// streams is what the NATS server holds.
type streams struct {
	nc *nats.Conn
	js jetstream.JetStream
}

func (e *engine) streams() (*streams, error) {
	nc, err := e.connect()
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(patience))
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &streams{nc, js}, nil
}

// state returns what a stream holds.
func (s *streams) state(ctx context.Context, stream string) (jetstream.StreamState, error) {
	st, err := s.js.Stream(ctx, stream)
	if err != nil {
		return jetstream.StreamState{}, fmt.Errorf("stream %s: %w", stream, err)
	}
	return st.CachedInfo().State, nil
}

// messages returns how many messages a stream holds.
func (s *streams) messages(ctx context.Context, stream string) (int, error) {
	state, err := s.state(ctx, stream)
	return int(state.Msgs), err
}

// reach waits until a stream is as done wants it, and no longer than until. It
// returns when it was, and what it holds then.
func (s *streams) reach(
	ctx context.Context, stream string, until time.Time, done func(jetstream.StreamState) bool,
) (at time.Time, state jetstream.StreamState, err error) {
	tick := time.Tick(lookAgain)
	for {
		state, err = s.state(ctx, stream)
		at = time.Now()
		if err != nil || done(state) || at.After(until) {
			return at, state, err
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return at, state, context.Cause(ctx)
		}
	}
}

// lookAgain is the pause between two looks at what the server holds: the precision of what is settled, drained or armed.
const lookAgain = 20 * time.Millisecond
