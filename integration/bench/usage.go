package main

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// usage is what was used in a span of time, and what was kept from it: by this process, or by NATS server and scheduler
// where they are processes of their own.
type usage struct {
	spending

	wall   time.Duration
	others time.Duration // processor time of everything else on the machine
	stall  time.Duration // the longest time that no part of this process may have run
	each   []share       // of the processes; none in one process
}

// spending is what a program has used.
type spending struct {
	cpu     time.Duration
	mallocs uint64
	bytes   uint64
}

func (s spending) plus(o spending) spending {
	return spending{s.cpu + o.cpu, s.mallocs + o.mallocs, s.bytes + o.bytes}
}

func (s spending) minus(o spending) spending {
	return spending{s.cpu - o.cpu, s.mallocs - o.mallocs, s.bytes - o.bytes}
}

// share is the spending of the processes of a name.
type share struct {
	spending

	name string
}

// meter measures a usage.
type meter struct {
	stage *stage
	began time.Time
	at    usage
	stall time.Duration
	end   func() // of watching for stalls
}

func (s *stage) startMeter(ctx context.Context) *meter {
	m := &meter{stage: s}
	last := time.Now()
	m.end = every(stallTick, func() { // notes by how much an interval is exceeded
		now := time.Now()
		m.stall = max(m.stall, now.Sub(last)-stallTick)
		last = now
	})
	m.at, m.began = s.readUsage(ctx), time.Now()
	return m
}

// readUsage reads what has been used so far.
func (s *stage) readUsage(ctx context.Context) usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	own := spending{processorTime(), m.Mallocs, m.TotalAlloc}
	u := usage{spending: own, others: machineTime() - own.cpu}
	if !s.apart() {
		return u
	}
	u.spending = spending{}
	for _, name := range []string{processServer, processWorker, processSink} {
		sh := share{name: name}
		for _, p := range s.role(name).processes {
			sh.spending = sh.plus(p.spending(ctx))
		}
		u.others -= sh.cpu
		if name != processSink {
			u.spending = u.plus(sh.spending)
		}
		u.each = append(u.each, sh)
	}
	u.each = append(u.each, share{own, processLoad})
	return u
}

// stallTick is how long the watch sleeps at a time.
const stallTick = 5 * time.Millisecond

// stop returns the usage since the start.
func (m *meter) stop(ctx context.Context) usage {
	u := m.stage.readUsage(ctx)
	u.wall = time.Since(m.began)
	m.end()
	u.spending = u.minus(m.at.spending)
	u.others = max(0, u.others-m.at.others)
	for i := range u.each {
		u.each[i].spending = u.each[i].minus(m.at.each[i].spending)
	}
	u.stall = m.stall
	return u
}

// per returns the usage for each of n, named by suffix: job or run.
func (u usage) per(n int, suffix string) figures {
	d := float64(max(1, n))
	fs := figures{{"cpu_us_per_" + suffix, micros(u.cpu) / d}}
	for _, s := range u.each {
		fs = append(fs, figure{s.name + "_cpu_us_per_" + suffix, micros(s.cpu) / d})
	}
	fs = append(fs, figure{"allocs_per_" + suffix, float64(u.mallocs) / d}, figure{"alloc_kb_per_" + suffix, float64(u.bytes) / 1e3 / d})
	for _, s := range u.each {
		if slices.Contains([]string{processServer, processWorker}, s.name) {
			fs = append(fs, figure{s.name + "_allocs_per_" + suffix, float64(s.mallocs) / d})
		}
	}
	return append(fs,
		figure{"other_cores", u.others.Seconds() / max(u.wall.Seconds(), 1e-3)},
		figure{"stall_max_ms", ms(u.stall)})
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
