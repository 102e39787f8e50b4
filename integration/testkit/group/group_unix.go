//go:build unix

// Package group ends commands with all that they have started, as a script does that starts a program.
package group

import (
	"os/exec"
	"syscall"
)

// Of runs a command that has not started in a dedicated process group, and kills the whole group when the
// command's context ends. On systems without process groups it does nothing: child processes survive.
func Of(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
