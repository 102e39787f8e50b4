package embedded

import "golang.org/x/sys/windows"

// free is how many bytes of a directory's file system this process may still
// use; false when that is not known.
func free(dir string) (uint64, bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var n uint64
	if windows.GetDiskFreeSpaceEx(path, &n, nil, nil) != nil {
		return 0, false
	}
	return n, true
}
