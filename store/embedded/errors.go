package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
)

// PortError says that Addr cannot be listened on: it is not an address, or
// another process has it.
type PortError struct {
	Addr string
	Err  error
}

// Error names the address and the reason.
func (e *PortError) Error() string { return fmt.Sprintf("NATS address %s: %v", e.Addr, e.Err) }

// Unwrap returns the reason.
func (e *PortError) Unwrap() error { return e.Err }

// portError leaves out what the message says already.
func portError(addr string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if ae, ok := errors.AsType[*net.AddrError](err); ok {
		err = errors.New(ae.Err)
	}
	return &PortError{addr, err}
}

// DirError says that Dir cannot be used: it cannot be created, or not be
// written to, as when the disk is full or read-only. Err is, or wraps, the
// system's error.
type DirError struct {
	Dir string
	Err error
}

// Error names the directory and the reason.
func (e *DirError) Error() string { return fmt.Sprintf("data directory %s: %v", e.Dir, e.Err) }

// Unwrap returns the reason.
func (e *DirError) Unwrap() error { return e.Err }

// InUseError says that another process uses Dir.
type InUseError struct {
	Dir string
	PID int // 0: not known
}

// Error names the directory and the process.
func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("data directory %s: another process uses it", e.Dir)
	}
	return fmt.Sprintf("data directory %s: process %d uses it", e.Dir, e.PID)
}

// StartError says why the NATS server did not come up, in its own words.
type StartError struct{ Reason string }

// Error returns the reason.
func (e *StartError) Error() string { return "embedded NATS server: " + e.Reason }

// errnos are the errors of a file system that the server tells in its own words.
var errnos = []syscall.Errno{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EMFILE, syscall.ENFILE, syscall.EIO,
}

// startError is a [*DirError] when the server's reason is that of its directory.
func startError(dir, reason string) error {
	for _, errno := range errnos {
		if strings.Contains(reason, errno.Error()) {
			return dirError(dir, errno)
		}
	}
	return &StartError{reason}
}

// dirError says what is wrong with a directory and, when it is full, how much
// is missing.
func dirError(dir string, err error) error {
	err = reason(err)
	if !errors.Is(err, syscall.ENOSPC) {
		return &DirError{dir, err}
	}
	if n, _, known := space(dir); known && n < Room {
		return &DirError{dir, fmt.Errorf("%w: %.1f MB are free, and %d MB are needed", err, float64(n)/(1<<20), Room>>20)}
	}
	return &DirError{dir, fmt.Errorf("%w: %d MB are needed", err, Room>>20)}
}

// logger passes the server's log on. It keeps the first fatal message: that is
// how the server tells why it does not start.
type logger struct {
	log *slog.Logger

	mu    sync.Mutex
	fatal string
}

// Noticef implements the server's Logger.
func (l *logger) Noticef(format string, v ...any) {
	l.log.Debug("nats", "text", fmt.Sprintf(format, v...))
}

// recovers ends what the server tells after it was killed: it reads again what it had not written down. Nothing is wrong then.
const recovers = "state is outdated; attempting to recover"

// Warnf implements the server's Logger.
func (l *logger) Warnf(format string, v ...any) {
	if strings.Contains(format, recovers) {
		l.Noticef(format, v...)
		return
	}
	l.log.Warn("nats", "text", fmt.Sprintf(format, v...))
}

// Errorf implements the server's Logger.
func (l *logger) Errorf(format string, v ...any) {
	l.log.Error("nats", "text", fmt.Sprintf(format, v...))
}

// Debugf implements the server's Logger.
func (l *logger) Debugf(string, ...any) {}

// Tracef implements the server's Logger.
func (l *logger) Tracef(string, ...any) {}

// Fatalf implements the server's Logger. It does not end the process.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		l.fatal = fmt.Sprintf(format, v...)
	}
}

// failure returns the first fatal message, "" when there was none.
func (l *logger) failure() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}
