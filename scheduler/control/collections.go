package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// CollectionKeeper manages collections.
type CollectionKeeper struct {
	shared  *shared
	edits   Editor
	sources SourceKeeper

	when scheduler.Condition // of every change
}

// EnsureDefault creates the default collection at the first start.
func (c CollectionKeeper) EnsureDefault(ctx context.Context) error {
	data, err := scheduler.NewCollection(scheduler.DefaultCollection).Encode()
	if err != nil {
		return err
	}
	_, err = c.bucket().Save(ctx, scheduler.DefaultCollection, data, 0)
	return scheduler.Ignore(err, scheduler.ErrConflict) // it exists
}

func (c CollectionKeeper) bucket() scheduler.CheckedBucket { return c.shared.Store.Collections() }

// PutCollection creates a collection or replaces its settings. Its jobs do not change, and neither does its state if
// the document has none. Equal settings change nothing.
func (c CollectionKeeper) PutCollection(ctx context.Context, name string, body []byte) (*scheduler.Collection, v1.Result, error) {
	change, err := c.put(ctx, name, body, false)
	if err != nil {
		return nil, "", err
	}
	return change.Would, change.Result, nil
}

// DryRunCollection returns the result of PutCollection and changes nothing.
func (c CollectionKeeper) DryRunCollection(ctx context.Context, name string, body []byte) (*v1.CollectionDryRun, error) {
	return c.put(ctx, name, body, true)
}

func (c CollectionKeeper) put(ctx context.Context, name string, body []byte, dryRun bool) (*v1.CollectionDryRun, error) {
	wish, err := c.readCollection(ctx, name, body)
	if err != nil {
		return nil, err
	}
	ctx = asking(ctx, "put")
	change, err := c.change(ctx, name, dryRun, func(cur *scheduler.Collection) (*scheduler.Collection, error) {
		next := wish.Replacing(cur)
		if cur == nil {
			if err := next.Placed(); err != nil {
				return nil, err
			}
		}
		return next, cmp.Or(c.meets(name, cur), c.checkPlan(ctx, cur, next))
	})
	damaged, ok := errors.AsType[*scheduler.DamagedError](err)
	if !ok {
		return change, err
	}
	err = cmp.Or(c.meets(name, damaged.Collection()), wish.Placed())
	if err == nil && !dryRun {
		err = c.write(ctx, nil, wish, damaged.Revision)
	}
	return &v1.CollectionDryRun{Would: wish, Result: v1.Updated}, err
}

// PatchCollection merges a document into a collection's settings (RFC 7396). It returns ErrNotFound if the collection
// does not exist.
func (c CollectionKeeper) PatchCollection(ctx context.Context, name string, body []byte) (*scheduler.Collection, error) {
	return changed(c.patch(ctx, name, body, false))
}

// DryRunCollectionPatch returns the result of PatchCollection and changes nothing.
func (c CollectionKeeper) DryRunCollectionPatch(ctx context.Context, name string, body []byte) (*v1.CollectionDryRun, error) {
	return c.patch(ctx, name, body, true)
}

func (c CollectionKeeper) patch(ctx context.Context, name string, body []byte, dryRun bool) (*v1.CollectionDryRun, error) {
	if err := scheduler.ValidateCollection(name); err != nil {
		return nil, err
	}
	patch, err := flow.Parse(ctx, body)
	if err != nil {
		return nil, err
	}
	ctx = asking(ctx, "patch")
	return c.change(ctx, name, dryRun, func(cur *scheduler.Collection) (*scheduler.Collection, error) {
		if cur == nil {
			return nil, noCollection(name)
		}
		if err := c.meets(name, cur); err != nil {
			return nil, err
		}
		next, err := cur.Patched(patch)
		if err == nil {
			_, err = next.ReadDefaults(c.shared.Actions, c.shared.Limits)
		}
		if err != nil {
			return nil, err
		}
		return next, c.checkPlan(ctx, cur, next)
	})
}

// SetCollectionState enables or disables a collection. The states of its jobs do not change. It returns ErrNotFound if the
// collection does not exist.
func (c CollectionKeeper) SetCollectionState(ctx context.Context, name string, state scheduler.State) (*scheduler.Collection, error) {
	if err := scheduler.ValidateCollection(name); err != nil {
		return nil, err
	}
	ctx = asking(ctx, turns[state])
	return changed(c.change(ctx, name, false, func(cur *scheduler.Collection) (*scheduler.Collection, error) {
		if cur == nil {
			return nil, noCollection(name)
		}
		if err := c.meets(name, cur); err != nil || cur.State == state {
			return cur, err
		}
		return cur.WithState(state), nil
	}))
}

// readCollection parses the settings of a collection. An empty body has no settings.
func (c CollectionKeeper) readCollection(ctx context.Context, name string, body []byte) (*scheduler.Collection, error) {
	if err := scheduler.ValidateCollection(name); err != nil {
		return nil, err
	}
	v := document.ObjectValue()
	if len(body) > 0 {
		var err error
		if v, err = flow.Parse(ctx, body); err != nil {
			return nil, err
		}
	}
	wish, err := scheduler.ReadCollection(name, v)
	if err == nil {
		_, err = wish.ReadDefaults(c.shared.Actions, c.shared.Limits)
	}
	return wish, err
}

// change stores the result of edit, which receives nil if the collection does not exist. After a conflicting change it
// calls edit again. With dryRun it stores nothing.
func (c CollectionKeeper) change(
	ctx context.Context, name string, dryRun bool, edit func(cur *scheduler.Collection) (*scheduler.Collection, error),
) (*v1.CollectionDryRun, error) {
	for range casTries {
		cur, err := c.stored(ctx, name)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return nil, err
		}
		next, err := edit(cur)
		if err != nil {
			return nil, err
		}
		change, replaces := &v1.CollectionDryRun{Is: cur, Would: next, Result: v1.Updated}, uint64(0)
		switch {
		case cur == nil:
			change.Result = v1.Created
		case next.Equals(cur):
			change.Result, next.Revision = v1.Unchanged, cur.Revision
			return change, nil
		default:
			replaces = cur.Revision
		}
		if dryRun {
			return change, nil
		}
		if err = c.write(ctx, cur, next, replaces); !errors.Is(err, scheduler.ErrConflict) {
			return change, err
		}
	}
	return nil, contended("collection " + name)
}

// changed returns the collection after a change.
func changed(change *v1.CollectionDryRun, err error) (*scheduler.Collection, error) {
	if err != nil {
		return nil, err
	}
	return change.Would, nil
}

// write stores a collection over a revision; cur is its previous form. This process uses the new form immediately,
// before the watch reports it.
func (c CollectionKeeper) write(ctx context.Context, cur, next *scheduler.Collection, replaces uint64) error {
	data, err := next.Encode()
	if err != nil {
		return err
	}
	return c.shared.audited(ctx, c.edited(ctx, cur, data, next, replaces), func(e *audit.Entry) error {
		next.Revision, err = c.store(ctx, cur, next, data, replaces)
		if err == nil {
			e.Revision = next.Revision
			c.shared.Collections.Note(next.Name, next.Revision, data)
		}
		return err
	})
}

// edited returns the audit log entry for a change of a collection. cur is nil if the previous form does not exist or is
// unreadable.
func (CollectionKeeper) edited(
	ctx context.Context, cur *scheduler.Collection, data []byte, next *scheduler.Collection, replaces uint64,
) *audit.Entry {
	e := &audit.Entry{
		Kind: audit.Collection, Op: origin(ctx).Op, Collection: next.Name, Result: string(v1.Updated), OldRevision: replaces,
		State: next.State,
	}
	if replaces == 0 {
		e.Result = string(v1.Created)
	}
	if cur == nil {
		return e
	}
	before, err := cur.Encode()
	if err != nil {
		return e
	}
	old, errOld := document.Parse(before)
	now, errNow := document.Parse(data)
	if errOld == nil && errNow == nil {
		e.Changed = document.ChangedPaths(old, now, audit.MaxChanged)
	}
	return e
}

// Collection returns a collection. If it is damaged, the result describes the damage. ErrNotFound if it does not exist.
func (c CollectionKeeper) Collection(ctx context.Context, name string) (*scheduler.Collection, error) {
	return shownCollection(c.stored(ctx, name))
}

// ScopeOf returns the scope of a collection, or ErrNotFound.
func (c CollectionKeeper) ScopeOf(ctx context.Context, name string) (scheduler.Scope, error) {
	known, err := c.shared.Collections.Get(ctx, name)
	if err != nil {
		return scheduler.Scope{}, err
	}
	return known.Scope, nil
}

// shownCollection returns the view of a collection or of its damage.
func shownCollection(one *scheduler.Collection, err error) (*scheduler.Collection, error) {
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
		return damaged.Collection(), nil
	}
	return one, err
}

// stored returns the stored collection, or ErrNotFound.
func (c CollectionKeeper) stored(ctx context.Context, name string) (*scheduler.Collection, error) {
	if err := scheduler.ValidateCollection(name); err != nil {
		return nil, err
	}
	st, err := c.bucket().Load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("collection %s: %w", name, err)
	}
	return scheduler.DecodeCollection(name, st.Revision, st.Data)
}

// Collections returns all collections, by name.
func (c CollectionKeeper) Collections(ctx context.Context) ([]*scheduler.Collection, error) {
	var all []*scheduler.Collection
	err := c.bucket().Each(ctx, func(st scheduler.Stored) error {
		one, err := shownCollection(scheduler.DecodeCollection(st.Key.Job, st.Revision, st.Data))
		all = append(all, one)
		return err
	})
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, err
}
