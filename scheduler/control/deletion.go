package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Deleting a collection with its jobs has three steps: store the collection as deleting, which stops its jobs; delete
// the jobs and the sources; delete the collection. Any process can complete the deletion, in the background or for a second request.

// DeleteCollection deletes a collection with all its jobs or, with onlyEmpty, an empty one. A repeated call completes
// an interrupted deletion. It returns ErrConflict for the default collection and, with onlyEmpty, for a collection with
// jobs.
func (c CollectionKeeper) DeleteCollection(ctx context.Context, name string, onlyEmpty bool) error {
	if name == scheduler.DefaultCollection {
		return fmt.Errorf("collection %s: %w: the default collection cannot be deleted", name, scheduler.ErrConflict)
	}
	one, err := c.Collection(ctx, name)
	if err != nil {
		return err
	}
	ctx = asking(ctx, "delete")
	if one.State == scheduler.Deleting {
		return c.complete(ctx, one)
	}
	if err := c.meets(name, one); err != nil {
		return err
	}
	if onlyEmpty {
		if err := c.checkEmpty(ctx, name); err != nil {
			return err
		}
		return c.remove(ctx, one)
	}
	cur, marked := one, one.WithState(scheduler.Deleting)
	if one.State == scheduler.Damaged {
		cur, marked = nil, scheduler.NewCollection(name).WithState(scheduler.Deleting)
	}
	if err := c.write(ctx, cur, marked, one.Revision); err != nil {
		return fmt.Errorf("collection %s: %w", name, err)
	}
	return c.complete(ctx, marked)
}

// errReplaced reports that a collection has been deleted. Another one may have its name.
var errReplaced = errors.New("the collection has been deleted")

// complete deletes the jobs of a collection that is being deleted, then the collection.
func (c CollectionKeeper) complete(ctx context.Context, one *scheduler.Collection) error {
	err := c.clear(ctx, one)
	if err == nil {
		err = c.sources.clear(ctx, one.Name)
	}
	if err == nil {
		err = c.remove(ctx, one)
	}
	if err != nil && errors.Is(c.kept(ctx, one), errReplaced) {
		return nil // another process has completed it
	}
	return err
}

// kept returns errReplaced if the stored collection differs from the one read before. No other operation changes a
// collection during its deletion.
func (c CollectionKeeper) kept(ctx context.Context, one *scheduler.Collection) error {
	st, err := c.bucket().Load(ctx, one.Name)
	if errors.Is(err, scheduler.ErrNotFound) || err == nil && st.Revision != one.Revision {
		return errReplaced
	}
	return err
}

// deletedAtOnce limits concurrent deletions of jobs.
const deletedAtOnce = 16

// clear deletes the jobs of a collection that is being deleted until none is left.
func (c CollectionKeeper) clear(ctx context.Context, one *scheduler.Collection) error {
	for {
		keys, err := c.edits.reads.keys(ctx, one.Name)
		if err != nil {
			return err
		}
		left := 0
		for batch := range slices.Chunk(keys, batchKeys) {
			jobs, err := c.shared.stored(ctx, batch)
			if err == nil {
				err = c.kept(ctx, one) // otherwise the jobs may belong to a new collection with the same name
			}
			if err != nil {
				return err
			}
			left += len(jobs)
			var g errgroup.Group
			g.SetLimit(deletedAtOnce)
			for _, st := range jobs {
				g.Go(func() error { return c.clearJob(ctx, st) })
			}
			if err := g.Wait(); err != nil {
				return err
			}
		}
		if left == 0 {
			return nil
		}
	}
}

// clearJob deletes a job at the revision that was read. It leaves a job that has changed since to the next pass.
func (c CollectionKeeper) clearJob(ctx context.Context, st scheduler.Stored) error {
	last, err := c.edits.lastRecord(ctx, st.Key)
	if err == nil {
		err = c.edits.remove(ctx, st.Key, st, 0)
	}
	if err == nil {
		return c.edits.sweep(ctx, remains{st, last})
	}
	if errors.Is(err, scheduler.ErrConflict) || errors.Is(err, scheduler.ErrNotFound) {
		return nil
	}
	return fmt.Errorf("job %s: %w", st.Key, err)
}

// remove deletes the document of a collection.
func (c CollectionKeeper) remove(ctx context.Context, one *scheduler.Collection) error {
	e := &audit.Entry{Kind: audit.Collection, Op: "delete", Collection: one.Name, Result: "deleted", OldRevision: one.Revision}
	err := c.shared.audited(ctx, e, func(*audit.Entry) error { return c.bucket().Remove(ctx, one.Name, one.Revision) })
	if err != nil {
		return fmt.Errorf("collection %s: %w", one.Name, err)
	}
	c.shared.Collections.Note(one.Name, one.Revision+1, nil) // at most the revision of its delete marker
	return nil
}

// completeEvery is the interval at which a process looks for interrupted deletions.
const completeEvery = 5 * time.Second

// completeAll completes interrupted deletions until ctx is done.
func (c CollectionKeeper) completeAll(ctx context.Context) {
	ctx = asking(auth.With(ctx, &auth.Principal{Via: auth.ViaScheduler}), "delete")
	for flow.Pause(ctx, completeEvery) {
		for _, one := range c.shared.Collections.Deleting() {
			if err := c.complete(ctx, one); err != nil && ctx.Err() == nil {
				c.shared.Logger.Warn("a deleted collection still has jobs", "collection", one.Name, "err", err)
			}
		}
	}
}

// checkEmpty rejects a collection that has jobs, including completed ones, or sources.
func (c CollectionKeeper) checkEmpty(ctx context.Context, name string) error {
	keys, err := c.edits.reads.keys(ctx, name)
	if err != nil {
		return err
	}
	if keys, err = c.edits.reads.existing(ctx, keys, len(keys)); err != nil {
		return err
	}
	if len(keys) == 0 {
		n, err := c.sources.count(ctx, name)
		if err == nil && n > 0 {
			err = fmt.Errorf("collection %s: %w: it has sources (%d), which would be deleted with it", name, scheduler.ErrConflict, n)
		}
		return err
	}
	return fmt.Errorf("collection %s: %w: it has jobs (%d), which would be deleted with it", name, scheduler.ErrConflict, len(keys))
}
