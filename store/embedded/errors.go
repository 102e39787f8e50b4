package embedded

import (
	"errors"
	"fmt"
	"net"
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
// written to.
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
