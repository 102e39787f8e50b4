package hostile

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// Streams are the last sequences of streams, by name.
type Streams map[string]uint64

// Look returns those of a server.
func Look(s *server.Server) (Streams, error) {
	all, err := s.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	if err != nil {
		return nil, err
	}
	last := Streams{}
	for _, account := range all.AccountDetails {
		for _, stream := range account.Streams {
			last[stream.Name] = stream.State.LastSeq
		}
	}
	return last, nil
}

// Written names what was written between two looks: a stream and a subject each. What the server itself moves on, because its time has
// come, does not count.
func Written(ctx context.Context, js jetstream.JetStream, before, after Streams) (written []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if after[name] == before[name] {
			continue
		}
		stream, err := js.Stream(ctx, name)
		if err != nil {
			return nil, err
		}
		for seq := before[name] + 1; seq <= after[name]; seq++ {
			m, err := stream.GetMsg(ctx, seq)
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				continue // it was overwritten since
			}
			if err != nil {
				return nil, err
			}
			if m.Header.Get("Nats-Scheduler") == "" {
				written = append(written, name+" "+m.Subject)
			}
		}
	}
	return written, nil
}
