package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
)

// Cancel ends started occurrences of a job: it cancels the running attempt on any replica, and no retry or errorAction
// follows. The history records the caller and the reason. The schedule is not affected.
//
// The body is {"occurrence": …, "reason": …, "dryRun": false}, or empty. Default: all started occurrences. A dry run lists
// the occurrences that would be canceled.
//
// Errors: ErrInvalid with every problem of the body; ErrNotFound if the job does not exist; ErrConflict if it has no
// active occurrence.
func (e Editor) Cancel(ctx context.Context, k scheduler.Key, body []byte) (*v1.Cancellation, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	req, err := readCancel(ctx, body)
	if err != nil {
		return nil, err
	}
	v, err := e.cancel(asking(ctx, "cancel"), k, req)
	if err == nil && len(v.Occurrences) == 0 && !req.DryRun {
		what := cmp.Or(req.Occurrence, "no occurrence")
		if req.Occurrence != "" {
			what = "occurrence " + what + " is not one that"
		}
		return nil, fmt.Errorf("job %s: %w: %s runs or waits for a retry; to keep the job from running, disable it",
			k, scheduler.ErrConflict, what)
	}
	return v, err
}

// CancelCollection is [Editor.Cancel] for all jobs of a collection. The body cannot name an occurrence. It is not an
// error if none is active.
func (e Editor) CancelCollection(ctx context.Context, collection string, body []byte) (*v1.Cancellation, error) {
	if err := scheduler.ValidateCollection(collection); err != nil {
		return nil, err
	}
	req, err := readCancel(ctx, body)
	if err == nil && req.Occurrence != "" {
		err = scheduler.Invalid("occurrence", "cancel the occurrence of a job, not of a collection")
	}
	if err == nil {
		err = e.shared.exists(ctx, collection)
	}
	if err != nil {
		return nil, err
	}
	keys, err := e.active(ctx, collection)
	if err != nil {
		return nil, err
	}
	all := &v1.Cancellation{Occurrences: []string{}, DryRun: req.DryRun}
	for k := range keys {
		v, err := e.cancel(asking(ctx, "cancel"), k, req)
		if errors.Is(err, scheduler.ErrNotFound) {
			continue // it was deleted
		}
		if err != nil {
			return nil, err
		}
		all.Occurrences = append(all.Occurrences, v.Occurrences...)
	}
	slices.Sort(all.Occurrences)
	return all, nil
}

// active returns the jobs of a collection that may have an active occurrence.
func (e Editor) active(ctx context.Context, collection string) (map[scheduler.Key]bool, error) {
	keys := map[scheduler.Key]bool{}
	now := e.shared.Store.Now()
	for lane := range e.shared.Store.Lanes() {
		err := e.shared.Store.EachStoredBaton(ctx, lane, 0, func(slot scheduler.BatonKey, st scheduler.Stored, waiting bool) error {
			if slot.Collection != collection {
				return nil
			}
			if b, err := scheduler.DecodeBaton(st.Data); err == nil && b.Cancelable(!waiting, now) {
				keys[slot.Key] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// readCancel parses the body of a request to cancel; it may be empty.
func readCancel(ctx context.Context, body []byte) (*v1.CancelRequest, error) {
	if len(body) == 0 {
		return &v1.CancelRequest{}, nil
	}
	return readRequest(ctx, body, func(o *document.Object, req *v1.CancelRequest) {
		if len(req.Reason) > scheduler.MaxCancelReason {
			o.Problem("reason", "has %d bytes; at most %d are allowed", len(req.Reason), scheduler.MaxCancelReason)
		}
	})
}

// begun is an occurrence that can be canceled.
type begun struct {
	key     scheduler.BatonKey
	baton   scheduler.Baton
	waiting uint64 // sequence of its waiting baton; 0: a worker has the baton
}

// cancel cancels the active occurrences of a job.
func (e Editor) cancel(ctx context.Context, k scheduler.Key, req *v1.CancelRequest) (*v1.Cancellation, error) {
	var nominal time.Time
	if req.Occurrence != "" {
		var err error
		if nominal, err = scheduler.ParseOccurrence(k, req.Occurrence); err != nil {
			return nil, err
		}
	}
	for range casTries {
		cur, err := e.shared.load(ctx, k)
		if err == nil {
			err = e.meets(k, cur)
		}
		if err != nil {
			return nil, err
		}
		found, err := e.begun(ctx, cur, nominal)
		if err != nil {
			return nil, err
		}
		found = found[:min(len(found), scheduler.MaxCancellations)] // more need another request
		v := &v1.Cancellation{Occurrences: []string{}, DryRun: req.DryRun}
		batons := make([]scheduler.Baton, len(found))
		for i := range found {
			batons[i] = found[i].baton
			v.Occurrences = append(v.Occurrences, scheduler.OccurrenceID(k, batons[i].Nominal))
		}
		if len(found) == 0 || req.DryRun {
			return v, nil
		}
		edit, err := e.writeCanceled(ctx, cur, batons, v.Occurrences, req.Reason)
		if errors.Is(err, step.ErrOvertaken) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return v, e.hasten(ctx, cur, found, edit)
	}
	return nil, contended("job " + k.String())
}

// begun returns the cancelable occurrences of a job: all, or only the occurrence at nominal.
func (e Editor) begun(ctx context.Context, j *scheduler.Job, nominal time.Time) (all []begun, err error) {
	now := e.shared.Store.Now()
	add := func(slot scheduler.BatonKey, b *scheduler.Baton, waiting uint64) {
		if b.BelongsTo(j) && b.Cancelable(waiting == 0, now) && (nominal.IsZero() || b.Nominal.Equal(nominal)) {
			all = append(all, begun{slot, *b, waiting})
		}
	}
	found, from, err := e.plans.peek(ctx, j.Key)
	if err != nil {
		return nil, err
	}
	if b := cmp.Or(found.Waiting, found.Running); b != nil {
		add(from.BatonKey, b, from.Waiting)
	}
	err = e.shared.Store.FindDetached(ctx, []scheduler.Key{j.Key}, func(slot scheduler.BatonKey, st scheduler.Stored, running bool) {
		b, err := scheduler.DecodeBaton(st.Data)
		if err != nil || b.Check(slot) != nil {
			return // its worker cancels it
		}
		if running {
			st.Revision = 0
		}
		add(slot, &b, st.Revision)
	})
	return all, err
}

// writeCanceled stores the cancellation in the definition of cur, which workers watch, and returns its revision. The audit log
// has an entry for each occurrence.
func (e Editor) writeCanceled(
	ctx context.Context, cur *scheduler.Job, batons []scheduler.Baton, ids []string, reason string,
) (revision uint64, err error) {
	o := origin(ctx)
	who := cmp.Or(o.Name, o.Claim, auth.DescribeUnnamed(o.Via))
	next := cur.Cancels(batons, scheduler.Cancellation{At: e.shared.Store.Now().UTC(), By: who, Reason: reason})
	data, err := next.Encode(e.shared.Secrets)
	if err != nil {
		return 0, err
	}
	write := func(*audit.Entry) (err error) {
		revision, err = e.store(ctx, cur, next, data, cur.Revision)
		return err
	}
	for _, id := range ids { // one write covers all of them
		entry := &audit.Entry{
			Kind: audit.Job, Op: "cancel", Collection: cur.Key.Collection, Job: cur.Key.Job, Result: "canceled", Name: audit.Clip(reason),
			UID: cur.UID, State: cur.State, Occurrence: id, OldRevision: cur.Revision,
		}
		inner := write
		write = func(*audit.Entry) error { return e.shared.audited(ctx, entry, inner) }
	}
	err = write(nil)
	return revision, err
}

// hasten fires the waiting batons of canceled occurrences immediately, so that a worker ends them. It must have read the
// revision edit, which has the cancellation. A worker that had a baton may have rescheduled it before it learned of the
// cancellation, so hasten looks again for those.
func (e Editor) hasten(ctx context.Context, j *scheduler.Job, found []begun, edit uint64) error {
	ran := map[scheduler.BatonKey]time.Time{}
	for _, f := range found {
		if f.waiting == 0 {
			ran[f.key] = f.baton.Nominal
		}
	}
	if len(ran) > 0 {
		again, err := e.begun(ctx, j, time.Time{})
		if err != nil {
			return fmt.Errorf("job %s: canceled, but not ended yet: %w", j.Key, err)
		}
		for _, f := range again {
			if at, ok := ran[f.key]; ok && at.Equal(f.baton.Nominal) {
				found = append(found, f)
			}
		}
	}
	for _, f := range found {
		if f.waiting == 0 {
			continue
		}
		f.baton.Edit = edit
		if err := e.shared.steps.Hasten(ctx, f.key, f.baton, f.waiting); err != nil { // if it has moved, its worker finds it canceled
			return fmt.Errorf("job %s: canceled, but not ended yet: %w", f.key.Key, err)
		}
	}
	return nil
}
