package control

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// whyReach limits the records that are examined for an answer. An occurrence has few records, which are adjacent except
// for records of concurrent runs.
const whyReach = 512

// Why explains why a job ran at a time or did not. [explain.ParseMoment] parses at, in the job's time zone; for "",
// [explain.Question.Latest] selects the time.
//
// Errors: ErrInvalid for the names and the time; ErrNotFound if neither the collection nor the job exists, and nothing
// is known of an earlier job with the same name.
func (r Reader) Why(ctx context.Context, k scheduler.Key, at string) (*explain.Answer, error) {
	release, err := r.turnFor(ctx, k)
	if err != nil {
		return nil, err
	}
	defer release()
	q := &explain.Question{Key: k, Zone: time.UTC}
	if err := r.asked(ctx, q); err != nil {
		return nil, err
	}
	q.Now = r.shared.Store.Now().UTC()
	if at == "" {
		err = r.latest(ctx, q)
	} else if q.Moment, err = explain.ParseMoment(at, q.Zone, q.Now); err != nil {
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
	a := explain.Explain(q)
	if a.Code == explain.NoJob {
		return nil, notThere(k)
	}
	return &a, nil
}

// turnFor takes a turn to search the history of a job. Its collection must exist; the job may be deleted.
func (r Reader) turnFor(ctx context.Context, k scheduler.Key) (release func(), err error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if err := r.shared.exists(ctx, k.Collection); err != nil {
		return nil, err
	}
	return takeTurn(ctx, r.shared.searching)
}

// latest selects the time of a question without one.
func (r Reader) latest(ctx context.Context, q *explain.Question) error {
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
func (r Reader) asked(ctx context.Context, q *explain.Question) error {
	j, st, err := r.shared.find(ctx, q.Key)
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
	q.Zone, q.Changes = j.Plan.Zone(), explain.ChangesIn(j)
	if q.Detached, q.Ledgers, err = r.detached(ctx, j); err != nil {
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

// detached returns the positions of a job's detached runs, and the ledgers of their keys; of very many, the first 1024. It
// omits unreadable batons, and those that only count the runs of a key.
func (r Reader) detached(
	ctx context.Context, j *scheduler.Job,
) (all []explain.Place, ledgers map[string]*scheduler.Ledger, err error) {
	ledgers = map[string]*scheduler.Ledger{}
	err = r.shared.Store.SomeDetached(ctx, j.Key, func(slot scheduler.BatonKey, st scheduler.Stored, running bool) {
		b, err := scheduler.DecodeBaton(st.Data)
		switch {
		case err != nil || b.Check(slot) != nil || !b.BelongsTo(j):
		case b.Ledger != nil:
			ledgers[b.Cause.Key] = b.Ledger
		case !b.Spent:
			all = append(all, explain.Place{Baton: &b, Running: running})
		}
	})
	return all, ledgers, err
}

// around loads the store's data around the time of the question.
func (r Reader) around(ctx context.Context, q *explain.Question) (err error) {
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
		q.JobThen = then
	}
	return nil // treat unreadable data as absent
}

// changes finds out who made the changes that the answer may mention, as far as the audit log goes back.
func (r Reader) changes(ctx context.Context, q *explain.Question) (err error) {
	keeper := TrailKeeper{r.shared}
	if q.Trail, err = keeper.begin(ctx); err != nil {
		return err
	}
	add := func(what explain.ChangeKind, k scheduler.Key, kind audit.Kind, before time.Time, ops ...string) {
		if err != nil {
			return
		}
		var e *audit.Entry
		if e, err = keeper.LastChange(ctx, k, kind, before, ops...); e != nil && (len(ops) == 1 || e.State == scheduler.Disabled) {
			q.Changes = append(q.Changes, explain.ChangeOf(e, what))
		}
	}
	collection := scheduler.Key{Collection: q.Key.Collection}
	switch {
	case q.Job == nil && q.Damaged == "":
		add(explain.JobDeleted, q.Key, audit.Job, time.Time{}, "delete")
	case q.Job != nil && q.Job.State == scheduler.Disabled:
		add(explain.JobDisabled, q.Key, audit.Job, time.Time{}, "disable", "enable")
	}
	if q.Job != nil && q.Job.PausedAt(q.Now) {
		add(explain.JobPaused, q.Key, audit.Job, time.Time{}, "pause")
	}
	if q.Closed {
		add(explain.CollectionDisabled, collection, audit.Collection, time.Time{}, "disable", "enable")
	}
	if left := q.LeftOut(); left != nil {
		switch before := left.From.Add(1); {
		case left.Outcome == scheduler.OutcomePostponed:
			add(explain.CollectionDisabled, collection, audit.Collection, before, "disable")
		case left.Reason == scheduler.ReasonDisabled:
			add(explain.JobDisabled, q.Key, audit.Job, before, "disable")
		case left.Reason == scheduler.ReasonPaused:
			add(explain.JobPaused, q.Key, audit.Job, before, "pause")
		}
	}
	return err
}

// Account lists every due time of a job in a period, with its record or the lack of one. [explain.ParseMoment] parses both
// bounds, in the job's time zone; an empty to is now.
//
// Errors: ErrInvalid for the names and the bounds, ErrNotFound for a missing job, DamagedError for an unreadable one.
func (r Reader) Account(ctx context.Context, k scheduler.Key, from, to string) (*explain.Account, error) {
	release, err := r.turnFor(ctx, k)
	if err != nil {
		return nil, err
	}
	defer release()
	p := &explain.Period{Key: k, Now: r.shared.Store.Now()}
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
func (r Reader) begun(ctx context.Context, p *explain.Period, from, to string) error {
	j, err := r.shared.load(ctx, p.Key)
	if err != nil {
		return err
	}
	if p.From, p.To, err = bounds(j, from, to, p); err != nil {
		return err
	}
	var own explain.Place
	if own.Baton, own.Running, err = r.plans.baton(ctx, j); err != nil {
		return err
	}
	if own.Baton == nil {
		if j, err = r.shared.steps.Settled(ctx, j); err != nil {
			return err
		}
	}
	detached, _, err := r.detached(ctx, j)
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
func bounds(j *scheduler.Job, from, to string, p *explain.Period) (since, until time.Time, err error) {
	read := func(name, text string) (at time.Time) {
		if at, err := document.ParseTime(text); err == nil {
			return at.UTC()
		}
		m, failed := explain.ParseMoment(text, j.Plan.Zone(), p.Now)
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
