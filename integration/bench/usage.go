package main

import (
	"runtime"
	"time"
)

// usage is what the process used in a span of time, and what was kept from it.
type usage struct {
	wall    time.Duration
	cpu     time.Duration
	others  time.Duration // processor time of everything else on the machine
	stall   time.Duration // the longest time that no part of the process may have run
	mallocs uint64
	bytes   uint64
}

// meter measures a usage.
type meter struct {
	began time.Time
	at    usage
	stall time.Duration
	end   func() // of watching for stalls
}

func startMeter() *meter {
	m := &meter{}
	last := time.Now()
	m.end = every(stallTick, func() { // notes by how much an interval is exceeded
		now := time.Now()
		m.stall = max(m.stall, now.Sub(last)-stallTick)
		last = now
	})
	m.at, m.began = readUsage(), time.Now()
	return m
}

// readUsage reads what the process, and the machine, has used so far.
func readUsage() usage {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	cpu := processorTime()
	return usage{cpu: cpu, others: machineTime() - cpu, mallocs: s.Mallocs, bytes: s.TotalAlloc}
}

// stallTick is how long the watch sleeps at a time.
const stallTick = 5 * time.Millisecond

// stop returns the usage since the start.
func (m *meter) stop() usage {
	u := readUsage()
	u.wall = time.Since(m.began)
	m.end()
	u.cpu -= m.at.cpu
	u.others = max(0, u.others-m.at.others)
	u.mallocs -= m.at.mallocs
	u.bytes -= m.at.bytes
	u.stall = m.stall
	return u
}

// per returns the usage for each of n, named by suffix: job or run.
func (u usage) per(n int, suffix string) figures {
	d := float64(max(1, n))
	return figures{
		{"cpu_us_per_" + suffix, float64(u.cpu) / 1e3 / d},
		{"allocs_per_" + suffix, float64(u.mallocs) / d},
		{"alloc_kb_per_" + suffix, float64(u.bytes) / 1e3 / d},
		{"other_cores", u.others.Seconds() / max(u.wall.Seconds(), 1e-3)},
		{"stall_max_ms", ms(u.stall)},
	}
}
