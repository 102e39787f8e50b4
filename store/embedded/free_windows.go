package embedded

import "golang.org/x/sys/windows"

// space is how many bytes of a directory's file system this process may still
// use, and how many it could use on an empty one; false when that is not known.
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
