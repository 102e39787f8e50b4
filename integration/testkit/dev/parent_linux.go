package dev

import "syscall"

// withParent ends a process together with its parent.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
