//go:build unix

package hostile

import (
	"os/exec"
	"syscall"
)

// inGroup has a command run in a process group of its own, all of which ends with the command's context.
func inGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
