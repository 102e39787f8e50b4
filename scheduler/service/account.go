package service

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/why"
)

// Account lists every due time of a job in a period, with its record or the lack of one. [why.ParseMoment] parses both
// bounds, in the job's time zone; an empty to is now.
//
// Errors: ErrInvalid for the names and the bounds, ErrNotFound for a missing job, DamagedError for an unreadable one.
func (r Reader) Account(ctx context.Context, k scheduler.Key, from, to string) (*why.Account, error) {
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
	p := &why.Period{Key: k, Now: r.shared.Store.Now()}
	if err := r.begun(ctx, p, from, to); err != nil {
		return nil, err
	}
	if p.Kept, err = r.shared.Store.Kept(ctx, k); err != nil {
		return nil, err
	}
	unknown := p.Begin()
	err = r.shared.Store.RecordsSince(ctx, k, p.From.Add(-clockSkew), func(rec *scheduler.Record) bool {
		p.Take(rec)
		return ctx.Err() == nil
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p.Account(unknown), nil
}

// begun loads the job of an account, its batons, and its definitions in the period.
func (r Reader) begun(ctx context.Context, p *why.Period, from, to string) error {
	j, err := r.shared.loadInTurn(ctx, p.Key)
	if err != nil {
		return err
	}
	if p.From, p.To, err = bounds(j, from, to, p); err != nil {
		return err
	}
	var own why.Place
	if own.Baton, own.Running, err = r.plans.baton(ctx, j); err != nil {
		return err
	}
	if own.Baton == nil {
		if j, err = r.shared.steps.Settled(ctx, j); err != nil {
			return err
		}
	}
	detached, err := r.detached(ctx, j)
	if err != nil {
		return err
	}
	p.Places, p.Versions = append(p.Places, own), append(p.Versions, j)
	p.Places = append(p.Places, detached...)
	for j.Generation > 1 && j.Updated.After(p.From) {
		older, err := r.before(ctx, j)
		if err != nil {
			return err
		}
		if older == nil {
			p.Known = j.Updated
			break
		}
		p.Versions, j = append(p.Versions, older), older
	}
	return nil
}

// bounds parses the bounds of a period.
func bounds(j *scheduler.Job, from, to string, p *why.Period) (since, until time.Time, err error) {
	read := func(name, text string) (at time.Time) {
		if at, err := document.ParseTime(text); err == nil {
			return at.UTC()
		}
		m, failed := why.ParseMoment(text, j.Plan.Zone(), p.Now)
		if failed != nil && err == nil {
			err = scheduler.Invalid(name, failed.Error())
		}
		return m.At.UTC()
	}
	since, until = read("from", from), p.Now
	if to != "" {
		until = read("to", to)
	}
	if err == nil && !since.Before(until) {
		err = scheduler.Invalid("to", "must be after from")
	}
	if until.After(p.Now) {
		until = p.Now // later due times have no records yet
	}
	return since, until, err
}

// before returns the definition that an edit replaced by j, or nil if the store no longer has it.
func (r Reader) before(ctx context.Context, j *scheduler.Job) (*scheduler.Job, error) {
	st, err := r.shared.Store.LoadJobAsOf(ctx, j.Key, j.Updated)
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil //nolint:nilnil // absence is a valid result
	}
	if err != nil {
		return nil, err
	}
	older, err := r.shared.decodeInTurn(ctx, st)
	if err != nil || older.UID != j.UID || older.Generation >= j.Generation {
		return nil, nil //nolint:nilnil,nilerr // treat an unreadable one as absent
	}
	return older, nil
}
