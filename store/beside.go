package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// OpenBeside opens a store for a tool beside the schedulers. Of one that is there nothing is changed: it keeps its lanes,
// its replicas, its kind of storage, and the ages of what is kept, whatever the Config says. One that is not there is
// created with the Config, or, with create false, is scheduler.ErrNotFound.
func OpenBeside(ctx context.Context, nc *nats.Conn, cfg Config, create bool) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(publishTimeout))
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, nc: nc, js: js}
	if err := s.checkServer(ctx); err != nil {
		return nil, err
	}
	jobs := "KV_" + cfg.bucket(jobsBucket) // the tool for access tokens creates the settings
	st, err := js.Stream(ctx, jobs)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound) && create:
		return Open(ctx, nc, cfg)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, fmt.Errorf("a scheduler's store with the prefix %s: %w", cfg.Prefix, scheduler.ErrNotFound)
	case err != nil:
		return nil, s.openError("stream "+jobs, err)
	}
	have := st.CachedInfo().Config
	cfg.Lanes, cfg.Replicas, cfg.Storage = 0, 0, have.Storage
	for _, kept := range []struct {
		stream string
		take   func(jetstream.StreamConfig)
	}{
		{"HISTORY", func(c jetstream.StreamConfig) {
			cfg.HistoryAge, cfg.HistoryPerJob = c.MaxAge, bound(c.MaxMsgsPerSubject)
		}},
		{"SPEC_RESULTS", func(c jetstream.StreamConfig) { cfg.ResultAge = c.MaxAge }},
		{auditStream, func(c jetstream.StreamConfig) { cfg.AuditAge = c.MaxAge }},
	} {
		st, err := js.Stream(ctx, cfg.stream(kept.stream))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue // lost
		}
		if err != nil {
			return nil, s.openError("stream "+cfg.stream(kept.stream), err)
		}
		kept.take(st.CachedInfo().Config)
	}
	return Open(ctx, nc, cfg)
}

// Prefix begins every name of the store.
func (s *Store) Prefix() string { return s.cfg.Prefix }
