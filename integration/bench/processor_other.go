//go:build !unix

package main

import (
	"os"
	"time"
)

// processorTime is not known on this system.
func processorTime() time.Duration { return 0 }

// peakOf is the greatest resident memory of a process that has ended, which is not known on this system.
func peakOf(*os.ProcessState) uint64 { return 0 }
