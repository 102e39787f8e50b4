package stage

import "syscall"

// withParent has a process end with the one that starts it.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
