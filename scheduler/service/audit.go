package service

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
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
