package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/jobcache/index"
)

// jobSearch selects a page of jobs from candidates.
type jobSearch struct {
	reader Reader
	source candidates
	query  *scheduler.JobQuery
	page   v1.Page       // Skip is decremented
	at     scheduler.Key // the job after which the next page starts

	views []*v1.Job
	full  bool    // and one more job follows
	work  float64 // compile effort of the schedules
	tired bool    // the effort exceeds the limit of a page

	batched []scheduler.Key                       // candidates to examine together
	last    map[scheduler.Key][]*scheduler.Record // ends of the histories; nil until they are needed
}

// The limits of a page of jobs.
const (
	listBatch = 128  // definitions that are read together
	listReach = 2048 // definitions that are examined for a page

	// listWork limits the compile effort of a page's schedules, in units of the limit for one schedule. A schedule near
	// that limit takes some hundredths of a second.
	listWork = 1
)

// run examines jobs until the page is full or the limit is reached. more reports whether others may follow.
func (s *jobSearch) run(ctx context.Context) (more bool, err error) {
	for looked := 0; looked < listReach; {
		hits, to, more, err := s.source.next(ctx, s.at, &s.page.Skip, s.batch())
		if err != nil {
			return false, err
		}
		hits = s.skip(hits)
		for chunk := range slices.Chunk(hits, listBatch) {
			if err := s.examine(ctx, chunk); err != nil {
				return false, err
			}
			if s.full || s.tired {
				return true, nil
			}
		}
		looked += max(len(hits), 1)
		s.at = to
		if !more {
			return false, nil
		}
		if t, ok := s.source.(*indexed); ok && t.stale >= staleReach {
			return true, nil
		}
	}
	return true, nil
}

// batch returns how many candidates to request: as many as the page needs if all match.
func (s *jobSearch) batch() int {
	wanted := s.page.Size() - len(s.views) + 1
	if !s.query.ByName() {
		wanted += s.page.Skip
	}
	return min(wanted, listBatch)
}

// skip skips candidates that need not be examined.
func (s *jobSearch) skip(hits []index.Hit) []index.Hit {
	for len(hits) > 0 && hits[0].Sure && s.page.Skip > 0 {
		s.at, hits = hits[0].Key, hits[1:]
		s.page.Skip--
	}
	return hits
}

// examine checks a batch of candidates, until the page is full and one more job matches, or the compile effort is too
// high.
func (s *jobSearch) examine(ctx context.Context, hits []index.Hit) error {
	keys := make([]scheduler.Key, len(hits))
	for i, h := range hits {
		keys[i] = h.Key
	}
	found := make(map[scheduler.Key]scheduler.Stored, len(keys))
	if err := s.reader.shared.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) { found[st.Key] = st }); err != nil {
		return err
	}
	look, err := s.reader.shared.steps.Snapshot(ctx, s.enabled(found))
	if err != nil {
		return err
	}
	s.batched, s.last = keys, nil
	for _, k := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		if st, there := found[k]; there && s.mayHave(st, look) {
			if err := s.pick(ctx, st, look); err != nil || s.full || s.tired {
				return err
			}
		}
		s.at = k
	}
	return nil
}

// pick adds a job if it matches and fits.
func (s *jobSearch) pick(ctx context.Context, st scheduler.Stored, look *step.Snapshot) error {
	if s.tired = s.work >= listWork; s.tired {
		return nil
	}
	j, b, shown, err := s.read(ctx, st, look)
	if err != nil {
		return err
	}
	next := time.Time{}
	if shown != nil {
		next = shown.Status.Next
	}
	if !s.query.Wants(j, next) {
		return nil
	}
	outcome, err := s.outcome(ctx, j, b)
	if err != nil || s.query.Outcome != "" && outcome != s.query.Outcome {
		return err
	}
	if s.page.Skip > 0 {
		s.page.Skip--
		return nil
	}
	if s.full = len(s.views) == s.page.Size(); s.full {
		return nil
	}
	if shown == nil {
		if shown, err = s.reader.view(ctx, j); err != nil {
			return err
		}
	}
	shown.Outcome = outcome
	s.views = append(s.views, shown)
	return nil
}

// outcome returns the last result of a job if the query needs it. b is its baton, or nil.
func (s *jobSearch) outcome(ctx context.Context, j *scheduler.Job, b *scheduler.Baton) (scheduler.Outcome, error) {
	if s.query.Outcome == "" && !s.query.WithOutcome || j.State == scheduler.Damaged {
		return "", nil
	}
	p := &j.Progress
	if b != nil {
		p = &b.Progress
	}
	if outcome := scheduler.LastOutcome(p, b, nil); outcome != "" {
		return outcome, nil
	}
	if s.last == nil {
		s.last = map[scheduler.Key][]*scheduler.Record{}
		err := s.reader.shared.Store.LastRecords(ctx, s.batched, scheduler.Outcomes, func(r *scheduler.Record) {
			s.last[r.Job] = append(s.last[r.Job], r)
		})
		if err != nil {
			s.last = nil
			return "", err
		}
	}
	var last *scheduler.Record
	for _, r := range s.last[j.Key] {
		if r.IsOf(j.Incarnation()) && (last == nil || r.Sequence > last.Sequence) {
			last = r
		}
	}
	return scheduler.LastOutcome(p, b, last), nil
}

// enabled returns the candidates that are stored as enabled, if their current state affects the page.
func (s *jobSearch) enabled(found map[scheduler.Key]scheduler.Stored) (keys []scheduler.Key) {
	if !s.needsLifecycle() {
		return nil
	}
	for k, st := range found {
		if scheduler.StoredState(st.Data) == scheduler.Enabled {
			keys = append(keys, k)
		}
	}
	return keys
}

// needsLifecycle reports whether the page may include jobs that are stored as enabled.
func (s *jobSearch) needsLifecycle() bool {
	return s.query.State != scheduler.Disabled && s.query.State != scheduler.Damaged
}

// mayHave reports whether a job may have the state of the query. A job that is stored as enabled and has no baton may
// have ended.
func (s *jobSearch) mayHave(st scheduler.Stored, look *step.Snapshot) bool {
	state := s.query.State
	return state == "" || scheduler.MayHaveState(st.Data, state) ||
		state.Final() && scheduler.StoredState(st.Data) == scheduler.Enabled && !look.Occupied(st.Key)
}

// read decodes a stored job and adds its compile effort. shown is its view, as far as known; for a damaged job, it
// describes the damage. b is its baton, if it was requested and exists.
func (s *jobSearch) read(
	ctx context.Context, st scheduler.Stored, look *step.Snapshot,
) (j *scheduler.Job, b *scheduler.Baton, shown *v1.Job, err error) {
	shared := s.reader.shared
	_, kept, _ := shared.plans.Kept(st.Key, st.Revision)
	j, err = shared.decodeInTurn(ctx, st)
	if err == nil && !kept {
		s.work += j.Plan.Work()
	}
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
		shown = v1.NewDamaged(damaged)
		return shown.Job, nil, shown, nil
	}
	if err != nil || j.State != scheduler.Enabled || !s.needsLifecycle() {
		return j, nil, nil, err
	}
	own, err := look.Own(ctx, j)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case own.Bad != nil: // its view shows the error
	case own.Baton != nil:
		b = own.Baton
		shown = shared.running(ctx, j, b, own.Running)
	default:
		j = own.Job(j)
		shown = v1.NewJob(j, j.Progress, shared.Store.Now())
	}
	return j, b, shown, nil //nolint:nilerr // own.Bad is not an error here
}
