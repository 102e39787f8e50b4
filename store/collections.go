package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// LoadCollection returns a stored collection. scheduler.ErrNotFound when there
// is none.
func (s *Store) LoadCollection(ctx context.Context, name string) (scheduler.Stored, error) {
	e, err := s.collections.Get(ctx, name)
	if err != nil {
		return scheduler.Stored{}, translate(err)
	}
	return scheduler.Stored{Key: scheduler.Key{Collection: name}, Revision: e.Revision(), Data: e.Value()}, nil
}

// SaveCollection writes a collection over the revision it replaces (0: none may
// exist). scheduler.ErrConflict when the revision is stale.
func (s *Store) SaveCollection(ctx context.Context, name string, data []byte, replaces uint64) (uint64, error) {
	if replaces == 0 {
		rev, err := s.collections.Create(ctx, name, data)
		return rev, translate(err)
	}
	rev, err := s.collections.Update(ctx, name, data, replaces)
	return rev, translate(err)
}

// RemoveCollection deletes a collection at a revision.
func (s *Store) RemoveCollection(ctx context.Context, name string, revision uint64) error {
	return translate(s.collections.Purge(ctx, name, jetstream.LastRevision(revision)))
}

// EachCollection calls f for every stored collection.
func (s *Store) EachCollection(ctx context.Context, f func(scheduler.Stored) error) error {
	return eachName(ctx, s.collections, s.LoadCollection, f)
}

// WatchCollections calls changed for every collection, first as it is and then
// at every change, until ctx is done; data is nil for a deleted one. ready is
// called in between.
func (s *Store) WatchCollections(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error {
	return watchNames(ctx, s.collections, ready, changed)
}

// eachName calls f for every value of a bucket, as load returns it.
func eachName(
	ctx context.Context, kv jetstream.KeyValue,
	load func(context.Context, string) (scheduler.Stored, error), f func(scheduler.Stored) error,
) error {
	names, err := kv.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil
	}
	if err != nil {
		return translate(err)
	}
	for _, name := range names {
		st, err := load(ctx, name)
		if errors.Is(err, scheduler.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f(st); err != nil {
			return err
		}
	}
	return nil
}

// watchNames calls changed for every value of a bucket, first as it is and then
// at every change, until ctx is done; data is nil for a deleted one. ready is
// called in between.
func watchNames(
	ctx context.Context, kv jetstream.KeyValue, ready func(), changed func(name string, revision uint64, data []byte),
) error {
	w, err := kv.WatchAll(ctx)
	if err != nil {
		return translate(err)
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return fmt.Errorf("%w: the watch of bucket %s ended", scheduler.ErrUnavailable, kv.Bucket())
			case e == nil: // all that were there have been seen
				ready()
			case e.Operation() == jetstream.KeyValuePut:
				changed(e.Key(), e.Revision(), e.Value())
			default:
				changed(e.Key(), e.Revision(), nil)
			}
		case <-ctx.Done():
			return nil
		}
	}
}
