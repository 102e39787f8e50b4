package service

import (
	"context"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// checkPlan checks that a collection may have the free plan, where it has not had
// it before. cur is what it is now, nil for a new one.
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

// becomesFree reports whether a collection gets the free plan, of which there is one in a subscription.
func becomesFree(cur, next *scheduler.Collection) bool {
	return next.Plan == scheduler.Free && (cur == nil || cur.Plan != scheduler.Free)
}

// store writes a collection over a revision. One that becomes free is written only if no collection has changed since its
// subscription was found to have no other one.
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

// jobsOf returns the jobs of a collection, but for those that are damaged. Of more
// than any plan has, it returns some.
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
