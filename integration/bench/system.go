package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// system is Carillon on a stage, with its default settings, and a connection to see what it stores.
type system struct {
	carillon
	*streams

	putters int // jobs that are put at once
}

// carillon is a scheduler: in this process, or in one of its own.
type carillon interface {
	jobs

	// ingest lets it take in published specs until the returned function is called. In a process of its own it always does.
	ingest(ctx context.Context) (stop func() error)
	stop() error
}

// jobs is the API of a scheduler.
type jobs interface {
	// put puts a job that is new.
	put(ctx context.Context, key scheduler.Key, document []byte) error
	// completed reports whether a job is shown as completed.
	completed(ctx context.Context, key scheduler.Key) (bool, error)
	// audit compares jobs with batons, and mends nothing.
	audit(ctx context.Context) (*service.AuditReport, error)
}

// startSystem starts a scheduler on the stage that finds what it delivers to as t says.
func (s *stage) startSystem(ctx context.Context, t *target) (*system, error) {
	st, err := s.engine.streams()
	if err != nil {
		return nil, err
	}
	sys := &system{streams: st}
	if s.apart() {
		sys.putters = remotePutters
		sys.carillon, err = s.startRemote(ctx, st.nc, t.args...)
	} else {
		sys.putters = localPutters
		sys.carillon, err = startLocal(ctx, s.engine, s.progress.log(), t.options...)
	}
	if err != nil {
		st.nc.Close()
		return nil, err
	}
	return sys, nil
}

// withSystem lets a system run on a stage while use does what is measured.
func (s *stage) withSystem(ctx context.Context, use func(*system) (figures, error)) (fs figures, err error) {
	sys, err := s.startSystem(ctx, newTarget(s.sink))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	return use(sys)
}

// close stops the scheduler.
func (s *system) close() error {
	defer s.nc.Close()
	return s.stop()
}

// putAll puts the jobs of a calendar and returns how long that took.
func (s *system) putAll(ctx context.Context, p *progress, c calendar, url string) (time.Duration, error) {
	var done atomic.Int64
	began := time.Now()
	stop := p.follow("put", c.jobs, func() int { return int(done.Load()) })
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range s.putters {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= c.jobs || ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := s.put(ctx, c.job(i), c.document(i, url)); err != nil {
					return fmt.Errorf("job %s: %w", c.job(i), err)
				}
				done.Add(1)
			}
		})
	}
	err := g.Wait()
	return time.Since(began), err
}
