package main

import (
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryShare is the part of a container's memory that Go stays below, by collecting garbage sooner. The rest is for what Go
// does not know of.
const memoryShare = 0.9

// limitMemory has Go honour the memory limit of the control group that this process is in, unless GOMEMLIMIT says something.
// Where there is no limit, or none that can be found out, nothing changes.
func limitMemory(lookup func(string) (string, bool), limit memlimit.Provider) {
	if _, set := lookup("GOMEMLIMIT"); set {
		return // Go has read it
	}
	if most, err := memlimit.ApplyRatio(limit, memoryShare)(); err == nil {
		debug.SetMemoryLimit(int64(min(most, math.MaxInt64)))
	}
}
