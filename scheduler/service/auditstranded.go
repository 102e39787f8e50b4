package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// strandedPause is how long a running baton that nobody is given has to stay: the
// server may be about to remove it.
const strandedPause = time.Second

// Rescue fires running batons again that nobody is given, as an audit does, and returns
// how many there were. It costs little: the server is asked for no more than what lies
// below its ack floor.
func (a Auditor) Rescue(ctx context.Context) (found int, err error) {
	rep := &AuditReport{}
	err = a.auditStranded(ctx, rep, true)
	return len(rep.Findings), err
}

// auditStranded looks for running batons that nobody is given.
func (a Auditor) auditStranded(ctx context.Context, rep *AuditReport, fix bool) error {
	for lane := range a.shared.Store.Lanes() {
		before, err := a.shared.Store.Stranded(ctx, lane)
		if err != nil {
			return fmt.Errorf("audit of lane %d: %w", lane, err)
		}
		if len(before) == 0 {
			continue
		}
		if !intake.Pause(ctx, strandedPause) {
			return context.Cause(ctx)
		}
		now, err := a.shared.Store.Stranded(ctx, lane)
		if err != nil {
			return fmt.Errorf("audit of lane %d: %w", lane, err)
		}
		for _, s := range now {
			if !slices.ContainsFunc(before, func(b scheduler.Stranded) bool { return b.Sequence == s.Sequence }) {
				continue
			}
			f := Finding{Job: s.Slot.Key, Problem: "its running baton was given to nobody: the server counts it as acknowledged"}
			if fix {
				if err := a.rescue(ctx, &s); err != nil {
					return fmt.Errorf("job %s: %w", s.Slot.Key, err)
				}
				f.Fixed = true
			}
			rep.add(f)
		}
	}
	return nil
}

// rescue fires a stranded baton again, unless it was passed on, and removes it.
func (a Auditor) rescue(ctx context.Context, s *scheduler.Stranded) error {
	var at [2]uint64
	for i, look := range []func(context.Context, scheduler.Slot) (scheduler.Stored, error){a.shared.Store.Waiting, a.shared.Store.Running} {
		st, err := look(ctx, s.Slot)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return err
		}
		at[i] = st.Revision
	}
	if s.Rescue(at[0], at[1]) == scheduler.FireAgain {
		err := a.shared.Store.PassOn(ctx, s.Slot, s.Again(), time.Time{}, s.Sequence)
		if err != nil && !errors.Is(err, scheduler.ErrConflict) { // another was faster, then
			return err
		}
	}
	return a.shared.Store.Discard(ctx, s.Slot, s.Sequence)
}
