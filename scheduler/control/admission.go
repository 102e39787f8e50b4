package control

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// admissions creates jobs in collections with a quota, one after the other. Replicas do not wait for each other: a
// collection may exceed its quota by the jobs that they create within countTrusted.
type admissions struct {
	lines  lines
	counts sync.Map // *count by collection; owned by the holder of the collection's turn
}

// count is the number of jobs in a collection at an instant, plus those that this process has created since.
type count struct {
	jobs int
	at   time.Time
}

// A count is reused for a short time, so that a herd of new jobs does not count the collection for each of them. Near
// the quota, this time is shorter, because other replicas create jobs, too.
const (
	countTrusted = 100 * time.Millisecond
	timePerJob   = time.Millisecond
)

// hasRoom reports whether the quota allows another job, as far as this process knows.
func (n *count) hasRoom(quota int) bool {
	return time.Since(n.at) < min(countTrusted, time.Duration(quota-n.jobs-1)*timePerJob)
}

// admit stores a new job over a revision (0: none) if its collection's quota allows it.
func (e Editor) admit(ctx context.Context, j *scheduler.Job, data []byte, replaces uint64) (uint64, error) {
	collection := j.Key.Collection
	c, err := e.shared.Collections.Get(ctx, collection)
	if err != nil {
		return 0, err
	}
	if c.Quota().MaxJobCount == 0 {
		return e.shared.Store.SaveJob(ctx, j.Key, data, replaces, j.State.Final())
	}
	release, err := e.shared.admissions.lines.take(ctx, collection)
	if err != nil {
		return 0, err
	}
	defer release()
	found, _ := e.shared.admissions.counts.LoadOrStore(collection, &count{})
	r, _ := found.(*count)
	if err := e.haveRoom(ctx, r, collection); err != nil {
		return 0, err
	}
	rev, err := e.shared.Store.SaveJob(ctx, j.Key, data, replaces, j.State.Final())
	if err != nil {
		r.at = time.Time{} // the job may have been stored
	}
	r.jobs++
	return rev, err
}

// haveRoom checks the quota, and counts the collection's jobs if necessary. It reads the current quota, which may have
// changed during the wait.
func (e Editor) haveRoom(ctx context.Context, r *count, collection string) error {
	c, err := e.shared.Collections.Get(ctx, collection)
	if err != nil {
		return err
	}
	quota := c.Quota().MaxJobCount
	if quota == 0 || r.hasRoom(quota) {
		return nil
	}
	began := time.Now()
	n, err := e.countJobs(ctx, c)
	if err != nil {
		return err
	}
	r.jobs, r.at = n, began
	if n >= quota {
		r.at = time.Time{} // the count stopped at the quota
		return fullError(c)
	}
	return nil
}

// countJobs counts the jobs of a collection, including finished jobs that are still kept. Below the quota, the count
// may include jobs that were deleted during the last hour.
func (e Editor) countJobs(ctx context.Context, c *scheduler.Collection) (int, error) {
	keys, err := e.reads.keys(ctx, c.Name)
	if err == nil && len(keys) >= c.Quota().MaxJobCount {
		keys, err = e.reads.existing(ctx, keys, c.Quota().MaxJobCount)
	}
	return len(keys), err
}

// checkJobCount checks the quota for a new job.
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

// fullError reports that a collection has reached its quota.
func fullError(c *scheduler.Collection) error {
	return &quotaError{scheduler.PlainName(c.Name), c.Quota().MaxJobCount}
}

// quotaError is a conflict that a retry does not resolve.
type quotaError struct {
	collection string
	quota      int
}

// Error names the quota and the remedy.
func (e *quotaError) Error() string {
	return fmt.Sprintf(
		"%v: collection %s is full, its quota (maxJobCount) is %d: delete some of its jobs, such as those that are over, or raise it",
		scheduler.ErrConflict, e.collection, e.quota,
	)
}

// Is reports whether target is [scheduler.ErrConflict].
func (*quotaError) Is(target error) bool { return target == scheduler.ErrConflict }

// checkPlan checks whether a collection may change to the free plan. cur is the current collection, nil for a new one.
func (c CollectionKeeper) checkPlan(ctx context.Context, cur, next *scheduler.Collection) error {
	if !becomesFree(cur, next) {
		return nil
	}
	others, err := c.freeBeside(ctx, next)
	if err != nil {
		return err
	}
	var jobs []*scheduler.Job
	if cur != nil {
		if jobs, err = c.jobsOf(ctx, cur.Name); err != nil {
			return err
		}
	}
	return next.CheckPlan(jobs, others)
}

// becomesFree reports whether a collection changes to the free plan. A subscription can have one free collection.
func becomesFree(cur, next *scheduler.Collection) bool {
	return next.Plan == scheduler.Free && (cur == nil || cur.Plan != scheduler.Free)
}

// store writes a collection over a revision. It writes one that changes to the free plan only if no collection has
// changed since its subscription was found to have no other.
func (c CollectionKeeper) store(
	ctx context.Context, cur, next *scheduler.Collection, data []byte, replaces uint64,
) (revision uint64, err error) {
	if !becomesFree(cur, next) {
		return c.bucket().Save(ctx, next.Name, data, replaces)
	}
	check := func() error { return c.checkPlan(ctx, cur, next) }
	return c.bucket().SaveAfter(ctx, check, next.Name, data, replaces)
}

// freeBeside counts the other free collections of a collection's subscription.
func (c CollectionKeeper) freeBeside(ctx context.Context, of *scheduler.Collection) (n int, err error) {
	all, err := c.Collections(ctx)
	own, _ := of.Scope.Names()
	for _, one := range all {
		subscription, _ := one.Scope.Names()
		if one.Plan == scheduler.Free && one.Name != of.Name && strings.EqualFold(subscription, own) {
			n++
		}
	}
	return n, err
}

// jobsOf returns the readable jobs of a collection, at most a few more than any plan allows.
func (c CollectionKeeper) jobsOf(ctx context.Context, collection string) (jobs []*scheduler.Job, err error) {
	keys, err := c.edits.reads.keys(ctx, collection)
	if err == nil {
		keys, err = c.edits.reads.existing(ctx, keys, batchKeys)
	}
	if err != nil {
		return nil, err
	}
	return c.shared.readable(ctx, keys)
}
