//go:build !linux

package dev

import "syscall"

// withParent changes nothing: this system cannot end a process together with its parent.
func withParent() *syscall.SysProcAttr { return nil }
