package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
)

// Resubmit repeats an occurrence that failed, was skipped or was postponed, as a manual run whose records name it. The
// action receives the nominal time of that occurrence and a separate idempotency key. The job may be in any state. A
// schedule that counts from the last execution continues from this one; other schedules are not affected.
//
// The body is {"occurrence": …, "force": false}. It identifies the occurrence by its nominal time, its ID, or the ID of
// one of its attempts or records. With force, an occurrence that succeeded may be repeated.
//
// Errors: ErrInvalid with every problem of the body; ErrNotFound if the job does not exist, or its history lacks the
// occurrence; ErrConflict if the occurrence succeeded or has not ended, or if the job is running or waits for a retry.
func (r Runner) Resubmit(ctx context.Context, k scheduler.Key, body []byte) (*v1.Resubmitted, error) {
	return r.ResubmitAt(ctx, k, body, time.Time{})
}

// ResubmitAt is [Runner.Resubmit] for a request that was made at an instant, which identifies the new run as in
// [Runner.RunBy]: a repeated request returns the same run. Zero: now.
func (r Runner) ResubmitAt(ctx context.Context, k scheduler.Key, body []byte, asked time.Time) (*v1.Resubmitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	ctx = asking(ctx, "resubmit")
	req, err := readRequest[v1.ResubmitRequest](ctx, body, nil)
	if err != nil {
		return nil, err
	}
	j, err := r.shared.loadSettled(ctx, k)
	if err != nil {
		return nil, err
	}
	nominal, err := r.nominalOf(ctx, k, req.Occurrence)
	if err != nil {
		return nil, err
	}
	for range casTries {
		v, err := r.resubmit(ctx, j, nominal, req.Force, asked)
		if !errors.Is(err, step.ErrOvertaken) {
			return v, err
		}
	}
	return nil, contended("job " + k.String())
}

// resubmit repeats the occurrence of an instant, unless the job's baton moves while the history is read: the same
// request may have moved it.
func (r Runner) resubmit(
	ctx context.Context, j *scheduler.Job, nominal time.Time, force bool, asked time.Time,
) (*v1.Resubmitted, error) {
	_, from, err := r.plans.locate(ctx, j.Key)
	if err != nil {
		return nil, err
	}
	again, data, err := r.resubmission(ctx, j, nominal, force, asked)
	if asked.IsZero() {
		asked = r.shared.Store.Now()
	}
	id := scheduler.OccurrenceID(j.Key, asked.UTC())
	if err == nil {
		again.waiting = from.Waiting
		_, err = r.start(ctx, j, asked.UTC(), again, data)
	}
	if err != nil && !errors.Is(err, errCarriedOut) {
		return nil, err
	}
	return &v1.Resubmitted{Occurrence: id, Resubmits: scheduler.OccurrenceID(j.Key, again.Nominal)}, nil
}

// resubmitFailed repeats a failed occurrence, unless a rerun succeeded or started after an instant. [isBusy] reports
// whether to retry after the error.
func (r Runner) resubmitFailed(ctx context.Context, it item, since time.Time) (v1.Result, error) {
	j, err := r.shared.loadSettled(ctx, it.key)
	if err != nil {
		return "", err
	}
	found, from, err := r.plans.locate(ctx, it.key)
	switch {
	case err != nil && found.Running == nil:
		return "", err
	case found.Waiting == nil && j.State == scheduler.Enabled:
		now := r.shared.Store.Now()
		return "", j.TriggerBusy(found.Running, r.shared.open(ctx, it.key.Collection), now, now)
	}
	search := scheduler.NewOccurrenceSearch(j, it.nominal)
	search.Found = it.failure.fault
	if it.failure.rerun != nil {
		search.Visit(it.failure.rerun)
	}
	err = r.shared.Store.RecordsFrom(ctx, it.key, it.failure.next, func(rec *scheduler.Record) bool {
		search.Visit(rec)
		return true
	})
	if err != nil {
		return "", err
	}
	again, err := search.Resubmission(false)
	if errors.Is(err, scheduler.ErrSucceeded) || search.Tried.After(since) {
		return v1.Unchanged, nil
	}
	if err == nil {
		err = r.ended(ctx, j, it.nominal, time.Time{})
	}
	var run *repetition
	if err == nil {
		run, err = r.repetition(ctx, j, again, search.Cause())
	}
	if err == nil {
		run.waiting = from.Waiting
		_, err = r.start(asking(ctx, "resubmit"), j, r.shared.Store.Now().UTC(), run, search.Data())
	}
	return v1.Updated, err
}

// isBusy reports whether a job can run later, because it is running or about to run.
func isBusy(err error) bool {
	return errors.Is(err, step.ErrOvertaken) || errors.Is(err, scheduler.ErrConflict)
}

// repetition is an occurrence to repeat.
type repetition struct {
	*scheduler.Resubmission

	waiting uint64           // the baton that waited before the history was read, so the occurrence may run
	cause   *scheduler.Cause // the events that started the occurrence; nil: none
	events  json.RawMessage
}

// maxResubmitted is the maximum size in bytes of the events of a repeated run: its baton is one message.
const maxResubmitted = 512 << 10

// repetition returns the repetition of a run of j with the events that it carried, which the store must still have.
func (r Runner) repetition(
	ctx context.Context, j *scheduler.Job, again *scheduler.Resubmission, cause *scheduler.Cause,
) (*repetition, error) {
	run := &repetition{Resubmission: again, cause: cause}
	if cause == nil {
		return run, nil
	}
	var list []*scheduler.Event
	all, err := j.Carried(cause).Each(func(sequence uint64, record bool) error {
		e, err := r.shared.steps.EventAt(ctx, sequence, record)
		if err == nil {
			list = j.Carry(list, e)
		}
		return err
	})
	if err == nil && !all || errors.Is(err, scheduler.ErrNotFound) {
		err = fmt.Errorf("occurrence: %w: %s, which started it, is no longer stored", scheduler.ErrConflict, cause.Describe())
	}
	if err != nil {
		return nil, err
	}
	if run.events, err = json.Marshal(list); len(run.events) > maxResubmitted {
		err = fmt.Errorf("occurrence: %w: its events have more than %d KiB; publish them again", scheduler.ErrConflict, maxResubmitted>>10)
	}
	return run, err
}

// on returns b as the repetition; a nil repetition leaves it unchanged.
func (r *repetition) on(b *scheduler.Baton) *scheduler.Baton {
	if r == nil {
		return b
	}
	return b.Resubmit(r.Resubmission, r.cause, r.events)
}

// recordID is the last part of a record's ID or name.
var recordID = regexp.MustCompile(`(?:^|/)(\d{20}:\d{20})$`)

// nominalOf returns the nominal time of the occurrence that a text identifies.
func (r Runner) nominalOf(ctx context.Context, k scheduler.Key, text string) (nominal time.Time, err error) {
	id := recordID.FindStringSubmatch(text)
	if id == nil {
		return scheduler.ParseOccurrence(k, text)
	}
	err = r.shared.Store.Recent(ctx, k, 0, nil, func(rec *scheduler.Record) bool {
		if v1.RecordID(rec) == id[1] && rec.Occurrence != "" {
			nominal = rec.Nominal
		}
		return nominal.IsZero()
	})
	if err == nil && nominal.IsZero() {
		err = fmt.Errorf("record %s: %w in the history of job %s, or of no occurrence", id[1], scheduler.ErrNotFound, k)
	}
	return nominal, err
}

// errCarriedOut reports that a request was carried out before.
var errCarriedOut = errors.New("carried out before")

// resubmission returns an occurrence that may be repeated, and the data of its run. It returns errCarriedOut if the run
// that was requested at the instant asked exists.
func (r Runner) resubmission(
	ctx context.Context, j *scheduler.Job, nominal time.Time, force bool, asked time.Time,
) (*repetition, json.RawMessage, error) {
	for {
		search := scheduler.NewOccurrenceSearch(j, nominal)
		var before *scheduler.Resubmission
		err := r.shared.Store.Recent(ctx, j.Key, 0, nil, func(rec *scheduler.Record) bool {
			if rec.Resubmits != nil && rec.Nominal.Equal(asked) {
				before = rec.Resubmits
			}
			return before == nil && search.Visit(rec)
		})
		switch {
		case err != nil:
			return nil, nil, err
		case before != nil:
			return &repetition{Resubmission: before}, nil, errCarriedOut
		}
		again, err := search.Resubmission(force)
		if err != nil {
			return nil, nil, err
		}
		if err := r.ended(ctx, j, nominal, asked); err != nil {
			return &repetition{Resubmission: again}, nil, err
		}
		if again.Nominal.Equal(nominal) {
			run, err := r.repetition(ctx, j, again, search.Cause())
			return run, search.Data(), err
		}
		nominal = again.Nominal // it was a rerun: other reruns of the original may have succeeded
	}
}

// ended returns ErrConflict if a baton still has the occurrence of an instant or a repetition of it, or errCarriedOut
// if that is the run that was requested at the instant asked.
func (r Runner) ended(ctx context.Context, j *scheduler.Job, nominal, asked time.Time) error {
	own, _, err := r.plans.baton(ctx, j)
	if err != nil {
		return err
	}
	if own != nil && !own.Repeats(nominal) {
		own = nil
	}
	for _, name := range []string{scheduler.DetachedName(nominal), scheduler.ResubmittedName(nominal)} {
		if own != nil {
			break
		}
		if own, err = r.plans.occupant(ctx, scheduler.BatonKey{Key: j.Key, Detached: name}); err != nil {
			return err
		}
	}
	switch {
	case own == nil:
		return nil
	case own.Resubmits != nil && own.Nominal.Equal(asked):
		return errCarriedOut
	}
	return notEnded(j, nominal)
}

// notEnded returns the error for an occurrence that is still active.
func notEnded(j *scheduler.Job, nominal time.Time) error {
	return fmt.Errorf("occurrence %s: %w: it has not ended, or is being resubmitted",
		scheduler.OccurrenceID(j.Key, nominal), scheduler.ErrConflict)
}
