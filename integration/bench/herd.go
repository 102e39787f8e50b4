package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// herd lets all jobs fall due at one instant, in Carillon and in the baseline.
func herd(ctx context.Context, b *bench) ([]part, error) {
	ofCarillon := func(ctx context.Context, b *bench) (part, error) { return b.herdTo(ctx, orderCarillon, toHTTP) }
	sides := []func(context.Context, *bench) (part, error){ofCarillon, herdOfBare}
	if !b.baseline {
		sides = sides[:1]
	}
	if b.order == orderBare || b.order == orderAlternate && b.run%2 == 1 {
		slices.Reverse(sides)
	}
	parts := make([]part, 0, len(sides))
	for _, measure := range sides {
		p, err := measure(ctx, b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 1 {
		return parts, nil
	}
	if parts[0].name == orderBare {
		slices.Reverse(parts)
	}
	carillon, _ := parts[0].figures.find("delivered_s")
	bare, _ := parts[1].figures.find("delivered_s")
	cpu, _ := parts[0].figures.find("cpu_us_per_job")
	bareCPU, _ := parts[1].figures.find("cpu_us_per_job")
	parts[0].figures = append(parts[0].figures,
		figure{"ratio", bare / carillon}, figure{"delivered_vs_bare", carillon / bare}, figure{"cpu_vs_bare", cpu / bareCPU})
	return parts, nil
}

// herdTo measures Carillon's herd on a target.
func (b *bench) herdTo(ctx context.Context, name string, open func(context.Context, *stage) (*target, error)) (p part, err error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return p, err
	}
	defer st.close()
	to, err := open(ctx, st)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	sys, err := st.startSystem(ctx, to)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	return st.herdOf(name, sys, to).measure(ctx)
}

// herdOf is the herd of a system.
func (s *stage) herdOf(name string, sys *system, to *target) *herdRun {
	h := s.newHerd(name, herdQuiet(s.n))
	h.calendar.action, h.target = to.action, to
	h.register = func(ctx context.Context) (took time.Duration, err error) {
		return sys.putAll(ctx, s.progress, h.calendar, s.sink.url)
	}
	h.settle = func(ctx context.Context, until time.Time) (figures, error) { return sys.settle(ctx, h.calendar, until) }
	return h
}

// herdRun is one herd, of Carillon or bare.
type herdRun struct {
	*stage
	*target

	name     string
	calendar calendar
	patience time.Duration // how long the calls may take, beside a millisecond for each
	quiet    time.Duration // before the instant: the registration must be over, and the measurement begins
	register func(ctx context.Context) (took time.Duration, err error)
	settle   func(ctx context.Context, until time.Time) (figures, error)
}

// herdQuiet is the quiet before Carillon's herd, which fires up to 2.5 s early, a
// large one up to 10.5 s: that is to be part of the measurement.
func herdQuiet(jobs int) time.Duration {
	if jobs <= 20_000 {
		return 3 * time.Second
	}
	return 11 * time.Second
}

// herdPatience ends the wait for calls that do not come.
const herdPatience = 15 * time.Second

func (s *stage) newHerd(name string, quiet time.Duration) *herdRun {
	due := time.Now().UTC().Add(s.lead(s.n) - herdQuiet(s.n) + quiet).Truncate(time.Millisecond)
	return &herdRun{
		stage: s, name: name, quiet: quiet, patience: herdPatience,
		calendar: calendar{collection: "default", prefix: "job-", jobs: s.n, first: due},
		target:   newTarget(s.sink),
	}
}

// measure registers the herd, waits for the instant, and accounts for what
// arrives.
func (h *herdRun) measure(ctx context.Context) (part, error) {
	due := h.calendar.first
	h.progress.sayf("%s: due at %s", h.name, due.Format("15:04:05.000"))
	took, err := h.register(ctx)
	if err != nil {
		return part{}, err
	}
	if time.Until(due) < h.quiet {
		return part{}, fmt.Errorf("%s: the registration took %s, and the herd is due in %s; give it more time with -ahead",
			h.name, took, time.Until(due))
	}
	if err := sleep(ctx, due.Add(-h.quiet)); err != nil {
		return part{}, err
	}
	h.forgetPeaks()
	end, err := h.profile(ctx, h.name, h.quiet+profileHerd+time.Duration(h.n)*profilePerJob)
	if err != nil {
		return part{}, err
	}
	m := h.startMeter(ctx)
	settled, err := h.release(ctx)
	used := m.stop(ctx)
	memory := h.memory()
	rest, restErr := h.rest(ctx)
	if err = errors.Join(err, restErr, end()); err != nil {
		return part{}, err
	}
	if err := h.collect(ctx); err != nil {
		return part{}, err
	}
	p := h.part(took, settled, used)
	p.figures = append(append(p.figures, figure{"rest_cpu_us_per_job", micros(rest) / float64(h.n)}), memory...)
	return p, nil
}

// release waits until all have arrived, and are settled.
func (h *herdRun) release(ctx context.Context) (figures, error) {
	due := h.calendar.first
	until := due.Add(h.patience + time.Duration(h.n)*time.Millisecond)
	if err := sleep(ctx, due); err != nil {
		return nil, err
	}
	stop := h.progress.follow(h.name+": arrived", h.n, h.arrived)
	defer stop()
	if err := await(ctx, until, func() bool { return h.arrived() >= h.n }); err != nil {
		return nil, err
	}
	return h.settle(ctx, until)
}

// part puts the figures together.
func (h *herdRun) part(register time.Duration, settled figures, used usage) part {
	due := h.calendar.first
	t := h.sink.account(h.calendar, due, due.Add(1))
	delivered := t.last.Sub(due).Seconds()
	fs := figures{
		{"register_s", register.Seconds()},
		{"register_per_s", float64(h.n) / register.Seconds()},
		{"delivered_s", delivered},
		{"delivered_per_s", float64(len(t.late)) / delivered},
	}
	fs = append(fs, t.lateness()...)
	fs = append(fs, settled...)
	if drained, ok := settled.find("drained_s"); ok {
		fs = append(fs, figure{"drained_after_s", drained - delivered})
	}
	fs = append(fs, t.faults()...)
	return part{h.name, append(fs, used.per(h.n, "job")...)}
}
