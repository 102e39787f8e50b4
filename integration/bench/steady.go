package main

import (
	"context"
	"fmt"
	"time"
)

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
		t = s.target.account(c, from, to)
		return t.lost == 0, err
	})
	return merge(figures{"occurrences": float64(due)}, t.figures(), used, resident, peak), err
}
