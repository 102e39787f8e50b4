package scheduler

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
)

// AuditReport is what an audit found.
type AuditReport struct {
	Jobs     int       `json:"jobs"`    // definitions seen
	Waiting  int       `json:"waiting"` // batons waiting for their time
	Running  int       `json:"running"` // batons with a worker
	Findings []Finding `json:"findings"`
	Fixed    int       `json:"fixed"`

	// Unopened tells of secrets that this process has not the keys for, as far
	// as a sample of the jobs shows.
	Unopened []Unopened `json:"unopened,omitempty"`

	// Duration of the audit in nanoseconds.
	Duration time.Duration `json:"duration"`

	sample []Key // of the jobs
}

// Finding is one thing an audit found wrong.
type Finding struct {
	Job     Key    `json:"-"`
	Name    string `json:"job"`     // collection/job
	Problem string `json:"problem"` // what is wrong, for people
	Fixed   bool   `json:"fixed"`
}

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
func (s *Service) Audit(ctx context.Context, fix bool) (*AuditReport, error) {
	began := time.Now()
	rep := &AuditReport{Findings: []Finding{}}
	batons, err := s.census(ctx, rep)
	if err != nil {
		return rep, err
	}
	bare, err := s.withoutBaton(ctx, rep, batons)
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
		g.Go(func() error { return s.auditJobs(gctx, chunk, fix, &present, found) })
	}
	for k := range batons { // what is left belongs to no definition
		g.Go(func() error { return s.auditStray(gctx, k, fix, found) })
	}
	err = g.Wait()
	close(found)
	<-done
	if err == nil {
		rep.Unopened, err = s.unopened(ctx, rep.sample)
	}
	rep.Jobs -= len(bare) - int(present.Load())
	sort.Slice(rep.Findings, func(i, j int) bool { return rep.Findings[i].Name < rep.Findings[j].Name })
	rep.Duration = time.Since(began)
	return rep, err
}

func (r *AuditReport) add(f Finding) {
	f.Name = f.Job.String()
	if f.Fixed {
		r.Fixed++
	}
	r.Findings = append(r.Findings, f)
}

// census lists the jobs that have a baton.
func (s *Service) census(ctx context.Context, rep *AuditReport) (map[Key]struct{}, error) {
	batons := map[Key]struct{}{}
	for lane := range s.store.Lanes() {
		err := s.store.EachBaton(ctx, lane, func(slot Slot, waiting bool) error {
			if waiting {
				rep.Waiting++
			} else {
				rep.Running++
			}
			if slot.OneOff == "" {
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
func (s *Service) withoutBaton(ctx context.Context, rep *AuditReport, batons map[Key]struct{}) ([]Key, error) {
	var bare []Key
	err := s.store.EachJob(ctx, "", func(k Key) error {
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

// auditJobs looks at definitions without a baton. Most are disabled, finished
// or deleted; an enabled one is restored, unless its baton has turned up.
func (s *Service) auditJobs(ctx context.Context, keys []Key, fix bool, present *atomic.Int64, found chan<- Finding) error {
	enabled := map[Key]Stored{}
	err := s.store.LoadJobs(ctx, keys, func(st Stored) {
		present.Add(1)
		if storedState(st.Data) == Enabled {
			enabled[st.Key] = st
		}
	})
	if err != nil || len(enabled) == 0 {
		return err
	}
	err = s.store.FindBatons(ctx, slices.Collect(maps.Keys(enabled)), func(k Key) {
		delete(enabled, k) // it was on its way while the census was taken
	})
	if err != nil {
		return err
	}
	for _, st := range enabled {
		if err := s.auditJob(ctx, st, fix, found); err != nil {
			return err
		}
	}
	return nil
}

// auditJob reports, and restores, an enabled job without a baton.
func (s *Service) auditJob(ctx context.Context, st Stored, fix bool, found chan<- Finding) error {
	j, err := DecodeJob(st.Key, st.Revision, st.Data, s.actions, s.secrets)
	if err != nil {
		found <- Finding{Job: st.Key, Problem: "cannot be read: " + err.Error()}
		return nil //nolint:nilerr // a finding; the audit goes on
	}
	f := Finding{Job: st.Key, Problem: "enabled, but has no baton: it would never run"}
	if fix {
		err := s.rederive(ctx, j)
		if err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, errOvertaken) {
			return fmt.Errorf("job %s: %w", st.Key, err)
		}
		f.Fixed = err == nil
	}
	found <- f
	return nil
}

// rederive arms the baton that follows the last thing the history knows of the
// job; without a history, the first one. What fell due meanwhile is left to
// the catch-up policy when the baton arrives.
func (s *Service) rederive(ctx context.Context, j *Job) error {
	last, err := s.lastStep(ctx, j)
	if err != nil {
		return err
	}
	if last == nil {
		if j.Progress.Seen.IsZero() {
			return s.carryOut(ctx, j, j.Begin(j.Progress), 0)
		}
		n, ok := j.plan(j.Progress).Next(j.Progress.Seen)
		return s.carryOut(ctx, j, j.step(j.Progress, n, ok), 0)
	}
	switch {
	case last.Outcome == OutcomePostponed && last.ID == "" && j.oneShot():
		return s.carryOut(ctx, j, j.Begin(j.Progress), 0)
	case last.OneOff: // of a job with overlap allow: the schedule goes on after it
		p := j.Progress
		p.Number, p.Runs, p.Seen = last.Progress.Number, last.Progress.Runs, last.Nominal
		n, ok := j.plan(p).Next(last.Nominal)
		return s.carryOut(ctx, j, j.step(p, n, ok), 0)
	case last.Outcome == OutcomePostponed && last.ID != "": // because of its target
		b := last.baton()
		b.Held, b.Postponed, b.Told = last.Ended, last.Ended, true
		return s.carryOut(ctx, j, Step{Next: &b, State: j.State, Progress: b.Progress}, 0)
	case last.ID == "": // a skip, likewise
		p := last.Progress
		n, ok := j.plan(p).Next(last.To)
		return s.carryOut(ctx, j, j.step(p, n, ok), 0)
	}
	b := last.baton()
	return s.carryOut(ctx, j, j.After(j, b, last.result(), last.Ended), 0)
}

// lastStep returns the newest record that says where the job's own baton was:
// an attempt, or a skip of instants.
func (s *Service) lastStep(ctx context.Context, j *Job) (*Record, error) {
	var last *Record
	n := 0
	outcomes := []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeSkipped, OutcomePostponed}
	err := s.store.Recent(ctx, j.Key, 0, outcomes, func(r *Record) bool {
		n++
		switch {
		case r.Ended.Before(j.Created), !sameJob(r.UID, j.mark()), r.Reason == ReasonDST:
		case r.OneOff && (r.Manual || r.Schedule != j.ScheduleGen):
		case r.OneOff: // they end in any order: the latest instant counts
			if last == nil || r.Nominal.After(last.Nominal) {
				last = r
			}
		case last == nil:
			last = r
		}
		return (last == nil || last.OneOff) && n < recheckDepth
	})
	return last, err
}

// auditStray looks at a baton without an enabled definition.
func (s *Service) auditStray(ctx context.Context, k Key, fix bool, found chan<- Finding) error {
	j, _, err := s.find(ctx, k)
	if err != nil || j != nil {
		return err // the definition has turned up
	}
	f := Finding{Job: k, Problem: "has a baton, but no definition: a delete was cut short"}
	if fix {
		if err := s.store.Clear(ctx, k); err != nil {
			return err
		}
		f.Fixed = true
	}
	found <- f
	return nil
}
