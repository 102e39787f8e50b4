package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// EnsureDefault creates the default collection at the first start.
func (s *Service) EnsureDefault(ctx context.Context) error {
	data, err := defaultCollection().encode()
	if err != nil {
		return err
	}
	_, err = s.store.SaveCollection(ctx, DefaultCollection, data, 0)
	if errors.Is(err, ErrConflict) {
		return nil // it is there
	}
	return err
}

// PutCollection creates a collection or replaces its settings; its jobs stay
// as they are. created tells which.
func (s *Service) PutCollection(ctx context.Context, name string, body []byte) (c *Collection, created bool, err error) {
	if err := ValidateName("collection", name); err != nil {
		return nil, false, err
	}
	if err := CheckSize(len(body)); err != nil {
		return nil, false, err
	}
	v := document.ObjectValue()
	if len(body) > 0 {
		if v, err = document.Parse(body); err != nil {
			return nil, false, AsInvalid(asProblems(err))
		}
	}
	if c, err = readCollection(name, v); err != nil {
		return nil, false, err
	}
	data, err := c.encode()
	if err != nil {
		return nil, false, err
	}
	for range casTries {
		st, err := s.store.LoadCollection(ctx, name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, false, err
		}
		c.Revision, err = s.store.SaveCollection(ctx, name, data, st.Revision)
		if !errors.Is(err, ErrConflict) {
			return c, st.Revision == 0, err
		}
	}
	return nil, false, fmt.Errorf("collection %s: %w: it was changed by others all the while; try again", name, ErrConflict)
}

// Collection returns a collection.
func (s *Service) Collection(ctx context.Context, name string) (*Collection, error) {
	if err := ValidateName("collection", name); err != nil {
		return nil, err
	}
	st, err := s.store.LoadCollection(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("collection %s: %w", name, err)
	}
	return decodeCollection(name, st.Revision, st.Data)
}

// Collections returns all collections by name.
func (s *Service) Collections(ctx context.Context) ([]*Collection, error) {
	var all []*Collection
	err := s.store.EachCollection(ctx, func(st Stored) error {
		c, err := decodeCollection(st.Key.Collection, st.Revision, st.Data)
		all = append(all, c)
		return err
	})
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, err
}

// DeleteCollection deletes a collection with all its jobs. The default
// collection cannot be deleted.
func (s *Service) DeleteCollection(ctx context.Context, name string) error {
	if name == DefaultCollection {
		return fmt.Errorf("collection %s: %w: it is always there", name, ErrConflict)
	}
	c, err := s.Collection(ctx, name)
	if err != nil {
		return err
	}
	if err := s.store.RemoveCollection(ctx, name, c.Revision); err != nil {
		return fmt.Errorf("collection %s: %w", name, err)
	}
	return s.store.EachJob(ctx, name, func(k Key) error {
		err := s.Delete(ctx, k, 0)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	})
}
