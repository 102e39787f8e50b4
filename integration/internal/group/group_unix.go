//go:build unix

// Package group ends commands with all that they have started, as a script does that starts a program.
package group

import (
	"os/exec"
	"syscall"
)

// Of has a command, which has not been started yet, run in a process group of its own, all of which is killed when the
// command's context ends. Where there are no process groups, it does nothing: what a command has started goes on.
func Of(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
