// Command carillon is a job scheduler on NATS JetStream: see carillon --help.
package main

import (
	"math"
	"os"
	"runtime/debug"
	_ "time/tzdata" // time zones are those of this program, whatever the host has

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/store/embedded"
)

func main() {
	t := terminal.System()
	t.Version = thisBuild().Version
	limitMemory(t.Lookup, memlimit.FromCgroup)
	os.Exit(run(os.Args[1:], t))
}

// memoryShare is the part of a container's memory that Go stays below, by collecting garbage sooner. The rest is for what Go
// does not know of.
const memoryShare = 0.9

// besideHold is what a process needs beside its jobs, and garbage.
const besideHold = 64 << 20

// tuneMemory has the garbage collector keep a process near what it needs for a
// hold of so many bytes, unless GOGC or GOMEMLIMIT says something.
func tuneMemory(lookup func(string) (string, bool), hold byteSize) {
	_, percent := lookup("GOGC")
	_, limit := lookup("GOMEMLIMIT")
	if !percent && !limit {
		embedded.KeepWithin(uint64(hold + hold/4 + besideHold))
	}
}

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
