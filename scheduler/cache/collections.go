package cache

import (
	"context"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
)

// Collections are all collections as they are now: there are few, and every
// occurrence asks for one.
type Collections struct {
	*Mirror[string, *scheduler.Collection]
}

// NewCollections returns a mirror of the bucket of collections. It does no I/O.
func NewCollections(bucket scheduler.Bucket) *Collections {
	return &Collections{New(Config[string, *scheduler.Collection]{
		Watch: bucket.Watch, Retain: true, Decode: scheduler.DecodeCollection,
		Load: func(ctx context.Context, name string) (*scheduler.Collection, error) {
			st, err := bucket.Load(ctx, name)
			if err != nil {
				return nil, fmt.Errorf("collection %s: %w", name, err)
			}
			return scheduler.DecodeCollection(name, st.Revision, st.Data)
		},
	})}
}

// Get returns a collection, from the store unless the watch stands.
func (c *Collections) Get(ctx context.Context, name string) (*scheduler.Collection, error) {
	return c.Current(ctx, name, 0)
}

// Open reports whether the collection's jobs may run. One that is not known
// does not stop them.
func (c *Collections) Open(name string) bool {
	known, ok := c.Known(name)
	return !ok || known.Closed() == ""
}

// IsDeleting reports whether a collection is being deleted with its jobs.
func (c *Collections) IsDeleting(name string) bool {
	known, ok := c.Known(name)
	return ok && known.State == scheduler.Deleting
}

// Deleting returns the collections that are being deleted with their jobs, as far as the watch has reported them.
func (c *Collections) Deleting() (all []*scheduler.Collection) {
	c.Each(func(one *scheduler.Collection) {
		if one.State == scheduler.Deleting {
			all = append(all, one)
		}
	})
	return all
}

// Rule returns what a collection imposes on attempts to a target, nil for
// nothing.
func (c *Collections) Rule(name, target string) *scheduler.TargetRule {
	known, ok := c.Known(name)
	if !ok {
		return nil
	}
	return known.Rule(target)
}
