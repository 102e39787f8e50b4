package main

import (
	"fmt"
	"syscall"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// What this process needs of the files that it may have open.
const (
	leastFiles      = 128 // for each server its least connections, and the streams
	filesPerAttempt = 2   // half is for attempts, with one connection each
)

// enoughFiles makes sure that a scheduler can work with so many open files: with fewer, it would fail here and there.
func enoughFiles(files int) error {
	if files >= leastFiles {
		return nil
	}
	return terminal.Unavailable(fmt.Errorf("%w: this process may have %d, and needs %d", syscall.EMFILE, files, leastFiles))
}
