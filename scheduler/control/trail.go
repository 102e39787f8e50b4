package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// askedKey is the context key of the requested operation.
type askedKey struct{}

// asking adds the requested operation to ctx, unless the request is part of another.
func asking(ctx context.Context, op string) context.Context {
	if ctx.Value(askedKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, askedKey{}, op)
}

// claimKey is the context key of the name that a caller claims.
type claimKey struct{}

// WithClaim adds the unverified name that a caller claims. It is recorded and grants no rights.
func WithClaim(ctx context.Context, name string) context.Context {
	if name == "" {
		return ctx
	}
	return context.WithValue(ctx, claimKey{}, audit.Clip(name))
}

// origin returns the origin of the current change.
func origin(ctx context.Context) scheduler.Origin {
	o := scheduler.Origin{Op: "put"}
	if op, ok := ctx.Value(askedKey{}).(string); ok {
		o.Op = op
	}
	if p := auth.From(ctx); p != nil {
		o.Name, o.ID, o.Via, o.Address = audit.Clip(p.Name), audit.Clip(p.ID), p.Via, audit.Clip(p.Address)
	}
	o.Claim, _ = ctx.Value(claimKey{}).(string)
	o.Trace = tracing.Edit(ctx)
	return o
}

// by returns the author of the current change.
func by(ctx context.Context) (audit.By, string) {
	o := origin(ctx)
	return byOf(&o), o.Claim
}

func byOf(o *scheduler.Origin) audit.By {
	return audit.By{Name: o.Name, ID: o.ID, Via: o.Via, Address: o.Address}
}

// lastEdit returns the last edit of a job.
func lastEdit(j *scheduler.Job) *storedEdit {
	return &storedEdit{scheduler.LastEdit{
		Origin: j.Origin, UID: j.UID, Generation: j.Generation, State: j.State, At: j.Updated, SpecSequence: j.SpecSequence,
	}, j.Key, j.Revision}
}

// storedEdit is the last edit of a job, and the revision that contains it.
type storedEdit struct {
	scheduler.LastEdit

	key      scheduler.Key
	revision uint64
}

// sameEdit reports whether next contains no new edit of cur, which may be nil. It may differ in the sequence of an
// applied spec.
func sameEdit(cur, next *scheduler.Job) bool {
	return cur != nil && cur.UID == next.UID && cur.Generation == next.Generation
}

// recordEdit writes the change of the job cur, which may be nil, to next into the audit log. A failure is only logged: the
// job itself contains its edit, and [Auditor.CheckTrail] writes missing entries.
func (h *shared) recordEdit(ctx context.Context, cur, next *scheduler.Job) {
	if h.Trail == nil {
		return
	}
	e := edited(lastEdit(next))
	if cur != nil && cur.Def != nil {
		e.Changed = changedPaths(cur, next)
	}
	if err := h.Trail.AppendEntry(ctx, e); err != nil {
		h.Logger.Warn("a change is stored, but not in the audit log yet", "job", next.Key, "op", e.Op, "err", err)
	}
}

// edited returns the audit log entry of a job's edit.
func edited(edit *storedEdit) *audit.Entry {
	e := &audit.Entry{
		Time: edit.At, Kind: audit.Job, Op: edit.Op, Collection: edit.key.Collection, Job: edit.key.Job,
		By: byOf(&edit.Origin), Claim: edit.Claim,
		Result: string(v1.Updated), OldRevision: edit.Replaces, Revision: edit.revision,
		UID: edit.UID, Generation: edit.Generation, State: edit.State, SpecSequence: edit.SpecSequence,
	}
	if edit.Generation == 1 {
		e.Result = string(v1.Created)
	}
	return e
}

// pausedUntil is the field that pauses a job.
const pausedUntil = "pausedUntil"

// changedPaths returns the paths that an edit has changed.
func changedPaths(cur, next *scheduler.Job) []string {
	var paths []string
	if cur.State != next.State {
		paths = append(paths, "state")
	}
	if !cur.PausedUntil.Equal(next.PausedUntil) {
		paths = append(paths, pausedUntil)
	}
	return append(paths, document.ChangedPaths(cur.Def.Document(), next.Def.Document(), audit.MaxChanged-len(paths))...)
}

// recentEdit is how long after an edit the next one verifies its entry. It exceeds the time until [Auditor.CheckTrail]
// has checked the edit.
const recentEdit = 3 * time.Hour

// ensureRecorded makes sure that the audit log contains the last edits of jobs before a change overwrites them.
func (h *shared) ensureRecorded(ctx context.Context, edits ...*storedEdit) error {
	if h.Trail == nil {
		return nil
	}
	now := h.Store.Now()
	edits = slices.DeleteFunc(edits, func(e *storedEdit) bool { return e.Op == "" || now.Sub(e.At) > recentEdit })
	if len(edits) == 0 {
		return nil
	}
	_, err := h.recordMissing(ctx, edits)
	return err
}

// recordMissing writes the missing entries of the last edits of jobs, and returns their number.
func (h *shared) recordMissing(ctx context.Context, edits []*storedEdit) (missing int, err error) {
	keys := make([]scheduler.Key, len(edits))
	for i, edit := range edits {
		keys[i] = edit.key
	}
	last := map[scheduler.Key]*audit.Entry{}
	if err := h.Trail.LastEntries(ctx, keys, func(e *audit.Entry) { last[e.Key()] = e }); err != nil {
		return 0, err
	}
	for _, edit := range edits {
		if isEntryOf(last[edit.key], edit) {
			continue
		}
		recorded, err := h.findsEdit(ctx, edit, last[edit.key])
		if err != nil {
			return missing, err
		}
		if recorded {
			continue
		}
		e := edited(edit)
		e.Rebuilt = true
		if err := h.Trail.AppendEntry(ctx, e); err != nil {
			return missing, err
		}
		missing++
	}
	return missing, nil
}

// isEntryOf reports whether an entry, which may be nil, belongs to an edit.
func isEntryOf(e *audit.Entry, edit *storedEdit) bool {
	return e != nil && e.UID == edit.UID && e.Generation == edit.Generation
}

// findsEdit looks for the entry of an edit before the last entry of its job: manual runs and other entries may follow
// it.
func (h *shared) findsEdit(ctx context.Context, edit *storedEdit, last *audit.Entry) (found bool, err error) {
	if last == nil {
		return false, nil
	}
	of := audit.Scope{Collection: edit.key.Collection, Job: edit.key.Job}
	err = h.Trail.RecentEntries(ctx, of, last.Sequence, func(e *audit.Entry) bool {
		found = isEntryOf(e, edit)
		return !found && !e.Time.Before(edit.At)
	})
	return found, err
}

// audited executes a change that leaves no trace from which its entry could be written later: it announces the change
// in the audit log first. do completes the entry. If the announcement fails, audited returns ErrUnavailable and does
// not call do.
func (h *shared) audited(ctx context.Context, e *audit.Entry, do func(e *audit.Entry) error) error {
	if h.Trail == nil {
		return do(e)
	}
	e.Time = h.Store.Now().UTC()
	e.By, e.Claim = by(ctx)
	begun := *e
	begun.Phase = audit.Begun
	sequence, err := h.Trail.BeginEntry(ctx, &begun)
	if err != nil {
		return fmt.Errorf("%s: not done: the audit log cannot be written: %w", e.Target(), err)
	}
	err = do(e)
	e.Begun = sequence
	if err != nil {
		e.Result, e.Error = "", v1.DescribeError(err).Code
	}
	if failed := h.Trail.AppendEntry(ctx, e); failed != nil {
		h.Logger.Warn("the audit log has the begin of a change, but not its end", "of", e.Target(), "op", e.Op, "err", failed)
	}
	return err
}

// errNoTrail reports a service without an audit log.
var errNoTrail = errors.New("no audit log is kept")

// toldRepairs writes repairs of jobs and batons into the audit log.
func (h *shared) toldRepairs(ctx context.Context, mended int) {
	if h.Trail == nil {
		return
	}
	e := &audit.Entry{Time: h.Store.Now().UTC(), Kind: audit.System, Op: "repair", Name: "doctor", Result: fmt.Sprintf("%d mended", mended)}
	if e.By, e.Claim = by(ctx); e.By == (audit.By{}) {
		e.By.Via = auth.ViaScheduler
	}
	if err := h.Trail.AppendEntry(ctx, e); err != nil {
		h.Logger.Warn("repairs are not in the audit log", "mended", mended, "err", err)
	}
}

// trailChunk is the number of jobs that are compared with the audit log together.
const trailChunk = 256

// CheckTrail writes the missing audit log entries of edits whose processes stopped too early, and returns their number.
// It examines edits since its last call, except those of the last minute, whose processes may still write them. The
// first call assumes that all entries exist.
func (a Auditor) CheckTrail(ctx context.Context) (missing int, err error) {
	h := a.shared
	if h.Trail == nil {
		return 0, nil
	}
	from, err := h.Trail.Checked(ctx)
	if errors.Is(err, scheduler.ErrNotFound) {
		if from, err = h.Store.LastRevision(ctx); err == nil {
			err = h.Trail.SetChecked(ctx, from)
		}
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	until, began := h.Store.Now().Add(-settling), time.Now()
	written, last := map[scheduler.Key]time.Time{}, from
	compare := func() error {
		n, err := a.retellAll(ctx, written, until)
		missing += n
		if err == nil && last > from {
			err = h.Trail.SetChecked(ctx, last)
		}
		clear(written)
		from = last
		return err
	}
	err = h.Store.EachJobFrom(ctx, from+1, func(st scheduler.Stored, deleted bool) error {
		if st.Written.After(until) {
			return errRecent
		}
		last = st.Revision
		if !deleted {
			written[st.Key] = st.Written
		}
		if len(written) < trailChunk {
			return nil
		}
		if err := compare(); err != nil {
			return err
		}
		took := time.Since(began)
		flow.Pause(ctx, took) // leave as much time to others
		began = began.Add(2 * took)
		return context.Cause(ctx)
	})
	if err != nil && !errors.Is(err, errRecent) {
		return missing, err
	}
	err = compare()
	return missing, err
}

// errRecent ends a reading at an edit whose process may still write its entry.
var errRecent = errors.New("a recent edit")

// longAgo is the age of an edit, when its job is written, from which CheckTrail assumes that an earlier call has
// verified its entry. A job that ends, for example, is written long after its edit.
const longAgo = 24 * time.Hour

// retellAll writes the missing entries of the last edits of jobs, which were written at the given times. It handles
// jobs that were edited after until in a later call.
func (a Auditor) retellAll(ctx context.Context, written map[scheduler.Key]time.Time, until time.Time) (missing int, err error) {
	if len(written) == 0 {
		return 0, nil
	}
	stored, err := a.shared.stored(ctx, slices.Collect(maps.Keys(written)))
	if err != nil {
		return 0, err
	}
	var settled []*storedEdit
	for _, st := range stored {
		edit, ok := scheduler.StoredEdit(st.Data)
		if ok && !edit.At.After(until) && written[st.Key].Sub(edit.At) < longAgo {
			settled = append(settled, &storedEdit{edit, st.Key, st.Revision})
		}
	}
	if len(settled) == 0 {
		return 0, nil
	}
	return a.shared.recordMissing(ctx, settled)
}
