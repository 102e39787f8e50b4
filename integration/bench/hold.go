package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// The instants of the held jobs: from a month to ten from now.
const (
	holdFirst = 30 * 24 * time.Hour
	holdLast  = 300 * 24 * time.Hour
)

// hold keeps many jobs that are not due for long.
func hold(ctx context.Context, b *bench) ([]part, error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return nil, err
	}
	defer st.close()
	fs, err := b.withSystem(ctx, st, func(sys *system) (figures, error) { return b.fill(ctx, st, sys) })
	if err == nil && b.restart {
		var again figures
		again, err = b.reopen(ctx, st)
		fs = append(fs, again...)
	}
	return []part{{orderCarillon, fs}}, err
}

// distant is when the held jobs are due.
func (b *bench) distant() calendar {
	return calendar{
		collection: "default", prefix: "job-", jobs: b.n, grain: time.Millisecond,
		first: time.Now().UTC().Add(holdFirst).Truncate(time.Millisecond), step: (holdLast - holdFirst) / time.Duration(b.n),
	}
}

// fill puts the jobs and reads the memory.
func (b *bench) fill(ctx context.Context, st *stage, sys *system) (figures, error) {
	end, err := b.profile()
	if err != nil {
		return nil, err
	}
	took, err := sys.putAll(ctx, b.progress, b.distant(), st.sink.url)
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	if n, err := sys.messages(ctx, timersStream); err != nil || n != b.n {
		return nil, errors.Join(err, fmt.Errorf("%d batons wait for %d jobs", n, b.n))
	}
	b.progress.sayf("put; idle for %s", b.idle)
	if err := sleep(ctx, time.Now().Add(b.idle)); err != nil {
		return nil, err
	}
	fs := figures{
		{"register_s", took.Seconds()},
		{"register_per_s", float64(b.n) / took.Seconds()},
	}
	fs = append(fs, b.held()...)
	if calls := st.sink.distinct(); calls > 0 {
		return nil, fmt.Errorf("%d jobs ran, a month early", calls)
	}
	size, err := diskUse(st.dir)
	return append(fs, figure{"disk_mb", float64(size) / 1e6}, figure{"disk_bytes_per_job", float64(size) / float64(b.n)}), err
}

// held reads what memory the jobs need, as it is and after a collection.
func (b *bench) held() figures {
	n := float64(b.n)
	idle, peak := resident()
	debug.FreeOSMemory()
	collected, _ := resident()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return figures{
		{"rss_peak_mb", float64(peak) / 1e6},
		{"rss_idle_mb", float64(idle) / 1e6},
		{"rss_idle_bytes_per_job", float64(idle) / n},
		{"rss_gc_mb", float64(collected) / 1e6},
		{"rss_gc_bytes_per_job", float64(collected) / n},
		{"heap_bytes_per_job", float64(m.HeapAlloc) / n},
	}
}

// reopen stops the server and starts everything again on the same directory.
func (b *bench) reopen(ctx context.Context, st *stage) (fs figures, err error) {
	stopping := time.Now()
	st.engine.Close()
	fs = figures{{"stop_s", time.Since(stopping).Seconds()}}
	b.progress.sayf("stopped; starting again")

	began := time.Now()
	note := func(name string) { fs = append(fs, figure{name, time.Since(began).Seconds()}) }
	if st.engine, err = startEngine(ctx, st.dir, b.conn); err != nil {
		return nil, err
	}
	note("server_s")
	sys, err := startSystem(ctx, st.engine, b.progress.log())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.stop()) }()
	note("store_s")
	c := calendar{collection: "default", prefix: "extra-", jobs: 1, first: time.Now().UTC()}
	if err := sys.put(ctx, c, 0, st.sink.url); err != nil {
		return nil, err
	}
	if err := await(ctx, time.Now().Add(time.Minute), func() bool { return st.sink.distinct() > 0 }); err != nil {
		return nil, err
	}
	if st.sink.distinct() != 1 {
		return nil, fmt.Errorf("%d calls for the job put after the restart", st.sink.distinct())
	}
	note("ready_s")
	b.progress.sayf("ready; audit")
	audit, err := sys.audit(ctx, b.n)
	if err != nil {
		return nil, err
	}
	now, _ := resident()
	return append(append(fs, audit...), figure{"rss_restart_mb", float64(now) / 1e6}), nil
}

// audit lets the service compare want jobs with their batons.
func (s *system) audit(ctx context.Context, want int) (figures, error) {
	began := time.Now()
	rep, err := s.service.Audit(ctx, false)
	took := figure{"audit_s", time.Since(began).Seconds()}
	if err != nil && ctx.Err() == nil { // the other figures are worth having
		s.log.Error("audit", "err", err)
		return figures{took, {"audit_failed", 1}}, nil
	}
	if rep.Waiting != want || rep.Jobs < want {
		return nil, fmt.Errorf("the audit found %d batons waiting and %d definitions, of %d jobs", rep.Waiting, rep.Jobs, want)
	}
	for _, f := range rep.Findings {
		s.log.Error("audit", "job", f.Name, "problem", f.Problem)
	}
	return figures{took, {"audit_findings", float64(len(rep.Findings))}}, err
}
