package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/step"
)

// Auditor compares jobs with batons.
type Auditor struct {
	shared  *shared
	plans   *planner
	secrets SecretKeeper
}

// AuditReport is what an audit found.
type AuditReport struct {
	Jobs     int       `json:"jobs"`    // definitions seen
	Waiting  int       `json:"waiting"` // batons waiting for their time
	Running  int       `json:"running"` // batons with a worker
	Findings []Finding `json:"findings"`
	Fixed    int       `json:"fixed"`

	// NeverRan are jobs, a thousand at most, that are over and have never run:
	// their schedules had no time left. Nothing is broken about them.
	NeverRan []string `json:"neverRan,omitempty"`

	// Undecryptable tells of secrets that this process has not the keys for, as far
	// as a sample of the jobs shows.
	Undecryptable []secrets.Undecryptable `json:"unopened,omitempty"`

	// Duration of the audit.
	Duration scheduler.Seconds `json:"duration"`

	sample []scheduler.Key // of the jobs
}

// Finding is one thing an audit found wrong.
type Finding struct {
	Job     scheduler.Key `json:"-"`
	Name    string        `json:"job"`     // collection/job
	Problem string        `json:"problem"` // what is wrong, for people
	Fixed   bool          `json:"fixed"`
	Damaged bool          `json:"damaged,omitempty"` // what is stored cannot be read; only a put mends it

	never bool // nothing is wrong: the job is over, and never ran
}

// neverRanKept is how many jobs that never ran a report names at most.
const neverRanKept = 1000

// The bounds of an audit: how many chunks of jobs it looks at side by side, and
// how large they are.
const (
	auditWorkers = 32
	auditChunk   = 128
)

// Audit compares enabled jobs with batons. A job without one was cut off
// between the writing of its definition and the arming, or lost it with the
// timers stream; a baton without an enabled job was left by an edit that was
// cut short, and would be dropped when due. With fix both are mended: a baton
// is derived again from the definition and the last history record.
//
// The server's index gives all names in one request for each lane, so what
// is in order costs no read; only jobs without a baton are read.
func (a Auditor) Audit(ctx context.Context, fix bool) (*AuditReport, error) {
	began := time.Now()
	rep := &AuditReport{Findings: []Finding{}}
	batons, err := a.census(ctx, rep)
	if err != nil {
		return rep, err
	}
	bare, err := a.withoutBaton(ctx, rep, batons)
	if err != nil {
		return rep, err
	}
	found := make(chan Finding, auditWorkers)
	done := make(chan struct{})
	go func() {
		for f := range found {
			rep.add(f)
		}
		close(done)
	}()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(auditWorkers)
	var present atomic.Int64 // deleted jobs stay in the index for a while
	for chunk := range slices.Chunk(bare, auditChunk) {
		g.Go(func() error { return a.auditJobs(gctx, chunk, fix, &present, found) })
	}
	for k := range batons { // what is left belongs to no definition
		g.Go(func() error { return a.auditOrphan(gctx, k, fix, found) })
	}
	err = g.Wait()
	close(found)
	<-done
	if err == nil {
		rep.Undecryptable, err = a.secrets.manager.Undecryptable(ctx, rep.sample)
	}
	rep.Jobs -= len(bare) - int(present.Load())
	slices.Sort(rep.NeverRan)
	rep.sort()
	rep.Duration = scheduler.Seconds(time.Since(began))
	return rep, err
}

// sort puts the findings in the order of their names.
func (r *AuditReport) sort() {
	sort.Slice(r.Findings, func(i, j int) bool { return r.Findings[i].Name < r.Findings[j].Name })
}

func (r *AuditReport) add(f Finding) {
	f.Name = f.Job.String()
	if f.Job.Job == "" {
		f.Name = "collection " + f.Job.Collection
	}
	if f.never {
		if len(r.NeverRan) < neverRanKept {
			r.NeverRan = append(r.NeverRan, f.Name)
		}
		return
	}
	if f.Fixed {
		r.Fixed++
	}
	r.Findings = append(r.Findings, f)
}

// census lists the jobs that have a baton.
func (a Auditor) census(ctx context.Context, rep *AuditReport) (map[scheduler.Key]struct{}, error) {
	batons := map[scheduler.Key]struct{}{}
	for lane := range a.shared.Store.Lanes() {
		err := a.shared.Store.EachBaton(ctx, lane, func(slot scheduler.Slot, waiting bool) error {
			if waiting {
				rep.Waiting++
			} else {
				rep.Running++
			}
			if slot.Detached == "" {
				batons[slot.Key] = struct{}{}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("audit of lane %d: %w", lane, err)
		}
	}
	return batons, nil
}

// withoutBaton lists the definitions that have none, and removes from batons
// those that have one.
func (a Auditor) withoutBaton(ctx context.Context, rep *AuditReport, batons map[scheduler.Key]struct{}) ([]scheduler.Key, error) {
	var bare []scheduler.Key
	err := a.shared.Store.EachJob(ctx, "", func(k scheduler.Key) error {
		rep.Jobs++
		if len(rep.sample) < keySample { // in no particular order
			rep.sample = append(rep.sample, k)
		}
		if _, ok := batons[k]; ok {
			delete(batons, k)
		} else {
			bare = append(bare, k)
		}
		return nil
	})
	return bare, err
}

// keySample is how many jobs an audit looks into for secrets that cannot be
// opened. A key that is lost locks far more than one job in many.
const keySample = 1024

// auditJobs looks at definitions without a baton. Most are disabled, finished
// or deleted; an enabled one is restored, unless its baton has turned up.
func (a Auditor) auditJobs(ctx context.Context, keys []scheduler.Key, fix bool, present *atomic.Int64, found chan<- Finding) error {
	enabled := map[scheduler.Key]scheduler.Stored{}
	err := a.shared.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) {
		present.Add(1)
		switch {
		case scheduler.StoredState(st.Data) == scheduler.Enabled:
			enabled[st.Key] = st
		case scheduler.StoredNeverRan(st.Data):
			found <- Finding{Job: st.Key, never: true}
		}
	})
	if err != nil || len(enabled) == 0 {
		return err
	}
	err = a.shared.Store.FindBatons(ctx, slices.Collect(maps.Keys(enabled)), func(k scheduler.Key) {
		delete(enabled, k) // it was on its way while the census was taken
	})
	if err != nil {
		return err
	}
	for _, st := range enabled {
		if err := a.auditJob(ctx, st, fix, found); err != nil {
			return err
		}
	}
	return nil
}

// auditJob reports, and restores, an enabled job without a baton.
func (a Auditor) auditJob(ctx context.Context, st scheduler.Stored, fix bool, found chan<- Finding) error {
	j, err := a.shared.decode(st)
	if err != nil {
		return nil //nolint:nilerr // damaged: there is no telling what its baton would be; see [Auditor.Doctor]
	}
	f := Finding{Job: st.Key, Problem: "enabled, but has no baton: it would never run"}
	if fix {
		err := a.plans.rederive(ctx, j)
		if err != nil && !errors.Is(err, scheduler.ErrConflict) && !errors.Is(err, step.ErrOvertaken) {
			return fmt.Errorf("job %s: %w", st.Key, err)
		}
		f.Fixed = err == nil
	}
	found <- f
	return nil
}

// auditOrphan looks at a baton without an enabled definition.
func (a Auditor) auditOrphan(ctx context.Context, k scheduler.Key, fix bool, found chan<- Finding) error {
	j, _, err := a.shared.find(ctx, k)
	if _, damaged := errors.AsType[*scheduler.DamagedError](err); damaged {
		return nil // its baton waits
	}
	if err != nil || j != nil {
		return err // the definition has turned up
	}
	f := Finding{Job: k, Problem: "has a baton, but no definition: a delete was cut short"}
	if fix {
		if err := a.shared.Store.Clear(ctx, k); err != nil {
			return err
		}
		f.Fixed = true
	}
	found <- f
	return nil
}
