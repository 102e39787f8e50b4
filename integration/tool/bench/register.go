package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// register is the scenario of jobs that are created by published specs, and by API requests.
func register(ctx context.Context, s *stage) (figures, error) {
	if _, err := s.startWorker(ctx); err != nil {
		return nil, err
	}
	specs, requests := s.distant("published-"), s.distant("requested-")
	published, err := s.creates(ctx, specs, func() (figures, error) { return s.publishSpecs(ctx, specs) })
	if err != nil {
		return nil, err
	}
	if _, err := s.rest(ctx); err != nil {
		return nil, err
	}
	requested, err := s.creates(ctx, requests, func() (figures, error) {
		took, err := s.putAll(ctx, requests)
		return rate("register", s.n, took), err
	})
	if err != nil {
		return nil, err
	}
	disk, err := s.disk(ctx)
	return merge(published.prefixed("published_"), requested.prefixed("requested_"), disk), err
}

// creates measures a way to create the jobs of a calendar.
func (s *stage) creates(ctx context.Context, c calendar, create func() (figures, error)) (figures, error) {
	batons, err := s.state(ctx, streamTimers)
	if err != nil {
		return nil, err
	}
	before, err := s.readUsage(ctx)
	if err != nil {
		return nil, err
	}
	fs, err := create()
	if err != nil {
		return nil, err
	}
	used, err := s.usageSince(ctx, before, c.jobs, "job")
	if err != nil {
		return nil, err
	}
	after, err := s.state(ctx, streamTimers)
	return merge(fs, used, figures{"rejected": float64(c.jobs) - float64(after.Msgs-batons.Msgs)}), err
}

// publishSpecs publishes a spec for each job and waits until each has its baton and its result.
func (s *stage) publishSpecs(ctx context.Context, c calendar) (figures, error) {
	var stored time.Duration
	var armed, accepted time.Time
	var g errgroup.Group
	began := time.Now()
	reached := func(at *time.Time, stream string) {
		g.Go(func() (err error) {
			deadline := began.Add(patience + 2*time.Duration(c.jobs)*time.Millisecond)
			*at, _, err = s.awaitMessages(ctx, stream, deadline, func(n int) bool { return n >= c.jobs })
			return err
		})
	}
	reached(&armed, streamTimers)
	reached(&accepted, streamResults)
	g.Go(func() (err error) {
		stored, err = s.publishAll(ctx, c, func(i int) error {
			subject := "carillon.spec.put.default." + c.name(i)
			_, err := s.js.PublishAsync(subject, c.document(i, s.target.url), jetstream.WithStallWait(patience))
			return err
		})
		return err
	})
	err := g.Wait()
	return merge(rate("stored", c.jobs, stored), rate("armed", c.jobs, armed.Sub(began)),
		rate("accepted", c.jobs, accepted.Sub(began))), err
}

const (
	steadyInterval = 10 * time.Second // between the instants of a job
	steadyWarmup   = 5 * time.Second  // before the measurement
	steadyGrace    = 10 * time.Second // after the measurement, for late calls
)

// steady is the scenario of jobs that are due at an even rate.
func steady(ctx context.Context, s *stage) (figures, error) {
	if _, err := s.startWorker(ctx); err != nil {
		return nil, err
	}
	jobs := s.rate * int(steadyInterval/time.Second)
	c := calendar{
		prefix: "job-", jobs: jobs, step: steadyInterval / time.Duration(jobs), interval: steadyInterval,
		first: time.Now().UTC().Add(s.lead(jobs)).Truncate(time.Second).Add(time.Millisecond),
	}
	s.log.Printf("%s: %d jobs every %s, from %s", s.side, jobs, c.interval, c.first.Format("15:04:05.000"))
	took, err := s.putAll(ctx, c)
	if err == nil && time.Until(c.first) < 0 {
		err = fmt.Errorf("the registration took %s: give it more time with -ahead", took)
	}
	if err != nil {
		return nil, err
	}
	fs, err := s.observe(ctx, c, c.first.Add(steadyWarmup))
	if err != nil {
		return nil, err
	}
	disk, err := s.disk(ctx)
	return merge(rate("register", jobs, took), fs, disk), err
}

// observe measures the instants of a window.
func (s *stage) observe(ctx context.Context, c calendar, from time.Time) (figures, error) {
	to, due := from.Add(time.Duration(s.seconds*float64(time.Second))), 0
	for range c.within(from, to) {
		due++
	}
	if err := sleep(ctx, from); err != nil {
		return nil, err
	}
	s.resetPeaks()
	before, err := s.readUsage(ctx)
	if err != nil {
		return nil, err
	}
	if err := sleep(ctx, to); err != nil {
		return nil, err
	}
	used, err := s.usageSince(ctx, before, due, "run")
	if err != nil {
		return nil, err
	}
	resident, peak := s.memory("VmRSS", "rss_mb"), s.memory("VmHWM", "rss_peak_mb")
	var t tally
	_, err = poll(ctx, look, to.Add(steadyGrace), func() (bool, error) {
		_, err := s.target.read()
		t = s.target.account(c.within(from, to), c.due)
		return t.lost == 0, err
	})
	return merge(figures{"occurrences": float64(due)}, t.figures(), used, resident, peak), err
}
