package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/trail"
)

// trailChunk is how many jobs are compared with the trail together.
const trailChunk = 256

// CheckTrail writes the audit records that are missing of edits of jobs, because their processes ended before they had:
// of what was written since the last look, but not in the last minute, which others may still be about to tell of. It
// returns how many were missing. Where nobody has looked before, what is there counts as told.
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
	until := h.Store.Now().Add(-settling)
	for {
		began := time.Now()
		written, last := map[scheduler.Key]time.Time{}, from
		if err := h.Trail.WrittenJobs(ctx, from, func(w trail.Written) bool {
			if w.At.After(until) || len(written) == trailChunk {
				return false
			}
			last = w.Revision
			if w.Data != nil {
				written[w.Key] = w.At
			}
			return true
		}); err != nil || last == from {
			return missing, err
		}
		n, err := a.retellAll(ctx, written, until)
		missing += n
		if err != nil {
			return missing, err
		}
		if err := h.Trail.SetChecked(ctx, last); err != nil {
			return missing, err
		}
		from = last
		if !intake.Pause(ctx, time.Since(began)) { // as long as it took is left to others
			return missing, context.Cause(ctx)
		}
	}
}

// longAgo is by how much a job may have been edited before it was written, as it is at its end, for the entry of the edit to
// be looked for: an earlier one was looked for before.
const longAgo = 24 * time.Hour

// retellAll writes the entries that are missing of the last edits of jobs, which were written at those times. One that was
// edited after until comes again.
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
	return a.shared.retell(ctx, settled)
}
