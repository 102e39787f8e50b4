package service

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/step"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// jobSearch picks a page of jobs out of those of a collection.
type jobSearch struct {
	reader Reader
	state  scheduler.State // "": of any
	page   view.Page       // Skip counts down

	views []*view.Job
	more  bool
	work  float64 // that schedules took to compile
	tired bool    // it was too much for one page
}

// The bounds of a page of jobs.
const (
	listBatch = 128  // definitions that are read together
	listReach = 2048 // definitions that are looked at for a page

	// listWork is how much of what is too costly for one schedule those of a page may take to compile. One that is almost
	// too costly takes some hundredths of a second.
	listWork = 1
)

// run looks at jobs, in the order of keys, until the page is full, or so many were looked at that it is somebody else's
// turn. next goes on behind the last one that was looked at.
func (s *jobSearch) run(ctx context.Context, keys []scheduler.Key) (views []*view.Job, next *view.Page, err error) {
	reach := keys[:min(len(keys), listReach)]
	for len(reach) > 0 && !s.more && !s.tired {
		n := min(len(reach), listBatch)
		if err := s.look(ctx, reach[:n]); err != nil {
			return nil, nil, err
		}
		reach = reach[n:]
	}
	switch {
	case s.more:
		s.page.After, s.page.Skip = s.views[len(s.views)-1].Job.Key.Job, 0
	case s.tired: // look has said where to go on
	case len(keys) > listReach:
		s.page.After = keys[listReach-1].Job
	default:
		return s.views, nil, nil
	}
	return s.views, &s.page, nil
}

// look takes those of a batch of jobs that are there and wanted, until the page is full and one more has been seen, or
// their schedules were too much work.
func (s *jobSearch) look(ctx context.Context, keys []scheduler.Key) error {
	found := make(map[scheduler.Key]scheduler.Stored, len(keys))
	if err := s.reader.shared.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) { found[st.Key] = st }); err != nil {
		return err
	}
	look, err := s.reader.shared.steps.Look(ctx, s.enabled(found))
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		st, there := found[k]
		if !there || !s.mayHave(st, look) {
			continue
		}
		if s.tired = s.work >= listWork; s.tired {
			return nil
		}
		s.page.After = k.Job
		j, shown, err := s.read(ctx, st, look)
		if err != nil {
			return err
		}
		if s.state != "" && j.State != s.state || !s.page.Labels.Matches(j.Def.Labels) {
			continue
		}
		if s.page.Skip > 0 {
			s.page.Skip--
			continue
		}
		if s.more = len(s.views) == s.page.Size(); s.more {
			return nil
		}
		if shown == nil {
			if shown, err = s.reader.view(ctx, j); err != nil {
				return err
			}
		}
		s.views = append(s.views, shown)
	}
	return nil
}

// enabled returns the jobs that are stored as enabled, if it makes a difference to
// the page what they have come to meanwhile.
func (s *jobSearch) enabled(found map[scheduler.Key]scheduler.Stored) (keys []scheduler.Key) {
	if !s.asksCourse() {
		return nil
	}
	for k, st := range found {
		if scheduler.StoredState(st.Data) == scheduler.Enabled {
			keys = append(keys, k)
		}
	}
	return keys
}

// asksCourse reports whether the page may have jobs that are stored as enabled.
func (s *jobSearch) asksCourse() bool {
	return s.state != scheduler.Disabled && s.state != scheduler.Damaged
}

// mayHave reports whether a job may turn out to have the state that is asked for.
// One that is stored as enabled and has no baton may be at its end.
func (s *jobSearch) mayHave(st scheduler.Stored, look *step.Look) bool {
	return s.state == "" || scheduler.MayHaveState(st.Data, s.state) ||
		s.state.Final() && scheduler.StoredState(st.Data) == scheduler.Enabled && !look.Occupied(st.Key)
}

// read reads a stored job, and counts the work. shown is its view as far as that is known: of one that is damaged, of what
// can be told.
func (s *jobSearch) read(ctx context.Context, st scheduler.Stored, look *step.Look) (j *scheduler.Job, shown *view.Job, err error) {
	shared := s.reader.shared
	_, kept, _ := shared.plans.Kept(st.Key, st.Revision)
	j, err = shared.decodeInTurn(ctx, st)
	if err == nil && !kept {
		s.work += j.Plan.Work()
	}
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
		shown = view.NewDamaged(damaged)
		return shown.Job, shown, nil
	}
	if err != nil || j.State != scheduler.Enabled || !s.asksCourse() {
		return j, nil, err
	}
	own, err := look.Own(ctx, j)
	switch {
	case err != nil:
		return nil, nil, err
	case own.Bad != nil: // its view sees to that
	case own.Baton != nil:
		shown = shared.running(ctx, j, own.Baton, own.Running)
	default:
		j = own.Job(j)
		shown = view.NewJob(j, j.Progress)
	}
	return j, shown, nil //nolint:nilerr // own.Bad is no error here
}
