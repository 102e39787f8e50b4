package jobcache

import (
	"context"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
)

// Collections caches all collections: they are few, and every occurrence needs one.
type Collections struct {
	*Mirror[string, *scheduler.Collection]

	decode func(name string, revision uint64, data []byte) (*scheduler.Collection, error)
	bucket scheduler.CheckedBucket
}

// NewCollections returns a mirror of the bucket. actions decodes the actions in the collections' defaults. It does no
// I/O.
func NewCollections(bucket scheduler.CheckedBucket, actions scheduler.ActionReader) *Collections {
	decode := func(name string, revision uint64, data []byte) (*scheduler.Collection, error) {
		c, err := scheduler.DecodeCollection(name, revision, data)
		if err == nil {
			c.Defaults, err = c.ReadDefaults(actions, scheduler.Limits{})
		}
		return c, err
	}
	return &Collections{New(Config[string, *scheduler.Collection]{
		Watch: bucket.Watch, Retain: true, Decode: decode,
		Load: func(ctx context.Context, name string) (*scheduler.Collection, error) {
			st, err := bucket.Load(ctx, name)
			if err != nil {
				return nil, fmt.Errorf("collection %s: %w", name, err)
			}
			return decode(name, st.Revision, st.Data)
		},
	}), decode, bucket}
}

// Inherit returns j with the defaults of its collection. An unreadable collection contributes no defaults.
func (c *Collections) Inherit(ctx context.Context, j *scheduler.Job) *scheduler.Job {
	if known, err := c.Get(ctx, j.Key.Collection); err == nil {
		return j.Inheriting(known.Defaults)
	}
	return j
}

// InheritFor is Inherit for an occurrence. After its first attempt begins, an occurrence keeps its defaults as long as the
// store has them. Before, InheritFor notes the current defaults in b.
func (c *Collections) InheritFor(ctx context.Context, b *scheduler.Baton, j *scheduler.Job) *scheduler.Job {
	known, err := c.Get(ctx, j.Key.Collection)
	switch {
	case err != nil:
		return j
	case !b.Begun():
		b.Defaults = 0
		if known.Defaults != nil {
			b.Defaults = known.Revision
		}
	case b.Defaults == 0:
		return j
	case b.Defaults != known.Revision:
		if st, err := c.bucket.LoadAt(ctx, known.Name, b.Defaults); err == nil {
			if then, err := c.decode(known.Name, st.Revision, st.Data); err == nil {
				known = then
			}
		}
	}
	return j.Inheriting(known.Defaults)
}

// Has reports whether the defaults for b are cached: InheritFor then reads nothing from the store.
func (c *Collections) Has(b *scheduler.Baton, collection string) bool {
	known, ok := c.Peek(collection)
	return ok && (!b.Begun() || b.Defaults == 0 || b.Defaults == known.Revision)
}

// Get returns a collection. It reads the store unless the watch is live.
func (c *Collections) Get(ctx context.Context, name string) (*scheduler.Collection, error) {
	return c.Current(ctx, name, 0)
}

// Open reports whether the collection's jobs may run. An unknown collection does not stop its jobs.
func (c *Collections) Open(name string) bool {
	known, ok := c.Known(name)
	return !ok || known.Closed() == ""
}

// IsDeleting reports whether a collection is being deleted with its jobs.
func (c *Collections) IsDeleting(name string) bool {
	known, ok := c.Known(name)
	return ok && known.State == scheduler.Deleting
}

// Deleting returns the collections that are being deleted with their jobs, according to the watch.
func (c *Collections) Deleting() (all []*scheduler.Collection) {
	c.Each(func(one *scheduler.Collection) {
		if one.State == scheduler.Deleting {
			all = append(all, one)
		}
	})
	return all
}

// Labels returns the labels that jobs inherit from a collection.
func (c *Collections) Labels(name string) map[string]string {
	if known, ok := c.Known(name); ok && known.Defaults != nil {
		return known.Defaults.Labels
	}
	return nil
}

// Rule returns the collection's rule for a target, or nil.
func (c *Collections) Rule(name, target string) *scheduler.TargetRule {
	known, ok := c.Known(name)
	if !ok {
		return nil
	}
	return known.Rule(target)
}
