package control

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
)

// TrailKeeper reads the audit log.
type TrailKeeper struct{ shared *shared }

// TrailQuery selects audit log entries.
type TrailQuery struct {
	audit.Scope

	Who   string    // "": any; otherwise a verified or claimed name, in any letter case, or an ID
	Since time.Time // inclusive
	Until time.Time // inclusive; zero: no limit
	Op    string    // "": all
}

// check validates the names.
func (q *TrailQuery) check() error {
	if q.Kind != "" && !slices.Contains(audit.Kinds, q.Kind) {
		return scheduler.Invalid("kind", fmt.Sprintf("%q is not one of job, collection, secret, token, system", q.Kind))
	}
	if q.Op != "" && !slices.Contains(audit.Ops, q.Op) {
		return scheduler.Invalid("op", fmt.Sprintf("%q is not one of %s", q.Op, strings.Join(audit.Ops, ", ")))
	}
	return checkScope(scheduler.Key{Collection: q.Collection, Job: q.Job})
}

// admits reports whether an entry matches.
func (q *TrailQuery) admits(e *audit.Entry) bool {
	return (q.Who == "" || strings.EqualFold(q.Who, e.By.Name) || q.Who == e.By.ID || strings.EqualFold(q.Who, e.Claim)) &&
		(q.Op == "" || q.Op == e.Op) && !e.Time.Before(q.Since) && (q.Until.IsZero() || !e.Time.After(q.Until))
}

// trailReach limits the entries that are examined for a page.
const trailReach = 20_000

// settling is how long an announced change may take before it counts as interrupted.
const settling = time.Minute

// Trail returns a page of the audit log, newest first. next is the sequence before which the next page starts, 0 at the
// end. A change with two entries appears with its final one; without it, it appears as interrupted.
func (t TrailKeeper) Trail(ctx context.Context, q TrailQuery, p v1.Page) (entries []*audit.Entry, next uint64, err error) {
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
	err = t.shared.Trail.RecentEntries(ctx, q.Scope, p.Before, func(e *audit.Entry) bool {
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

// clockSkew limits the difference between the clocks of the schedulers and the store.
const clockSkew = time.Minute

// shown reports whether an entry appears: an announcement appears only without a final entry. ends contains the
// announcements whose final entries were seen.
func (t TrailKeeper) shown(ctx context.Context, e *audit.Entry, ends map[uint64]bool) (bool, error) {
	if e.Phase != audit.Begun {
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
		e.Phase = audit.Interrupted
	}
	return true, nil
}

// FollowTrail calls ready once, with the sequence after which it starts, then f for every matching entry as it arrives,
// until ctx is done. It starts after the sequence after, or after the last entry if after is nil. Announced changes
// appear with their final entry.
func (t TrailKeeper) FollowTrail(
	ctx context.Context, q TrailQuery, after *uint64, ready func(after uint64), f func(*audit.Entry),
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
	return t.shared.Trail.FollowEntries(ctx, q.Scope, *after, func(e *audit.Entry) {
		if e.Phase != audit.Begun && q.admits(e) {
			f(e)
		}
	})
}

// begin returns when the audit log starts, or the zero time if it is empty or disabled.
func (t TrailKeeper) begin(ctx context.Context) (time.Time, error) {
	if t.shared.Trail == nil {
		return time.Time{}, nil
	}
	return t.shared.Trail.FirstEntry(ctx)
}

// LastChange returns the last change of a job, or of a collection if the key has no job, before an instant (zero: at
// any time). Only changes by one of the given operations count, if any are given: {"disable"} finds out who disabled a
// job. It returns nil if the audit log has no such change. An edit that sets the state or the pause counts as the
// equivalent operation: putting a job with the state disabled is a disable, and with pausedUntil a pause.
func (t TrailKeeper) LastChange(
	ctx context.Context, k scheduler.Key, kind audit.Kind, before time.Time, ops ...string,
) (last *audit.Entry, err error) {
	if t.shared.Trail == nil {
		return nil, nil //nolint:nilnil // nothing is known
	}
	seen := 0
	of := audit.Scope{Kind: kind, Collection: k.Collection, Job: k.Job}
	err = t.shared.Trail.RecentEntries(ctx, of, 0, func(e *audit.Entry) bool {
		seen++
		if e.Phase != audit.Begun && e.Error == "" && (before.IsZero() || e.Time.Before(before)) && asks(e, ops) {
			last = e
		}
		return last == nil && seen < trailReach
	})
	return last, err
}

// asks reports whether an entry is one of the operations or equivalent to one.
func asks(e *audit.Entry, ops []string) bool {
	if len(ops) == 0 || slices.Contains(ops, e.Op) {
		return true
	}
	if slices.Contains(ops, "pause") && slices.Contains(e.Changed, pausedUntil) && e.Op != "enable" {
		return true
	}
	if !slices.Contains(e.Changed, "state") && e.Result != string(v1.Created) {
		return false
	}
	switch e.State { //nolint:exhaustive // no operation requests the other states
	case scheduler.Disabled:
		return slices.Contains(ops, "disable")
	case scheduler.Enabled:
		return slices.Contains(ops, "enable")
	}
	return false
}
