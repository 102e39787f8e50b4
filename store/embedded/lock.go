package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lockName is the lock file in Dir. It contains the process id, for the error message of another process.
const lockName = "lock"

// errLocked is returned by tryLock if another process holds the lock.
var errLocked = errors.New("locked by another process")

// lockDir creates the directory if necessary and locks it until the returned file is closed.
func lockDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, dirError(dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, dirError(dir, err)
	}
	if err := claim(f, dir); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func claim(f *os.File, dir string) error {
	err := tryLock(f)
	if errors.Is(err, errLocked) {
		return &InUseError{dir, readPID(f)}
	}
	if err != nil {
		return &DirError{dir, err}
	}
	if err := errors.Join(f.Truncate(0), writePID(f), checkWritable(dir)); err != nil {
		return dirError(dir, err)
	}
	return nil
}

func writePID(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readPID(f *os.File) int {
	b := make([]byte, 16)
	n, _ := f.ReadAt(b, 0)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	return pid
}

// checkWritable makes sure that the process can create files: the lock file may predate a change of the directory's
// mode.
func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// reason removes the operation and the path from a file error, because the message already has the directory.
func reason(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
