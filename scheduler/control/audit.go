package control

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
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Auditor runs consistency checks: it compares jobs with batons.
type Auditor struct {
	shared  *shared
	plans   *planner
	secrets SecretKeeper
}

// AuditReport is the result of a consistency check, and the data for its later steps.
type AuditReport struct {
	v1.AuditReport

	sample      []scheduler.Key // of the jobs
	endings     []scheduler.Completion
	collections map[string]bool // collections with jobs
}

// Finding is a problem that a consistency check found.
type Finding = v1.Finding

// finding is the result for one job: a problem, an end that is not written yet, or an end without a run.
type finding struct {
	Finding

	completion *scheduler.Completion
	never      bool
}

// neverRanKept limits the jobs in a report that ended without a run.
const neverRanKept = 1000

// The limits of a consistency check: concurrent chunks of jobs, and jobs per chunk.
const (
	auditWorkers = 32
	auditChunk   = 128
)

// Audit compares enabled jobs with batons.
//
// An enabled job without a baton has ended if its last record ended it: its worker has not written the final form yet,
// or stopped before. [Auditor.Finish] writes it. Otherwise the edit was interrupted between storing the definition and
// arming, or the baton was lost with the timers stream: with fix, Audit derives a baton from the definition and the
// last history record.
//
// A baton without a definition remains from an interrupted delete, and fix removes it. But if no delete marker confirms
// that the job was deleted, its definition was lost and the baton is the only remainder: it stays, regardless of fix,
// and waits until the job is put again or deleted.
//
// A job whose trigger is not registered would never be started by an event, and fix registers it.
//
// Audit lists the names of batons and jobs, and the registry, once each. It reads only jobs without a baton and jobs
// with a trigger.
func (a Auditor) Audit(ctx context.Context, fix bool) (*AuditReport, error) {
	began := time.Now()
	rep := &AuditReport{AuditReport: v1.AuditReport{Findings: []Finding{}}, collections: map[string]bool{}}
	if err := a.auditUndelivered(ctx, rep, fix); err != nil {
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
	orphaned, err := a.orphans(ctx, batons)
	if err != nil {
		return rep, err
	}
	var last uint64
	if len(orphaned) > 0 {
		if last, err = a.shared.Store.LastRevision(ctx); err != nil {
			return rep, err
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(auditWorkers)
	c := &check{Auditor: a, fix: fix, report: rep}
	for chunk := range bare.chunks(auditChunk) {
		g.Go(func() error { return c.jobs(gctx, chunk) })
	}
	for _, k := range orphaned {
		g.Go(func() error { return c.orphan(gctx, k, last) })
	}
	err = g.Wait()
	if err == nil {
		err = a.auditCollections(ctx, rep)
	}
	if err == nil {
		err = a.auditRegistry(ctx, rep, fix)
	}
	if err == nil {
		rep.Undecryptable, err = a.secrets.manager.Undecryptable(ctx, rep.sample)
	}
	rep.Jobs -= bare.len - int(c.present.Load())
	slices.Sort(rep.NeverRan)
	rep.sort()
	if rep.Fixed > 0 {
		a.shared.toldRepairs(ctx, rep.Fixed)
	}
	rep.Duration = scheduler.Seconds(time.Since(began))
	return rep, err
}

// sort orders the findings by name.
func (r *AuditReport) sort() {
	sort.Slice(r.Findings, func(i, j int) bool { return r.Findings[i].Name < r.Findings[j].Name })
}

// check examines jobs concurrently.
type check struct {
	Auditor

	fix     bool
	present atomic.Int64 // jobs that were not deleted meanwhile
	one     sync.Mutex   // held while a batch is examined

	mu     sync.Mutex
	report *AuditReport
}

// take adds the finding of a job.
func (c *check) take(f finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.report
	switch {
	case f.never && len(r.NeverRan) < neverRanKept:
		r.NeverRan = append(r.NeverRan, f.Job.String())
	case !f.never && f.completion == nil:
		r.add(f.Finding)
	}
	if f.completion == nil {
		return
	}
	r.Ended++
	if len(r.endings) < endingsKept {
		r.endings = append(r.endings, *f.completion)
	}
}

// endingsKept limits the ended jobs per check, about 300 bytes of memory each. The next check continues.
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

// keySample limits the jobs that a check inspects for secrets without a key. A lost key affects far more than one job
// in keySample.
const keySample = 1024

// jobs examines definitions without a baton. Most are disabled, finished or deleted. An enabled job has ended or
// is restored, unless its baton has appeared since: batons may move during the count.
//
// Thousands of jobs may have ended in a herd whose worker was killed. So with fix, which the background
// check sets, it processes one batch at a time and pauses as long in between, to leave capacity for others.
func (c *check) jobs(ctx context.Context, keys []scheduler.Key) error {
	enabled := map[scheduler.Key]scheduler.Stored{}
	err := c.shared.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) {
		c.present.Add(1)
		switch {
		case scheduler.StoredState(st.Data) == scheduler.Enabled:
			enabled[st.Key] = st
		case scheduler.StoredNeverRan(st.Data):
			c.take(finding{Finding: Finding{Job: st.Key}, never: true})
		}
	})
	if err != nil || len(enabled) == 0 {
		return err
	}
	lost, err := c.bare(ctx, enabled)
	if err != nil {
		return err
	}
	for _, j := range lost {
		f := Finding{Job: j.Key, Problem: "enabled, but has no baton: it would never run"}
		if c.fix {
			err := c.plans.rederive(ctx, j)
			if err != nil && !errors.Is(err, scheduler.ErrConflict) && !errors.Is(err, step.ErrOvertaken) {
				return fmt.Errorf("job %s: %w", j.Key, err)
			}
			f.Fixed = err == nil
		}
		c.take(finding{Finding: f})
	}
	return nil
}

// bare examines enabled jobs without a baton. It reports those that have ended, and returns those that have lost their
// baton.
func (c *check) bare(ctx context.Context, enabled map[scheduler.Key]scheduler.Stored) (lost []*scheduler.Job, err error) {
	c.one.Lock()
	defer c.one.Unlock()
	began, ended := time.Now(), false
	look, err := c.shared.steps.Snapshot(ctx, slices.Collect(maps.Keys(enabled)))
	if err != nil {
		return nil, err
	}
	for _, st := range enabled {
		if look.Occupied(st.Key) {
			continue
		}
		j, err := c.shared.decode(ctx, st)
		if err != nil {
			continue // damaged: its baton cannot be derived; see [Auditor.Doctor]
		}
		own, err := look.Own(ctx, j)
		switch {
		case err != nil:
			return nil, fmt.Errorf("job %s: %w", st.Key, err)
		case own.Lifecycle == scheduler.AtEnd:
			c.take(finding{completion: &own.Completion})
			ended = true
		case own.Lifecycle == scheduler.BatonLost:
			lost = append(lost, j)
		}
	}
	if ended && c.fix {
		flow.Pause(ctx, time.Since(began))
	}
	return lost, nil
}

// Finish writes the final forms of the ended jobs of a report, in the background. It does not touch jobs that have been
// written or edited since. After an error, the next check handles the rest.
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

// undeliveredPause is how long a running baton must remain undelivered: the server may be about to remove it.
const undeliveredPause = time.Second

// Rescue fires running batons again that the server delivers to no worker, as a consistency check does, and returns
// their number. It is cheap: it asks the server only about messages below the ack floor.
func (a Auditor) Rescue(ctx context.Context) (found int, err error) {
	rep := &AuditReport{}
	err = a.auditUndelivered(ctx, rep, true)
	return len(rep.Findings), err
}

// auditUndelivered looks for running batons that the server delivers to no worker.
func (a Auditor) auditUndelivered(ctx context.Context, rep *AuditReport, fix bool) error {
	for lane := range a.shared.Store.Lanes() {
		before, err := a.shared.Store.Undelivered(ctx, lane)
		if err != nil {
			return fmt.Errorf("consistency check of lane %d: %w", lane, err)
		}
		if len(before) == 0 {
			continue
		}
		if !flow.Pause(ctx, undeliveredPause) {
			return context.Cause(ctx)
		}
		now, err := a.shared.Store.Undelivered(ctx, lane)
		if err != nil {
			return fmt.Errorf("consistency check of lane %d: %w", lane, err)
		}
		for _, s := range now {
			if !slices.ContainsFunc(before, func(b scheduler.UndeliveredBaton) bool { return b.Sequence == s.Sequence }) {
				continue
			}
			f := Finding{Job: s.BatonKey.Key, Problem: "its running baton has no worker: the server counts it as acknowledged"}
			if fix {
				if err := a.rescue(ctx, &s); err != nil {
					return fmt.Errorf("job %s: %w", s.BatonKey.Key, err)
				}
				f.Fixed = true
			}
			rep.add(f)
		}
	}
	return nil
}

// rescue fires an undelivered baton again, unless it was rescheduled, and removes it.
func (a Auditor) rescue(ctx context.Context, s *scheduler.UndeliveredBaton) error {
	var at [2]uint64
	for i, look := range []func(context.Context, scheduler.BatonKey) (scheduler.Stored, error){
		a.shared.Store.Waiting, a.shared.Store.Running,
	} {
		st, err := look(ctx, s.BatonKey)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return err
		}
		at[i] = st.Revision
	}
	if s.Rescue(at[0], at[1]) == scheduler.FireAgain {
		err := a.shared.Store.Reschedule(ctx, s.BatonKey, s.Refired(), time.Time{}, s.Sequence)
		if err != nil && !errors.Is(err, scheduler.ErrConflict) { // another process was faster
			return err
		}
	}
	return a.shared.Store.Discard(ctx, s.BatonKey, s.Sequence)
}

// orphan examines a job with batons, but without a definition in the index. last is the last revision of any job.
func (c *check) orphan(ctx context.Context, k scheduler.Key, last uint64) error {
	orphan, f, err := c.shared.findOrphan(ctx, k)
	if orphan == nil || err != nil {
		return err
	}
	orphan.Next = last + 1
	result := finding{Finding: Finding{Job: k, Problem: orphanProblem(orphan, f)}}
	switch {
	case orphan.Cause() != scheduler.Deleted:
		result.Lost = true
	case c.fix:
		if err := c.shared.Store.Clear(ctx, k, scheduler.Left("", orphan.Marker)); err != nil {
			return err
		}
		result.Fixed = true
	}
	c.take(result)
	return nil
}

// auditCollections reports missing collections that have jobs, and incomplete deletions of collections.
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

// findOrphan looks for batons of a job without a definition, and returns nil if it finds none. err explains an unreadable
// baton.
func (h *shared) findOrphan(ctx context.Context, k scheduler.Key) (orphan *scheduler.OrphanBaton, unreadable, err error) {
	marker, err := h.Store.LoadJob(ctx, k)
	if err == nil {
		return nil, nil, nil // the definition has appeared
	}
	if !errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil, fmt.Errorf("job %s: %w", k, err)
	}
	var data []byte
	err = h.Store.FindBatons(ctx, []scheduler.Key{k}, func(st scheduler.Stored, _ bool) { data = st.Data })
	if err == nil && data == nil {
		err = h.Store.SomeDetached(ctx, k, func(_ scheduler.BatonKey, st scheduler.Stored, _ bool) { data = st.Data })
	}
	if data == nil || err != nil {
		return nil, nil, err
	}
	orphan = &scheduler.OrphanBaton{Marker: marker.Revision}
	b, unreadable := scheduler.DecodeBaton(data)
	if unreadable == nil {
		orphan.Baton = &b
	}
	return orphan, unreadable, nil
}

// orphanProblem describes the problem of a job with batons, but without a definition.
func orphanProblem(s *scheduler.OrphanBaton, unreadable error) string {
	const ways = "; its baton waits until it is put again, and continues then, or until it is deleted"
	switch s.Cause() {
	case scheduler.Deleted:
		return "has a baton, but no definition: a delete was cut short"
	case scheduler.Lost:
		return fmt.Sprintf("its definition is lost: the baton was armed with revision %d, of which the store knows nothing%s%s",
			s.Baton.Revision, orphanPlace(s.Baton), ways)
	case scheduler.Missing:
	}
	if unreadable != nil {
		return "its definition is missing, nothing says that it was deleted, and its baton cannot be read: " + unreadable.Error()
	}
	return "its definition is missing, and nothing says that it was deleted" + orphanPlace(s.Baton) + ways
}

// orphanPlace returns the former schedule position of a job whose definition is lost.
func orphanPlace(b *scheduler.Baton) string {
	return fmt.Sprintf(" (next at %s, run %d times)", b.Nominal.UTC().Format(time.RFC3339), b.Runs)
}
