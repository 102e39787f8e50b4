package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// auditStray looks at a job that has batons, but no definition in the index. last is
// the last revision of any job.
func (a Auditor) auditStray(ctx context.Context, k scheduler.Key, last uint64, fix bool, found chan<- finding) error {
	stray, f, err := a.shared.stray(ctx, k)
	if stray == nil || err != nil {
		return err
	}
	stray.Next = last + 1
	told := finding{Finding: Finding{Job: k, Problem: strayProblem(stray, f)}}
	switch {
	case stray.Fate() != scheduler.Deleted:
		told.Lost = true
	case fix:
		if err := a.shared.Store.Clear(ctx, k, scheduler.Left("", stray.Marker)); err != nil {
			return err
		}
		told.Fixed = true
	}
	found <- told
	return nil
}

// auditCollections names collections that are missing, and have jobs, and those whose deletion is not complete.
func (a Auditor) auditCollections(ctx context.Context, rep *AuditReport) error {
	there := map[string]bool{}
	err := a.shared.Store.Collections().Each(ctx, func(st scheduler.Stored) error {
		name := st.Key.Job
		there[name] = true
		if c, err := scheduler.DecodeCollection(name, st.Revision, st.Data); err == nil && c.State == scheduler.Deleting {
			rep.add(Finding{
				Job:     scheduler.Key{Collection: name},
				Problem: "is being deleted, and its jobs do not run; if this stays, delete it again",
			})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("collections: %w", err)
	}
	for name := range rep.collections {
		if !there[name] {
			rep.add(Finding{
				Job: scheduler.Key{Collection: name}, Lost: true,
				Problem: "its settings are lost, and it has jobs: they run, and none can be put into it before it is put again",
			})
		}
	}
	return nil
}

// stray looks for batons of a job that has no definition; nil when there is one, or
// no baton. err says what is wrong with the baton that stray stands for.
func (h *shared) stray(ctx context.Context, k scheduler.Key) (stray *scheduler.Stray, unreadable, err error) {
	marker, err := h.Store.LoadJob(ctx, k)
	if err == nil {
		return nil, nil, nil // it has turned up
	}
	if !errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil, fmt.Errorf("job %s: %w", k, err)
	}
	st, err := h.Store.AnyBaton(ctx, k)
	if st == nil || err != nil {
		return nil, nil, err
	}
	stray = &scheduler.Stray{Marker: marker.Revision}
	b, unreadable := scheduler.DecodeBaton(st.Data)
	if unreadable == nil {
		stray.Baton = &b
	}
	return stray, unreadable, nil
}

// strayProblem says what is wrong with a job that has batons, but no definition.
func strayProblem(s *scheduler.Stray, unreadable error) string {
	const ways = "; its baton waits until it is put again, and goes on then, or until it is deleted"
	switch s.Fate() {
	case scheduler.Deleted:
		return "has a baton, but no definition: a delete was cut short"
	case scheduler.Lost:
		return fmt.Sprintf("its definition is lost: the baton was armed with revision %d, of which the store knows nothing%s%s",
			s.Baton.Revision, strayPlace(s.Baton), ways)
	case scheduler.Missing:
	}
	if unreadable != nil {
		return "its definition is missing, nothing says that it was deleted, and its baton cannot be read: " + unreadable.Error()
	}
	return "its definition is missing, and nothing says that it was deleted" + strayPlace(s.Baton) + ways
}

// strayPlace says where a job was whose definition is lost.
func strayPlace(b *scheduler.Baton) string {
	return fmt.Sprintf(" (next at %s, run %d times)", b.Nominal.UTC().Format(time.RFC3339), b.Runs)
}
