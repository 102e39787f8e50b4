package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/step"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Auditor compares jobs with batons.
type Auditor struct {
	shared  *shared
	plans   *planner
	secrets SecretKeeper
}

// AuditReport is what an audit found, and what it found besides to go on with.
type AuditReport struct {
	view.AuditReport

	sample      []scheduler.Key // of the jobs
	endings     []scheduler.Ending
	collections map[string]bool // that have jobs
}

// Finding is one thing an audit found wrong.
type Finding = view.Finding

// finding is what was found of a job: that something is wrong, that it has ended, or that it is over and never ran.
type finding struct {
	Finding

	ending *scheduler.Ending
	never  bool
}

// neverRanKept is how many jobs that never ran a report names at most.
const neverRanKept = 1000

// The bounds of an audit: how many chunks of jobs it looks at side by side, and
// how large they are.
const (
	auditWorkers = 32
	auditChunk   = 128
)

// Audit compares enabled jobs with batons. One without has ended, if its last record
// says so: its worker went before there was leisure to write that into its
// definition, or has yet to; [Auditor.Finish] does. Any other was cut off
// between the writing of its definition and the arming, or lost its baton with the
// timers stream. With fix it gets one that is derived again from the definition
// and the last history record. A baton without a definition was left by a delete
// that was cut short, and goes with fix; unless nothing says that its job was
// deleted. Then the definition was lost, and the baton is all that there is: it
// stays, whatever fix says, and waits until the job is put again or deleted.
//
// The names of batons and jobs are listed once each, so what is in order costs no
// read; only jobs without a baton are read.
func (a Auditor) Audit(ctx context.Context, fix bool) (*AuditReport, error) {
	began := time.Now()
	rep := &AuditReport{AuditReport: view.AuditReport{Findings: []Finding{}}, collections: map[string]bool{}}
	if err := a.auditStranded(ctx, rep, fix); err != nil {
		return rep, err
	}
	batons, err := a.census(ctx, rep)
	if err != nil {
		return rep, err
	}
	bare, err := a.withoutBaton(ctx, rep, batons)
	if err != nil {
		return rep, err
	}
	strays, err := a.strays(ctx, batons)
	if err != nil {
		return rep, err
	}
	var last uint64
	if len(strays) > 0 {
		if last, err = a.shared.Store.LastRevision(ctx); err != nil {
			return rep, err
		}
	}
	found := make(chan finding, auditWorkers)
	done := make(chan struct{})
	go func() {
		for f := range found {
			rep.take(f)
		}
		close(done)
	}()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(auditWorkers)
	var present atomic.Int64 // others were deleted meanwhile
	var one sync.Mutex
	for chunk := range bare.chunks(auditChunk) {
		g.Go(func() error { return a.auditJobs(gctx, chunk, fix, &present, &one, found) })
	}
	for _, k := range strays {
		g.Go(func() error { return a.auditStray(gctx, k, last, fix, found) })
	}
	err = g.Wait()
	close(found)
	<-done
	if err == nil {
		err = a.auditCollections(ctx, rep)
	}
	if err == nil {
		rep.Undecryptable, err = a.secrets.manager.Undecryptable(ctx, rep.sample)
	}
	rep.Jobs -= bare.len - int(present.Load())
	slices.Sort(rep.NeverRan)
	rep.sort()
	if rep.Fixed > 0 {
		a.shared.toldRepairs(ctx, rep.Fixed)
	}
	rep.Duration = scheduler.Seconds(time.Since(began))
	return rep, err
}

// sort puts the findings in the order of their names.
func (r *AuditReport) sort() {
	sort.Slice(r.Findings, func(i, j int) bool { return r.Findings[i].Name < r.Findings[j].Name })
}

// take takes in what was found of a job.
func (r *AuditReport) take(f finding) {
	switch {
	case f.never && len(r.NeverRan) < neverRanKept:
		r.NeverRan = append(r.NeverRan, f.Job.String())
	case !f.never && f.ending == nil:
		r.add(f.Finding)
	}
	if f.ending == nil {
		return
	}
	r.Ended++
	if len(r.endings) < endingsKept {
		r.endings = append(r.endings, *f.ending)
	}
}

// endingsKept is for how many jobs that have ended an audit writes that, about 300
// bytes of memory each. The next one goes on.
const endingsKept = 1 << 17

func (r *AuditReport) add(f Finding) {
	f.Name = f.Job.String()
	if f.Job.Job == "" {
		f.Name = "collection " + f.Job.Collection
	}
	if f.Fixed {
		r.Fixed++
	}
	r.Findings = append(r.Findings, f)
}

// keySample is how many jobs an audit looks into for secrets that cannot be
// opened. A key that is lost locks far more than one job in many.
const keySample = 1024

// auditJobs looks at definitions without a baton. Most are disabled, finished
// or deleted. An enabled one has ended or is restored, unless its baton has
// turned up: it was on its way while the census was taken.
//
// Thousands may have ended, with a herd whose worker was killed. So with fix, as in
// the background, one batch of those is taken at a time, and others may work as
// long in between.
func (a Auditor) auditJobs(
	ctx context.Context, keys []scheduler.Key, fix bool, present *atomic.Int64, one *sync.Mutex, found chan<- finding,
) error {
	enabled := map[scheduler.Key]scheduler.Stored{}
	err := a.shared.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) {
		present.Add(1)
		switch {
		case scheduler.StoredState(st.Data) == scheduler.Enabled:
			enabled[st.Key] = st
		case scheduler.StoredNeverRan(st.Data):
			found <- finding{Finding: Finding{Job: st.Key}, never: true}
		}
	})
	if err != nil || len(enabled) == 0 {
		return err
	}
	lost, err := a.bare(ctx, enabled, fix, one, found)
	if err != nil {
		return err
	}
	for _, j := range lost {
		f := Finding{Job: j.Key, Problem: "enabled, but has no baton: it would never run"}
		if fix {
			err := a.plans.rederive(ctx, j)
			if err != nil && !errors.Is(err, scheduler.ErrConflict) && !errors.Is(err, step.ErrOvertaken) {
				return fmt.Errorf("job %s: %w", j.Key, err)
			}
			f.Fixed = err == nil
		}
		found <- finding{Finding: f}
	}
	return nil
}

// bare looks for what has become of enabled jobs that have no baton. It tells of
// those that have ended, and returns those that have lost it.
func (a Auditor) bare(
	ctx context.Context, enabled map[scheduler.Key]scheduler.Stored, fix bool, one *sync.Mutex, found chan<- finding,
) (lost []*scheduler.Job, err error) {
	one.Lock()
	defer one.Unlock()
	began, ended := time.Now(), false
	look, err := a.shared.steps.Look(ctx, slices.Collect(maps.Keys(enabled)))
	if err != nil {
		return nil, err
	}
	for _, st := range enabled {
		if look.Occupied(st.Key) {
			continue
		}
		j, err := a.shared.decode(ctx, st)
		if err != nil {
			continue // damaged: there is no telling what its baton would be; see [Auditor.Doctor]
		}
		own, err := look.Own(ctx, j)
		switch {
		case err != nil:
			return nil, fmt.Errorf("job %s: %w", st.Key, err)
		case own.Course == scheduler.AtEnd:
			found <- finding{ending: &own.Ending}
			ended = true
		case own.Course == scheduler.BatonLost:
			lost = append(lost, j)
		}
	}
	if ended && fix {
		intake.Pause(ctx, time.Since(began))
	}
	return lost, nil
}

// Finish writes the final forms of jobs that an audit has found to have ended, at
// leisure. What others have written or changed meanwhile stays as it is. An error
// leaves the rest to the next audit.
func (a Auditor) Finish(ctx context.Context, r *AuditReport) error {
	for batch := range slices.Chunk(r.endings, step.EndBatch) {
		began := time.Now()
		if _, err := a.shared.steps.EndAll(ctx, batch); err != nil {
			return err
		}
		if !step.Rest(ctx, time.Since(began)) {
			return context.Cause(ctx)
		}
	}
	return nil
}

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
