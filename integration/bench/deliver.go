package main

import (
	"context"
)

// target is what the calls of a herd go to.
type target struct {
	options []option                        // with which actions find it, in this process
	args    []string                        // of carillon serve, to the same end
	action  func(key string) string         // of the job whose call has that key, as JSON; nil: a request to the sink
	arrived func() int                      // how many calls have
	collect func(ctx context.Context) error // tells the sink of the calls, if they do not pass through it
	close   func() error
}

// newTarget returns a target whose calls pass through the sink.
func newTarget(s *sink) *target {
	return &target{
		arrived: s.distinct,
		collect: s.collect,
		close:   func() error { return nil },
	}
}

// toHTTP is the sink itself.
func toHTTP(_ context.Context, st *stage) (*target, error) { return newTarget(st.sink), nil }

// destinations are the types of action that are compared. The first is what
// the others are compared with.
var destinations = []struct {
	name string
	open func(context.Context, *stage) (*target, error)
}{
	{"http", toHTTP},
	{"servicebus", toServiceBus},
	{"storagequeue", toStorageQueue},
	{"jetstream", toJetStream},
}

// deliver measures the herd on each type of target.
func deliver(ctx context.Context, b *bench) ([]part, error) {
	parts := make([]part, len(destinations))
	for i := range destinations {
		at := (b.run + i) % len(destinations)
		p, err := b.herdTo(ctx, destinations[at].name, destinations[at].open)
		if err != nil {
			return nil, err
		}
		parts[at] = p
	}
	for _, compared := range []struct{ figure, ratio string }{
		{"delivered_per_s", "rate_vs_http"},
		{"late_p50_ms", "late_p50_vs_http"},
		{"late_p99_ms", "late_p99_vs_http"},
		{"cpu_us_per_job", "cpu_vs_http"},
	} {
		first, _ := parts[0].figures.find(compared.figure)
		for at := range parts {
			own, _ := parts[at].figures.find(compared.figure)
			parts[at].figures = append(parts[at].figures, figure{compared.ratio, own / first})
		}
	}
	return parts, nil
}
