package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The instants of jobs that only wait.
const (
	holdFirst = 30 * 24 * time.Hour
	holdLast  = 300 * 24 * time.Hour
)

// distant is a calendar of jobs that only wait.
func (s *stage) distant(prefix string) calendar {
	return calendar{
		prefix: prefix, jobs: s.n, first: time.Now().UTC().Add(holdFirst).Truncate(time.Millisecond),
		step: (holdLast - holdFirst) / time.Duration(s.n),
	}
}

// fill creates the jobs that wait.
func (s *stage) fill(ctx context.Context) (figures, error) {
	took, err := s.putAll(ctx, s.distant("job-"))
	if err != nil {
		return nil, err
	}
	return rate("register", s.n, took), s.checkBatons(ctx)
}

// checkBatons fails unless a baton waits for each job.
func (s *stage) checkBatons(ctx context.Context) error {
	_, batons, err := s.awaitMessages(ctx, streamTimers, time.Now().Add(patience), func(n int) bool { return n == s.n })
	if err == nil && batons != s.n {
		err = fmt.Errorf("%d batons wait for %d jobs", batons, s.n)
	}
	return err
}

// quietTime is how long carillon serve is idle before a garbage collection returns free memory to the system.
var quietTime = 61 * time.Second

// hold is the scenario of the memory and the disk that waiting jobs need.
func hold(ctx context.Context, s *stage) (figures, error) {
	if _, err := s.startWorker(ctx); err != nil {
		return nil, err
	}
	fs, err := s.fill(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := s.rest(ctx); err != nil {
		return nil, err
	}
	idle, heap := s.memory("VmRSS", "rss_idle_mb"), figures{}
	if err := sleep(ctx, time.Now().Add(quietTime)); err != nil {
		return nil, err
	}
	for _, p := range append(s.role(roleServer), s.role(roleWorker)...) {
		stats, err := p.heapStats(ctx, "&gc=1")
		if err != nil {
			return nil, err
		}
		heap["heap_bytes_per_job"] += stats["HeapAlloc"] / float64(s.n)
		heap[p.role+"_heap_bytes_per_job"] = stats["HeapAlloc"] / float64(s.n)
	}
	if err := sleep(ctx, time.Now().Add(5*time.Second)); err != nil { // Go returns free memory to the system
		return nil, err
	}
	resident := s.memory("VmRSS", "rss_gc_mb")
	resident["rss_gc_bytes_per_job"] = resident["rss_gc_mb"] * 1e6 / float64(s.n)
	if calls, err := s.target.read(); err != nil || calls > 0 {
		return nil, errors.Join(err, fmt.Errorf("%d jobs ran a month early", calls))
	}
	disk, err := s.disk(ctx)
	return merge(fs, idle, heap, resident, disk), err
}

// restart is the scenario of a start with many jobs, after a graceful stop and after kill -9.
func restart(ctx context.Context, s *stage) (figures, error) {
	worker, err := s.startWorker(ctx)
	if err != nil {
		return nil, err
	}
	fs, err := s.fill(ctx)
	if err != nil {
		return nil, err
	}
	if err := worker.stop(); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := s.server.stop(); err != nil {
		return nil, err
	}
	fs["stop_s"] = time.Since(began).Seconds()
	s.leave(worker, s.server)
	worker, started, err := s.startAgain(ctx, 1)
	if err != nil {
		return nil, err
	}
	if _, err := s.rest(ctx); err != nil { // the consistency check of the start
		return nil, err
	}
	fs = merge(fs, started, s.memory("VmRSS", "rss_restart_mb"))
	worker.kill()
	s.server.kill()
	s.leave(worker, s.server)
	_, started, err = s.startAgain(ctx, 2)
	return merge(fs, started.prefixed("killed_")), err
}

// startAgain starts both processes on the same data and waits until a new job has called the target. It is start number nth.
func (s *stage) startAgain(ctx context.Context, nth int) (worker *process, fs figures, err error) {
	fs = figures{}
	began := time.Now()
	s.nc.Close()
	if err := s.startServer(ctx, strings.TrimPrefix(s.url, "nats://"), 0); err != nil {
		return nil, nil, err
	}
	if err := s.awaitJetStream(ctx); err != nil {
		return nil, nil, err
	}
	fs["server_s"] = time.Since(began).Seconds()
	if worker, err = s.startWorker(ctx); err != nil {
		return nil, nil, err
	}
	fs["api_s"] = time.Since(began).Seconds()
	job := calendar{prefix: fmt.Sprintf("extra-%d-", nth), jobs: 1, first: time.Now().UTC()}
	if err := s.put(ctx, job, 0); err != nil {
		return nil, nil, err
	}
	calls, err := s.arrive(ctx, nth, time.Now().Add(patience))
	if err != nil || calls != nth {
		return nil, nil, errors.Join(err, fmt.Errorf("%d calls after %d starts with one new job each", calls, nth))
	}
	fs["ready_s"] = time.Since(began).Seconds()
	return worker, fs, s.checkBatons(ctx)
}
