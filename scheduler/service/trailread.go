package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/trail"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// TrailKeeper shows the audit trail.
type TrailKeeper struct{ shared *shared }

// TrailQuery says which entries of the audit trail are asked for.
type TrailQuery struct {
	trail.Scope

	Who   string    // "": anybody; else by whom, or by whom as claimed, in any letter case, or their id
	Since time.Time // not before
	Until time.Time // not after; zero: no bound
	Op    string    // "": all
}

// check makes sure that the names can be those of something.
func (q *TrailQuery) check() error {
	if q.Kind != "" && !slices.Contains(trail.Kinds, q.Kind) {
		return scheduler.Invalid("kind", fmt.Sprintf("%q is not one of job, collection, secret, token, system", q.Kind))
	}
	if q.Op != "" && !slices.Contains(trail.Ops, q.Op) {
		return scheduler.Invalid("op", fmt.Sprintf("%q is not one of %s", q.Op, strings.Join(trail.Ops, ", ")))
	}
	if q.Job != "" {
		return scheduler.Key{Collection: q.Collection, Job: q.Job}.Validate()
	}
	if q.Collection != "" {
		return scheduler.ValidateCollection(q.Collection)
	}
	return nil
}

// admits reports whether an entry is asked for.
func (q *TrailQuery) admits(e *trail.Entry) bool {
	return (q.Who == "" || strings.EqualFold(q.Who, e.By.Name) || q.Who == e.By.ID || strings.EqualFold(q.Who, e.Claim)) &&
		(q.Op == "" || q.Op == e.Op) && !e.Time.Before(q.Since) && (q.Until.IsZero() || !e.Time.After(q.Until))
}

// trailReach is how many entries are looked at for one page.
const trailReach = 20_000

// settling is how long a change that was begun may take before it counts as cut short.
const settling = time.Minute

// Trail returns a page of the audit trail, newest first. next is the sequence before which the next page goes on, 0 when
// there is none. What was begun stands only by its end; where there is none, it is told as interrupted.
func (t TrailKeeper) Trail(ctx context.Context, q TrailQuery, p view.Page) (entries []*trail.Entry, next uint64, err error) {
	if err := q.check(); err != nil {
		return nil, 0, err
	}
	if err := p.Validate(); err != nil {
		return nil, 0, err
	}
	if t.shared.Trail == nil {
		return nil, 0, fmt.Errorf("%w: %w", scheduler.ErrNotFound, errNoTrail)
	}
	release, err := takeTurn(ctx, t.shared.searching)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	seen, skip := 0, p.Skip
	ends := map[uint64]bool{}
	var failed error
	err = t.shared.Trail.RecentEntries(ctx, q.Scope, p.Before, func(e *trail.Entry) bool {
		seen++
		if seen > trailReach {
			next = e.Sequence + 1
			return false
		}
		if e.Time.Before(q.Since.Add(-clockSkew)) {
			return false
		}
		ends[e.Begun] = true
		shown, err := t.shown(ctx, e, ends)
		switch {
		case err != nil:
			failed = err
			return false
		case !shown || !q.admits(e):
		case skip > 0:
			skip--
		case len(entries) == p.Size():
			next = entries[len(entries)-1].Sequence
			return false
		default:
			entries = append(entries, e)
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return entries, next, err
}

// clockSkew is by how much the clocks of schedulers and of the store may differ.
const clockSkew = time.Minute

// shown reports whether an entry is shown: one that was begun only if it has no end. ends are the beginnings whose ends
// were seen.
func (t TrailKeeper) shown(ctx context.Context, e *trail.Entry, ends map[uint64]bool) (bool, error) {
	if e.Phase != trail.Begun {
		return true, nil
	}
	if ends[e.Sequence] {
		return false, nil
	}
	end, err := t.shared.Trail.EndOf(ctx, e)
	if err != nil || end != nil {
		return false, err
	}
	if t.shared.Store.Now().Sub(e.Time) > settling {
		e.Phase = trail.Interrupted
	}
	return true, nil
}

// FollowTrail calls ready once, with the sequence of the last entry that is not told, and then f for every entry after it
// that is asked for, as they come, until ctx is done. That is after, or the last entry of all when after is nil. What is
// begun is told by its end.
func (t TrailKeeper) FollowTrail(
	ctx context.Context, q TrailQuery, after *uint64, ready func(after uint64), f func(*trail.Entry),
) error {
	if err := q.check(); err != nil {
		return err
	}
	if t.shared.Trail == nil {
		return fmt.Errorf("%w: %w", scheduler.ErrNotFound, errNoTrail)
	}
	last, err := t.shared.Trail.LastEntry(ctx)
	if err != nil {
		return err
	}
	if after == nil {
		after = &last
	} else if *after > last {
		return scheduler.Invalid("after", fmt.Sprintf("%d is not the sequence of an audit record: the last one is %d", *after, last))
	}
	ready(*after)
	return t.shared.Trail.FollowEntries(ctx, q.Scope, *after, func(e *trail.Entry) {
		if e.Phase != trail.Begun && q.admits(e) {
			f(e)
		}
	})
}

// begin is when the trail begins, the zero time when it is empty, or none is kept.
func (t TrailKeeper) begin(ctx context.Context) (time.Time, error) {
	if t.shared.Trail == nil {
		return time.Time{}, nil
	}
	return t.shared.Trail.FirstEntry(ctx)
}

// LastChange returns the last change of a job, or of a collection when the key has no job, that was made before an instant
// (the zero time: of all) and for which one of the operations was asked, any when none is given: {"disable"} tells who
// disabled a job, as far as the trail goes back; nil when it does not tell. An edit by which the state became what the
// operation asks for counts as that operation: to put a job with the state disabled is to disable it, and to
// put one with pausedUntil to pause it.
func (t TrailKeeper) LastChange(
	ctx context.Context, k scheduler.Key, kind trail.Kind, before time.Time, ops ...string,
) (last *trail.Entry, err error) {
	if t.shared.Trail == nil {
		return nil, nil //nolint:nilnil // nothing is known
	}
	seen := 0
	of := trail.Scope{Kind: kind, Collection: k.Collection, Job: k.Job}
	err = t.shared.Trail.RecentEntries(ctx, of, 0, func(e *trail.Entry) bool {
		seen++
		if e.Phase != trail.Begun && e.Error == "" && (before.IsZero() || e.Time.Before(before)) && asks(e, ops) {
			last = e
		}
		return last == nil && seen < trailReach
	})
	return last, err
}

// asks reports whether an entry is of one of the operations, or comes to the same.
func asks(e *trail.Entry, ops []string) bool {
	if len(ops) == 0 || slices.Contains(ops, e.Op) {
		return true
	}
	if slices.Contains(ops, "pause") && slices.Contains(e.Changed, pausedUntil) && e.Op != "enable" {
		return true
	}
	if !slices.Contains(e.Changed, "state") && e.Result != string(view.Created) {
		return false
	}
	switch e.State { //nolint:exhaustive // the others are nobody's wish
	case scheduler.Disabled:
		return slices.Contains(ops, "disable")
	case scheduler.Enabled:
		return slices.Contains(ops, "enable")
	}
	return false
}
