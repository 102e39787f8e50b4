package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
)

// maxFile is more than any settings take.
const maxFile = 1 << 20

// load returns what is in a file. It is read more than once, which a pipe cannot be, and waits for nobody.
func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		err = errors.New("is a folder")
	case !info.Mode().IsRegular():
		err = errors.New("is a pipe or a device; settings are read again and again, from a file")
	case info.Size() > maxFile:
		err = fmt.Errorf("has %d bytes; settings have at most %d", info.Size(), maxFile)
	default:
		return os.ReadFile(path)
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: err}
}

// othersRead is the permission of every user of the machine to read a file.
const othersRead fs.FileMode = 0o004

// Exposed returns the names of the settings that hold a password and are from the file, if every user of the machine may read
// that; see [Set.Rows] for what is taken for a password.
func (s Set) Exposed() (names []string) {
	for _, one := range s {
		if one.Origin.Line == 0 || !one.secret() {
			continue
		}
		if info, err := os.Stat(one.Origin.File); err == nil && info.Mode()&othersRead != 0 && runtime.GOOS != "windows" {
			names = append(names, one.Name)
		}
	}
	return names
}

// Exposure tells people that a password is in a file that others may read.
const Exposure = "every user of this machine can read a password in the file of settings"

// secret reports whether a value has a part that is not shown.
func (s Setting) secret() bool {
	hides := func(text string) bool { return masked(s.flag, text) != text }
	switch v := s.value().(type) {
	case string:
		return hides(v)
	case []string:
		return slices.ContainsFunc(v, hides)
	case map[string]string:
		for _, text := range v {
			if hides(text) {
				return true
			}
		}
	}
	return false
}
