//go:build !windows

package emulate

import "syscall"

// passing are the errors of an emulator that go away when someone frees space, or files.
var passing = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE, syscall.ENFILE}
