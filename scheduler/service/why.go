package service

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/trail"
	"github.com/carillon-sched/carillon/scheduler/why"
)

// whyReach limits the records that are examined for an answer. An occurrence has few records, which are adjacent except
// for those of concurrent runs.
const whyReach = 512

// Why explains why a job ran at a time or did not. [why.ParseMoment] parses at, in the job's time zone; for "",
// [why.Question.Latest] selects the time.
//
// Errors: ErrInvalid for the names and the time; ErrNotFound if neither the collection nor the job exists, and nothing
// is known of an earlier job with the same name.
func (r Reader) Why(ctx context.Context, k scheduler.Key, at string) (*why.Answer, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if err := r.shared.exists(ctx, k.Collection); err != nil {
		return nil, err
	}
	release, err := takeTurn(ctx, r.shared.searching)
	if err != nil {
		return nil, err
	}
	defer release()
	q := &why.Question{Key: k, Zone: time.UTC}
	if err := r.asked(ctx, q); err != nil {
		return nil, err
	}
	q.Now = r.shared.Store.Now().UTC()
	if at == "" {
		err = r.latest(ctx, q)
	} else if q.Moment, err = why.ParseMoment(at, q.Zone, q.Now); err != nil {
		err = scheduler.Invalid("at", err.Error())
	}
	if err != nil {
		return nil, err
	}
	if err := r.around(ctx, q); err != nil {
		return nil, err
	}
	if err := r.changes(ctx, q); err != nil {
		return nil, err
	}
	a := why.Explain(q)
	if a.Code == why.NoJob {
		return nil, notThere(k)
	}
	return &a, nil
}

// latest selects the time of a question without one.
func (r Reader) latest(ctx context.Context, q *why.Question) error {
	var last *scheduler.Record
	seen := 0
	err := r.shared.Store.Recent(ctx, q.Key, 0, []scheduler.Outcome{
		scheduler.OutcomeFaulted, scheduler.OutcomeSkipped, scheduler.OutcomePostponed,
	}, func(rec *scheduler.Record) bool {
		seen++
		if q.Missed(rec) {
			last = rec
		}
		return last == nil && seen < whyReach
	})
	q.Moment = q.Latest(last)
	return err
}

// asked loads the job and its batons.
func (r Reader) asked(ctx context.Context, q *why.Question) error {
	j, st, err := r.shared.findInTurn(ctx, q.Key)
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
		q.Damaged = damaged.Says()
		return nil
	}
	if err != nil {
		return err
	}
	if j == nil {
		q.Deleted = st.Revision > 0
		return nil
	}
	q.Zone, q.Changes = j.Plan.Zone(), why.ChangesIn(j)
	if q.Beside, err = r.detached(ctx, j); err != nil {
		return err
	}
	q.Closed = !r.shared.open(ctx, q.Key.Collection)
	if !j.State.Final() {
		if q.Baton, q.Running, err = r.plans.baton(ctx, j); err != nil {
			return err
		}
	}
	if q.Baton == nil {
		if j, err = r.shared.steps.Settled(ctx, j); err != nil {
			return err
		}
	}
	q.Job = j
	return nil
}

// detached returns the positions of a job's detached runs. It omits unreadable batons.
func (r Reader) detached(ctx context.Context, j *scheduler.Job) (all []why.Place, err error) {
	err = r.shared.Store.EachDetached(ctx, j.Key, func(slot scheduler.Slot, st scheduler.Stored, running bool) {
		if b, err := scheduler.DecodeBaton(st.Data); err == nil && b.Check(slot) == nil && b.BelongsTo(j) {
			all = append(all, why.Place{Baton: &b, Running: running})
		}
	})
	return all, err
}

// around loads the store's data around the time of the question.
func (r Reader) around(ctx context.Context, q *why.Question) (err error) {
	if q.Kept, err = r.shared.Store.Kept(ctx, q.Key); err != nil {
		return err
	}
	if q.At.After(q.Now.Add(clockSkew)) {
		return nil
	}
	err = r.shared.Store.RecordsSince(ctx, q.Key, q.At.Add(-clockSkew), func(rec *scheduler.Record) bool {
		q.Records = append(q.Records, rec)
		return len(q.Records) < whyReach
	})
	if err != nil || q.Job == nil || q.Job.ScheduleGen <= 1 || !q.At.Before(q.Job.Anchor) {
		return err
	}
	st, err := r.shared.Store.LoadJobAsOf(ctx, q.Key, q.At.Add(q.Span))
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	then, err := r.shared.decodeInTurn(ctx, st)
	if err == nil && then.UID == q.Job.UID && then.ScheduleGen != q.Job.ScheduleGen {
		q.Then = then
	}
	return nil // treat unreadable data as absent
}

// changes finds out who made the changes that the answer may mention, as far as the audit log goes back.
func (r Reader) changes(ctx context.Context, q *why.Question) (err error) {
	keeper := TrailKeeper{r.shared}
	if q.Trail, err = keeper.begin(ctx); err != nil {
		return err
	}
	add := func(what why.What, k scheduler.Key, kind trail.Kind, before time.Time, ops ...string) {
		if err != nil {
			return
		}
		var e *trail.Entry
		if e, err = keeper.LastChange(ctx, k, kind, before, ops...); e != nil && (len(ops) == 1 || e.State == scheduler.Disabled) {
			q.Changes = append(q.Changes, why.ChangeOf(e, what))
		}
	}
	collection := scheduler.Key{Collection: q.Key.Collection}
	switch {
	case q.Job == nil && q.Damaged == "":
		add(why.Removed, q.Key, trail.Job, time.Time{}, "delete")
	case q.Job != nil && q.Job.State == scheduler.Disabled:
		add(why.Turned, q.Key, trail.Job, time.Time{}, "disable", "enable")
	}
	if q.Job != nil && q.Job.PausedAt(q.Now) {
		add(why.Halted, q.Key, trail.Job, time.Time{}, "pause")
	}
	if q.Closed {
		add(why.Shut, collection, trail.Collection, time.Time{}, "disable", "enable")
	}
	if left := q.LeftOut(); left != nil {
		switch before := left.From.Add(1); {
		case left.Outcome == scheduler.OutcomePostponed:
			add(why.Shut, collection, trail.Collection, before, "disable")
		case left.Reason == scheduler.ReasonDisabled:
			add(why.Turned, q.Key, trail.Job, before, "disable")
		case left.Reason == scheduler.ReasonPaused:
			add(why.Halted, q.Key, trail.Job, before, "pause")
		}
	}
	return err
}
