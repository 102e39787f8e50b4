package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// spending is what the process has used so far. Its allocations are known where it serves its profiles.
func (p *process) spending(ctx context.Context) spending {
	s := spending{cpu: p.spent()}
	if p.pprof == "" {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stats, err := p.heapStats(ctx, "")
	if err == nil {
		s.mallocs, s.bytes = stats["Mallocs"], stats["TotalAlloc"]
	}
	return s
}

// heapStats reads the process's [runtime.MemStats] from the end of its heap profile. options are those of that request.
func (p *process) heapStats(ctx context.Context, options string) (map[string]uint64, error) {
	stats := map[string]uint64{}
	err := p.fetch(ctx, "heap?debug=1"+options, func(body io.Reader) error {
		return readLines(body, func(line string) error {
			if name, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), " = "); ok {
				if n, err := strconv.ParseUint(value, 10, 64); err == nil {
					stats[name] = n
				}
			}
			return nil
		})
	})
	return stats, err
}

// fetch reads one of the process's profiles.
func (p *process) fetch(ctx context.Context, name string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.pprof+name, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("profile %s of %s: %s", name, p.name, resp.Status)
	}
	return read(resp.Body)
}

// The rest after a herd: what is left to do when all is drained, such as what is written when there is leisure.
const (
	restTick  = 500 * time.Millisecond
	restIdle  = restTick / 20 // processor time of a tick in which next to nothing is done
	restTicks = 4             // of these in a row: the scheduler waits for leisure before it writes what nobody waits for
	restMost  = 30 * time.Second
)

// rest waits until NATS server and scheduler have next to nothing left to do, and returns the processor time that it took.
func (s *stage) rest(ctx context.Context) (time.Duration, error) {
	began := s.readCPU()
	before, idle := began, 0
	for until := time.Now().Add(restMost); time.Now().Before(until); {
		if err := sleep(ctx, time.Now().Add(restTick)); err != nil {
			return 0, err
		}
		now := s.readCPU()
		idle++
		if now-before >= restIdle {
			idle = 0
		}
		if idle == restTicks {
			return now - began, nil
		}
		before = now
	}
	return before - began, nil
}

// readCPU is the processor time of what is measured.
func (s *stage) readCPU() time.Duration {
	if !s.apart() {
		return processorTime()
	}
	var sum time.Duration
	for _, r := range s.measured() {
		for _, p := range r.processes {
			sum += p.spent()
		}
	}
	return sum
}
