package store

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// LoadSecret returns a shared secret as it was saved. scheduler.ErrNotFound when
// there is none.
func (s *Store) LoadSecret(ctx context.Context, name string) (scheduler.Stored, error) {
	e, err := s.secrets.Get(ctx, name)
	if err != nil {
		return scheduler.Stored{}, translate(err)
	}
	return scheduler.Stored{Key: scheduler.Key{Job: name}, Revision: e.Revision(), Data: e.Value()}, nil
}

// SaveSecret writes a shared secret over the revision it replaces (0: none may
// exist) and returns the new revision. scheduler.ErrConflict when the revision
// is stale.
func (s *Store) SaveSecret(ctx context.Context, name string, data []byte, replaces uint64) (uint64, error) {
	if replaces == 0 {
		rev, err := s.secrets.Create(ctx, name, data)
		return rev, translate(err)
	}
	rev, err := s.secrets.Update(ctx, name, data, replaces)
	return rev, translate(err)
}

// RemoveSecret deletes a shared secret at a revision. scheduler.ErrConflict when
// the revision is stale.
func (s *Store) RemoveSecret(ctx context.Context, name string, revision uint64) error {
	return translate(s.secrets.Purge(ctx, name, jetstream.LastRevision(revision)))
}

// EachSecret calls f for every shared secret.
func (s *Store) EachSecret(ctx context.Context, f func(scheduler.Stored) error) error {
	return eachName(ctx, s.secrets, s.LoadSecret, f)
}

// WatchSecrets calls changed for every shared secret, first as it is and then at
// every change, until ctx is done; data is nil for a deleted one. ready is called
// in between: when changed was called for all that there are.
func (s *Store) WatchSecrets(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error {
	return watchNames(ctx, s.secrets, ready, changed)
}
