package main

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// kept are the streams and buckets that grow with the work, and the figure of what a message takes in each, as JetStream
// counts it: the message, its subject and headers, and what its file has beside them.
var kept = []struct{ stream, figure string }{
	{"KV_carillon-jobs", "disk_bytes_per_definition"},
	{timersStream, "disk_bytes_per_baton"},
	{historyStream, "disk_bytes_per_record"},
	{"CARILLON_AUDIT", "disk_bytes_per_change"},
	{resultStream, "disk_bytes_per_verdict"},
}

// sizes tells what a message takes on the disk, of each stream that holds any.
func (s *streams) sizes(ctx context.Context) (figures, error) {
	var fs figures
	for _, k := range kept {
		state, err := s.state(ctx, k.stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if state.Msgs > 0 {
			fs = append(fs, figure{k.figure, float64(state.Bytes) / float64(state.Msgs)})
		}
	}
	return fs, nil
}
