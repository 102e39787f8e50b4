package service

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// CollectionKeeper keeps collections.
type CollectionKeeper struct {
	shared *shared
	edits  Editor
}

// EnsureDefault creates the default collection at the first start.
func (c CollectionKeeper) EnsureDefault(ctx context.Context) error {
	data, err := scheduler.NewDefaultCollection().Encode()
	if err != nil {
		return err
	}
	_, err = c.bucket().Save(ctx, scheduler.DefaultCollection, data, 0)
	if errors.Is(err, scheduler.ErrConflict) {
		return nil // it is there
	}
	return err
}

func (c CollectionKeeper) bucket() scheduler.Bucket { return c.shared.Store.Collections() }

// PutCollection creates a collection or replaces its settings; its jobs stay
// as they are. created tells which.
func (c CollectionKeeper) PutCollection(
	ctx context.Context, name string, body []byte,
) (put *scheduler.Collection, created bool, err error) {
	if err := scheduler.ValidateName("collection", name); err != nil {
		return nil, false, err
	}
	v := document.ObjectValue()
	if len(body) > 0 {
		if v, err = scheduler.ParseDocument(body); err != nil {
			return nil, false, err
		}
	}
	if put, err = scheduler.ReadCollection(name, v); err != nil {
		return nil, false, err
	}
	data, err := put.Encode()
	if err != nil {
		return nil, false, err
	}
	for range casTries {
		st, err := c.bucket().Load(ctx, name)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return nil, false, err
		}
		put.Revision, err = c.bucket().Save(ctx, name, data, st.Revision)
		if !errors.Is(err, scheduler.ErrConflict) {
			return put, st.Revision == 0, err
		}
	}
	return nil, false, contended("collection " + name)
}

// Collection returns a collection.
func (c CollectionKeeper) Collection(ctx context.Context, name string) (*scheduler.Collection, error) {
	if err := scheduler.ValidateName("collection", name); err != nil {
		return nil, err
	}
	st, err := c.bucket().Load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("collection %s: %w", name, err)
	}
	return scheduler.DecodeCollection(name, st.Revision, st.Data)
}

// Collections returns all collections by name.
func (c CollectionKeeper) Collections(ctx context.Context) ([]*scheduler.Collection, error) {
	var all []*scheduler.Collection
	err := c.bucket().Each(ctx, func(st scheduler.Stored) error {
		one, err := scheduler.DecodeCollection(st.Key.Job, st.Revision, st.Data)
		all = append(all, one)
		return err
	})
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, err
}

// DeleteCollection deletes a collection with all its jobs. The default
// collection cannot be deleted.
func (c CollectionKeeper) DeleteCollection(ctx context.Context, name string) error {
	if name == scheduler.DefaultCollection {
		return fmt.Errorf("collection %s: %w: it is always there", name, scheduler.ErrConflict)
	}
	one, err := c.Collection(ctx, name)
	if err != nil {
		return err
	}
	if err := c.bucket().Remove(ctx, name, one.Revision); err != nil {
		return fmt.Errorf("collection %s: %w", name, err)
	}
	return c.shared.Store.EachJob(ctx, name, func(k scheduler.Key) error {
		err := c.edits.Delete(ctx, k, 0)
		if errors.Is(err, scheduler.ErrNotFound) {
			return nil
		}
		return err
	})
}
