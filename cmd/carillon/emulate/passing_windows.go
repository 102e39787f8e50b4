package emulate

import "golang.org/x/sys/windows"

// passing are the errors of an emulator that go away when someone frees space, or files.
var passing = []error{
	windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_WRITE_PROTECT, windows.ERROR_TOO_MANY_OPEN_FILES,
}
