package control

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
)

// admissions creates jobs in collections with a quota, one after the other. Replicas do not wait for each other: a
// collection may exceed its quota by the jobs that they create within countTrusted.
type admissions struct {
	locks  *fairqueue.Queue // by collection
	counts sync.Map         // count by collection; owned by the holder of the collection's turn
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

// allows reports whether the quota allows another job, as far as this process knows.
func (n count) allows(quota int) bool {
	return time.Since(n.at) < min(countTrusted, time.Duration(quota-n.jobs-1)*timePerJob)
}

// admit stores a new job over a revision (0: none) if its collection's quota allows it.
func (e Editor) admit(ctx context.Context, j *scheduler.Job, data []byte, replaces uint64) (uint64, error) {
	collection, own := j.Key.Collection, &e.shared.admissions
	quota, err := e.maxJobCount(ctx, collection)
	if err != nil {
		return 0, err
	}
	if quota == 0 {
		return e.shared.Store.SaveJob(ctx, j.Key, data, replaces, j.State.Final())
	}
	release, err := own.locks.Acquire(ctx, collection)
	if err != nil {
		return 0, err
	}
	defer release()
	if quota, err = e.maxJobCount(ctx, collection); err != nil { // it may have changed during the wait
		return 0, err
	}
	found, _ := own.counts.Load(collection)
	n, _ := found.(count)
	if quota > 0 && !n.allows(quota) {
		n.at = time.Now()
		if n.jobs, err = e.checkJobCount(ctx, collection); err != nil {
			return 0, err
		}
	}
	rev, err := e.shared.Store.SaveJob(ctx, j.Key, data, replaces, j.State.Final())
	if err != nil {
		n.at = time.Time{} // the job may have been stored
	}
	n.jobs++
	own.counts.Store(collection, n)
	return rev, err
}

func (e Editor) maxJobCount(ctx context.Context, collection string) (int, error) {
	c, err := e.shared.Collections.Get(ctx, collection)
	if err != nil {
		return 0, err
	}
	return c.Quota().MaxJobCount, nil
}

// checkJobCount checks the quota for a new job, and returns the number of jobs if there is a quota. It includes
// finished jobs that are still kept and, below the quota, those that were deleted during the last hour.
func (e Editor) checkJobCount(ctx context.Context, collection string) (int, error) {
	quota, err := e.maxJobCount(ctx, collection)
	if err != nil || quota == 0 {
		return 0, err
	}
	keys, err := e.reads.keys(ctx, collection)
	if err == nil && len(keys) >= quota {
		keys, err = e.reads.existing(ctx, keys, quota)
	}
	if err == nil && len(keys) >= quota {
		err = &quotaError{scheduler.PlainName(collection), quota}
	}
	return len(keys), err
}

// quotaError is a conflict that a retry does not resolve.
type quotaError struct {
	collection string
	quota      int
}

// Error names the quota and the remedy.
func (e *quotaError) Error() string {
	return fmt.Sprintf(
		"%v: collection %s is full, its quota (maxJobCount) is %d: delete some of its jobs, such as completed ones, or raise it",
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

// store writes a collection over a revision. A change to the free plan requires that no collection has changed since
// the check that its subscription has no other free one.
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
