package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
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
	parts[0].figures = append(parts[0].figures, figure{"ratio", bare / carillon})
	return parts, nil
}

// herdTo measures Carillon's herd on a target.
func (b *bench) herdTo(ctx context.Context, name string, open func(context.Context, *sink) (*target, error)) (p part, err error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return p, err
	}
	defer st.close()
	to, err := open(ctx, st.sink)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	sys, err := startSystem(ctx, st.engine, b.progress.log(), to.options...)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, sys.stop()) }()
	h := b.newHerd(name, st.sink, herdQuiet)
	h.calendar.action, h.target = to.action, to
	var written uint64
	h.register = func(ctx context.Context) (took time.Duration, err error) {
		if took, err = sys.putAll(ctx, b.progress, h.calendar, st.sink.url); err != nil {
			return 0, err
		}
		jobs, err := sys.state(ctx, jobStream)
		written = jobs.LastSeq
		return took, err
	}
	h.settle = func(ctx context.Context, until time.Time) (figures, error) {
		return sys.settle(ctx, h.calendar, written, until)
	}
	h.profile = b.profile
	return h.measure(ctx)
}

// settle waits until each of the one-shots of c has its record, none has a
// baton, and all their ends are written. written is the last revision of the
// definitions before: an end is one more.
func (s *system) settle(ctx context.Context, c calendar, written uint64, until time.Time) (figures, error) {
	n := uint64(c.jobs)
	settled, history, err := s.reach(ctx, historyStream, until, func(st jetstream.StreamState) bool { return st.Msgs >= n })
	if err != nil {
		return nil, err
	}
	_, timers, err := s.reach(ctx, timersStream, until, func(st jetstream.StreamState) bool { return st.Msgs == 0 })
	if err != nil {
		return nil, err
	}
	drained, jobs, err := s.reach(ctx, jobStream, until, func(st jetstream.StreamState) bool { return st.LastSeq >= written+n })
	missing := n - min(n, history.Msgs) + timers.Msgs + n - min(n, jobs.LastSeq-written)
	return figures{
		{"settled_s", settled.Sub(c.first).Seconds()},
		{"drained_s", drained.Sub(c.first).Seconds()},
		{"unsettled", float64(missing)},
		{"surplus_records", float64(history.Msgs - min(n, history.Msgs))},
	}, err
}

// herdRun is one herd, of Carillon or bare.
type herdRun struct {
	*bench
	*target

	name     string
	sink     *sink
	calendar calendar
	quiet    time.Duration // before the instant: the registration must be over, and the measurement begins
	register func(ctx context.Context) (took time.Duration, err error)
	settle   func(ctx context.Context, until time.Time) (figures, error)
	profile  func() (end func() error, err error)
}

// herdQuiet is the quiet before Carillon's herd, which fires up to 10.5 s early:
// that is to be part of the measurement.
const herdQuiet = 11 * time.Second

func (b *bench) newHerd(name string, s *sink, quiet time.Duration) *herdRun {
	due := time.Now().UTC().Add(b.lead(b.n) - herdQuiet + quiet).Truncate(time.Millisecond)
	return &herdRun{
		bench: b, name: name, sink: s, quiet: quiet,
		calendar: calendar{collection: "default", prefix: "job-", jobs: b.n, first: due},
		target:   newTarget(s),
		profile:  func() (func() error, error) { return func() error { return nil }, nil },
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
	end, err := h.profile()
	if err != nil {
		return part{}, err
	}
	m := startMeter()
	settled, err := h.release(ctx)
	used := m.stop()
	if err = errors.Join(err, end()); err != nil {
		return part{}, err
	}
	if err := h.collect(ctx); err != nil {
		return part{}, err
	}
	return h.part(took, settled, used), nil
}

// release waits until all have arrived, and are settled.
func (h *herdRun) release(ctx context.Context) (figures, error) {
	due := h.calendar.first
	until := due.Add(15*time.Second + time.Duration(h.n)*time.Millisecond)
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
	fs = append(fs, t.faults()...)
	fs = append(fs, used.per(h.n, "job")...)
	return part{h.name, append(fs, memory()...)}
}
