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
	fs, err := st.withSystem(ctx, func(sys *system) (figures, error) { return st.fill(ctx, sys) })
	if err != nil || !b.restart {
		return []part{{orderCarillon, fs}}, err
	}
	again, err := st.reopen(ctx)
	return []part{{orderCarillon, append(fs, again...)}}, err
}

// distant is when the held jobs are due.
func (b *bench) distant() calendar {
	return calendar{
		collection: "default", prefix: "job-", jobs: b.n, grain: time.Millisecond,
		first: time.Now().UTC().Add(holdFirst).Truncate(time.Millisecond), step: (holdLast - holdFirst) / time.Duration(b.n),
	}
}

// fill puts the jobs and reads the memory.
func (s *stage) fill(ctx context.Context, sys *system) (figures, error) {
	end, err := s.profile(ctx, orderCarillon, profileHerd+time.Duration(s.n)*profilePerJob)
	if err != nil {
		return nil, err
	}
	took, err := sys.putAll(ctx, s.progress, s.distant(), s.sink.url)
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	if n, err := sys.messages(ctx, timersStream); err != nil || n != s.n {
		return nil, errors.Join(err, fmt.Errorf("%d batons wait for %d jobs", n, s.n))
	}
	s.progress.sayf("put; idle for %s", s.idle)
	if err := sleep(ctx, time.Now().Add(s.idle)); err != nil {
		return nil, err
	}
	fs := figures{
		{"register_s", took.Seconds()},
		{"register_per_s", float64(s.n) / took.Seconds()},
	}
	held, err := s.held(ctx)
	if err != nil {
		return nil, err
	}
	fs = append(fs, held...)
	if calls := s.sink.distinct(); calls > 0 {
		return nil, fmt.Errorf("%d jobs ran, a month early", calls)
	}
	size, err := diskUse(s.data())
	if err != nil {
		return nil, err
	}
	each, err := sys.sizes(ctx)
	fs = append(fs, figure{"disk_mb", float64(size) / 1e6}, figure{"disk_bytes_per_job", float64(size) / float64(s.n)})
	return append(fs, each...), err
}

// held reads what memory the jobs need, as it is and after a collection.
func (s *stage) held(ctx context.Context) (figures, error) {
	if s.apart() {
		return s.heldApart(ctx)
	}
	n := float64(s.n)
	idle, peak := resident(self)
	debug.FreeOSMemory()
	collected, _ := resident(self)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return figures{
		{"rss_peak_mb", float64(peak) / 1e6},
		{"rss_idle_mb", float64(idle) / 1e6},
		{"rss_idle_bytes_per_job", float64(idle) / n},
		{"rss_gc_mb", float64(collected) / 1e6},
		{"rss_gc_bytes_per_job", float64(collected) / n},
		{"heap_bytes_per_job", float64(m.HeapAlloc) / n},
	}, nil
}

// heldApart reads what memory the jobs need in NATS server and scheduler, and what of it is live.
func (s *stage) heldApart(ctx context.Context) (figures, error) {
	n := float64(s.n)
	fs := s.residentNow("rss_idle_mb")
	idle, _ := fs.find("rss_idle_mb")
	fs = append(fs, figure{"rss_idle_bytes_per_job", idle * 1e6 / n})
	sum := 0.0
	for _, r := range s.measured() {
		live := 0.0
		for _, p := range r.processes {
			stats, err := p.heapStats(ctx, "&gc=1")
			if err != nil {
				return nil, err
			}
			live += float64(stats["HeapAlloc"])
		}
		sum += live
		fs = append(fs, figure{r.name + "_heap_bytes_per_job", live / n})
	}
	fs = append(fs, figure{"heap_bytes_per_job", sum / n})
	if err := sleep(ctx, time.Now().Add(giveBack)); err != nil {
		return nil, err
	}
	fs = append(fs, s.residentNow("rss_gc_mb")...)
	collected, _ := fs.find("rss_gc_mb")
	return append(fs, figure{"rss_gc_bytes_per_job", collected * 1e6 / n}), nil
}

// giveBack is how long other processes have after a collection to give free memory back to the system, which Go does in the
// background.
const giveBack = 5 * time.Second
