package service

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// admissions lets jobs into collections that have a quota on their number. In a process those of one collection come one
// after the other; between processes the ledger of the collection decides ([scheduler.Jobs], CreateJob): a job is made only
// if none was since the jobs were counted. Collections without a quota have none of this.
type admissions struct {
	lines  lines
	counts sync.Map // *count, by collection: whoever has its turn may use it
}

// count is how many jobs a collection had at most when its ledger stood where it did.
type count struct {
	known  bool // what follows
	ledger uint64
	most   int
	at     time.Time // when they were counted
}

// countTrusted is how long a count is gone by that only the ledger keeps right: a process that has not heard of the
// quota yet makes jobs without an entry.
const countTrusted = 5 * time.Second

// admissionTries bounds how often a job is counted again that others overtake, and admissionPause how long a process waits
// before, at most, so that the others get on: with as many processes as there may be, each is likely to come first once.
const (
	admissionTries = 64
	admissionPause = 20 * time.Millisecond
)

// admit makes a job in a collection, over a revision (0: there was none), unless that has as many as its quota allows.
func (e Editor) admit(ctx context.Context, j *scheduler.Job, data []byte, replaces uint64) (uint64, error) {
	collection := j.Key.Collection
	c, err := e.shared.Collections.Get(ctx, collection)
	if err != nil || c.Quota().MaxJobCount == 0 {
		if err != nil {
			return 0, err
		}
		return e.shared.Store.SaveJob(ctx, j.Key, data, replaces, j.State.Final())
	}
	release, err := e.shared.admissions.lines.take(ctx, collection)
	if err != nil {
		return 0, err
	}
	defer release()
	found, _ := e.shared.admissions.counts.LoadOrStore(collection, &count{})
	r, _ := found.(*count)
	for range admissionTries {
		if err := e.haveRoom(ctx, r, collection); err != nil {
			return 0, err
		}
		ledger := r.ledger
		rev, err := e.shared.Store.CreateJob(ctx, j.Key, data, replaces, ledger, j.State.Final())
		if err == nil {
			r.ledger, r.most = rev-1, r.most+1
			return rev, nil
		}
		r.known = false
		if !errors.Is(err, scheduler.ErrConflict) {
			return 0, err
		}
		if now, failed := e.shared.Store.Ledger(ctx, collection); failed != nil || now == ledger {
			return 0, errors.Join(err, failed) // it is the job itself that somebody else has made
		}
		select {
		case <-time.After(rand.N(admissionPause)): //nolint:gosec // it is no secret
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return 0, fmt.Errorf("collection %s: %w: others make jobs all the while; try again", collection, scheduler.ErrUnavailable)
}

// haveRoom counts the jobs of a collection, unless it is known that there is room for one more. Its quota is that of now, as
// others may have had their turn before.
func (e Editor) haveRoom(ctx context.Context, r *count, collection string) error {
	c, err := e.shared.Collections.Get(ctx, collection)
	if err != nil {
		return err
	}
	quota := c.Quota().MaxJobCount
	if r.known && r.most < quota && time.Since(r.at) < countTrusted {
		return nil
	}
	r.known = false
	if r.ledger, err = e.shared.Store.Ledger(ctx, c.Name); err != nil || quota == 0 { // before they are counted
		return err
	}
	began := time.Now()
	n, err := e.countJobs(ctx, c)
	if err != nil {
		return err
	}
	if n >= quota {
		return fullError(c)
	}
	r.known, r.most, r.at = true, n, began
	return nil
}

// countJobs counts the jobs of a collection, those included that finished but are still kept. Below its quota it may count
// some that were deleted during the last hour, too.
func (e Editor) countJobs(ctx context.Context, c *scheduler.Collection) (int, error) {
	keys, err := e.reads.keys(ctx, c.Name)
	if err == nil && len(keys) >= c.Quota().MaxJobCount {
		keys, err = e.reads.existing(ctx, keys, c.Quota().MaxJobCount)
	}
	return len(keys), err
}

// checkJobCount checks the quota for a job that would be made.
func (e Editor) checkJobCount(ctx context.Context, collection string) error {
	c, err := e.shared.Collections.Get(ctx, collection)
	if err != nil || c.Quota().MaxJobCount == 0 {
		return err
	}
	n, err := e.countJobs(ctx, c)
	if err == nil && n >= c.Quota().MaxJobCount {
		err = fullError(c)
	}
	return err
}

// fullError says that a collection has as many jobs as it may have.
func fullError(c *scheduler.Collection) error {
	return &quotaError{scheduler.PlainName(c.Name), c.Quota().MaxJobCount}
}

// quotaError is a conflict that trying again does not solve.
type quotaError struct {
	collection string
	quota      int
}

// Error names the quota and what can be done.
func (e *quotaError) Error() string {
	return fmt.Sprintf(
		"%v: collection %s is full, its quota (maxJobCount) is %d: delete some of its jobs, such as those that are over, or raise it",
		scheduler.ErrConflict, e.collection, e.quota,
	)
}

// Is reports whether target is [scheduler.ErrConflict].
func (*quotaError) Is(target error) bool { return target == scheduler.ErrConflict }
