package embedded

import "golang.org/x/sys/windows"

// space returns the bytes that this process can still use on the directory's file system, and on an empty one. known is
// false if the system does not report them.
func space(dir string) (free, total uint64, known bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, false
	}
	if windows.GetDiskFreeSpaceEx(path, &free, &total, nil) != nil {
		return 0, 0, false
	}
	return free, total, true
}
