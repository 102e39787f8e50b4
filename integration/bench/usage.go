package main

import (
	"runtime"
	"time"
)

// usage is what the process has used so far.
type usage struct {
	at      time.Time
	cpu     time.Duration
	mallocs uint64
	bytes   uint64
}

func readUsage() usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{time.Now(), processorTime(), m.Mallocs, m.TotalAlloc}
}

// since returns what was used after u.
func (u usage) since() usage {
	now := readUsage()
	now.cpu -= u.cpu
	now.mallocs -= u.mallocs
	now.bytes -= u.bytes
	return now
}

// per returns the usage for each of n, named by suffix: job or run.
func (u usage) per(n int, suffix string) figures {
	d := float64(max(1, n))
	return figures{
		{"cpu_us_per_" + suffix, float64(u.cpu) / 1e3 / d},
		{"allocs_per_" + suffix, float64(u.mallocs) / d},
		{"alloc_kb_per_" + suffix, float64(u.bytes) / 1e3 / d},
	}
}
