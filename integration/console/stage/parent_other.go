//go:build !linux

package stage

import "syscall"

// withParent has a process be as all are, where it cannot be made to end with the one that starts it.
func withParent() *syscall.SysProcAttr { return nil }
