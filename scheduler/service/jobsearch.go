package service

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/scheduler"
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
	for _, k := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		st, there := found[k]
		if !there || s.state != "" && !scheduler.MayHaveState(st.Data, s.state) {
			continue
		}
		if s.tired = s.work >= listWork; s.tired {
			return nil
		}
		s.page.After = k.Job
		j, damaged, err := s.read(ctx, st)
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
		v := damaged
		if v == nil {
			if v, err = s.reader.view(ctx, j); err != nil {
				return err
			}
		}
		s.views = append(s.views, v)
	}
	return nil
}

// read reads a stored job, and counts the work. Of one that is damaged, it returns what can be told, and the view of that.
func (s *jobSearch) read(ctx context.Context, st scheduler.Stored) (j *scheduler.Job, shown *view.Job, err error) {
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
	return j, nil, err
}
