package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// herd is the scenario of jobs that are due at the same instant.
func herd(ctx context.Context, s *stage) (figures, error) {
	if s.side == sideBare {
		return herdBare(ctx, s)
	}
	if _, err := s.startWorker(ctx); err != nil {
		return nil, err
	}
	return s.newHerd().measure(ctx)
}

// herdRun is a herd of Carillon, or of bare JetStream.
type herdRun struct {
	*stage
	calendar

	quiet    time.Duration // between the registration and the instant: part of the measurement
	patience time.Duration // for the calls, and a millisecond for each
	register func(ctx context.Context, c calendar) (time.Duration, error)
	settle   func(ctx context.Context, c calendar, deadline time.Time) (figures, error)
}

// newHerd plans a herd. The server fires batons 2.5 s early, or 10.5 s in a large herd, which is part of the measurement.
func (s *stage) newHerd() *herdRun {
	h := &herdRun{stage: s, quiet: 3 * time.Second, patience: 15 * time.Second, register: s.putAll, settle: s.settle}
	if s.n > 20_000 {
		h.quiet = 11 * time.Second
	}
	h.calendar = calendar{prefix: "job-", jobs: s.n, first: time.Now().UTC().Add(h.quiet + s.lead(s.n)).Truncate(time.Millisecond)}
	return h
}

// lead is the time to create jobs.
func (s *stage) lead(jobs int) time.Duration {
	if s.ahead > 0 {
		return s.ahead
	}
	return 7*time.Second + time.Duration(jobs)*time.Second/2000
}

// measure registers the herd, waits for the instant, and accounts for the calls.
func (h *herdRun) measure(ctx context.Context) (figures, error) {
	h.log.Printf("%s: due at %s", h.side, h.first.Format("15:04:05.000"))
	took, err := h.register(ctx, h.calendar)
	if err != nil {
		return nil, err
	}
	if time.Until(h.first) < h.quiet {
		return nil, fmt.Errorf("the registration took %s: give it more time with -ahead", took)
	}
	if err := sleep(ctx, h.first.Add(-h.quiet)); err != nil {
		return nil, err
	}
	h.resetPeaks()
	before, err := h.readUsage(ctx)
	if err != nil {
		return nil, err
	}
	settled, err := h.release(ctx)
	if err != nil {
		return nil, err
	}
	used, err := h.usageSince(ctx, before, h.n, "job")
	if err != nil {
		return nil, err
	}
	resident, peak := h.memory("VmRSS", "rss_mb"), h.memory("VmHWM", "rss_peak_mb")
	rest, err := h.rest(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := h.target.read(); err != nil { // the repeated calls, too
		return nil, err
	}
	t := h.target.account(h.within(h.first, h.first.Add(1)), h.due)
	return merge(rate("register", h.n, took), rate("delivered", len(t.late), t.last.Sub(h.first)), t.figures(), settled, used,
		resident, peak, figures{"rest_cpu_us_per_job": rest / float64(h.n)}), nil
}

// release waits until all calls have arrived, and the jobs are settled.
func (h *herdRun) release(ctx context.Context) (figures, error) {
	if err := sleep(ctx, h.first); err != nil {
		return nil, err
	}
	deadline := h.first.Add(h.patience + time.Duration(h.n)*time.Millisecond)
	if _, err := h.arrive(ctx, h.n, deadline); err != nil {
		return nil, err
	}
	return h.settle(ctx, h.calendar, deadline)
}

// arrive waits until n different calls have arrived, and returns their number.
func (s *stage) arrive(ctx context.Context, n int, deadline time.Time) (arrived int, err error) {
	_, err = poll(ctx, 5*time.Millisecond, deadline, func() (bool, error) {
		arrived, err = s.target.read()
		return arrived >= n, err
	})
	return arrived, err
}

// settle waits until every one-shot has its record and no baton is left.
func (s *stage) settle(ctx context.Context, c calendar, deadline time.Time) (figures, error) {
	settled, records, err := s.awaitMessages(ctx, streamHistory, deadline, func(n int) bool { return n >= c.jobs })
	if err != nil {
		return nil, err
	}
	drained, batons, err := s.awaitMessages(ctx, streamTimers, deadline, func(n int) bool { return n == 0 })
	return figures{
		"settled_s":       settled.Sub(c.first).Seconds(),
		"drained_s":       drained.Sub(c.first).Seconds(),
		"unsettled":       float64(max(0, c.jobs-records) + batons),
		"surplus_records": float64(max(0, records-c.jobs)),
	}, err
}

// kill is the scenario of a herd during which one of two processes of carillon serve is killed.
func kill(ctx context.Context, s *stage) (fs figures, err error) {
	victim, err := s.startWorker(ctx)
	if err != nil {
		return nil, err
	}
	s.leave(victim) // its costs are not measured
	defer victim.kill()
	if _, err = s.startWorker(ctx); err != nil {
		return nil, err
	}
	h := s.newHerd()
	h.patience = 3 * time.Minute // the other process repeats calls
	var killed figures
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { fs, err = h.measure(ctx); return err })
	g.Go(func() (err error) { killed, err = h.kill(ctx, victim); return err })
	err = g.Wait()
	return merge(killed, fs), err
}

// kill kills the victim after a tenth of the calls.
func (h *herdRun) kill(ctx context.Context, victim *process) (figures, error) {
	if err := sleep(ctx, h.first); err != nil {
		return nil, err
	}
	arrived, err := h.arrive(ctx, h.n/10, h.first.Add(patience))
	if err != nil {
		return nil, err
	}
	if err := victim.alive(); err != nil {
		return nil, err
	}
	victim.kill()
	return figures{"killed_s": time.Since(h.first).Seconds(), "killed_arrived": float64(arrived)}, nil
}
