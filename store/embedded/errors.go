package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// PortError reports that the server cannot listen on Addr: it is not a valid address, or another process uses it.
type PortError struct {
	Addr string
	Err  error
}

// Error returns the address and the cause.
func (e *PortError) Error() string { return fmt.Sprintf("NATS address %s: %v", e.Addr, e.Err) }

// Unwrap returns the cause.
func (e *PortError) Unwrap() error { return e.Err }

// portError omits the parts of err that repeat the address.
func portError(addr string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if ae, ok := errors.AsType[*net.AddrError](err); ok {
		err = errors.New(ae.Err)
	}
	return &PortError{addr, err}
}

// DirError reports that Dir cannot be created or written, for example because the disk is full or read-only. Err is, or
// wraps, the system error.
type DirError struct {
	Dir string
	Err error
}

// Error returns the directory and the cause.
func (e *DirError) Error() string { return fmt.Sprintf("data directory %s: %v", e.Dir, e.Err) }

// Unwrap returns the cause.
func (e *DirError) Unwrap() error { return e.Err }

// InUseError reports that another process uses Dir.
type InUseError struct {
	Dir string
	PID int // 0: unknown
}

// Error returns the directory and the process.
func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("data directory %s: another process uses it", e.Dir)
	}
	return fmt.Sprintf("data directory %s: process %d uses it", e.Dir, e.PID)
}

// StartError reports why the NATS server did not start, in the server's words.
type StartError struct{ Reason string }

// Error returns the reason.
func (e *StartError) Error() string { return "embedded NATS server: " + e.Reason }

// errnos are the file system errors that the server reports as text.
var errnos = []syscall.Errno{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EMFILE, syscall.ENFILE, syscall.EIO,
}

// startError returns a [*DirError] if reason is a file system error, else a [*StartError].
func startError(dir, reason string) error {
	for _, errno := range errnos {
		if strings.Contains(reason, errno.Error()) {
			return dirError(dir, errno)
		}
	}
	return &StartError{reason}
}

// dirError returns the error of a directory. For a full disk, it includes the free and the required space.
func dirError(dir string, err error) error {
	err = reason(err)
	if !errors.Is(err, syscall.ENOSPC) {
		return &DirError{dir, err}
	}
	if n, _, known := space(dir); known && n < MinFreeSpace {
		return &DirError{dir, fmt.Errorf("%w: %.1f MB are free, and %d MB are needed", err, float64(n)/(1<<20), MinFreeSpace>>20)}
	}
	return &DirError{dir, fmt.Errorf("%w: %d MB are needed", err, MinFreeSpace>>20)}
}

// logger forwards the server's log. It keeps the first fatal message, which explains a failed start.
type logger struct {
	log *slog.Logger

	mu    sync.Mutex
	fatal string
}

// Noticef implements the server's Logger.
func (l *logger) Noticef(format string, v ...any) {
	l.log.Debug("nats", "text", fmt.Sprintf(format, v...))
}

// harmless matches warnings after a crash: the server recovers data that it had not yet indexed, or the consumer of a
// stream's source, which the stream has meanwhile created again.
var harmless = regexp.MustCompile(`state is outdated; attempting to recover| > JS_SRC_\w+': consumer name already in use`)

// Warnf implements the server's Logger.
func (l *logger) Warnf(format string, v ...any) {
	text, log := fmt.Sprintf(format, v...), l.log.Warn
	if harmless.MatchString(text) {
		log = l.log.Debug
	}
	log("nats", "text", text)
}

// Errorf implements the server's Logger.
func (l *logger) Errorf(format string, v ...any) {
	l.log.Error("nats", "text", fmt.Sprintf(format, v...))
}

// Debugf implements the server's Logger.
func (l *logger) Debugf(string, ...any) {}

// Tracef implements the server's Logger.
func (l *logger) Tracef(string, ...any) {}

// Fatalf implements the server's Logger. It does not exit the process.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		l.fatal = fmt.Sprintf(format, v...)
	}
}

// failure returns the first fatal message, or "".
func (l *logger) failure() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}
