package pool

import (
	"context"
	"errors"
	"time"
)

// Conn is a connection that a pool keeps.
type Conn interface {
	// Open opens it, once. ctx ends when the pool is closed. Users under way
	// must then end by themselves, so that the pool can close the connection;
	// that is also for Open to see to.
	Open(ctx context.Context) error

	// Usable reports whether somebody more may use it, false when it has
	// broken. It is asked when it is open, and must not wait.
	Usable() bool

	// Close closes it, once, when nobody uses it any more. It is called for one
	// that could not be opened, too.
	Close()
}

// Config is how a pool keeps its connections.
type Config struct {
	// Max is how many connections are kept at once. It must be positive.
	Max int

	// IdleTimeout is how long one is kept that nobody uses. It must be
	// positive.
	IdleTimeout time.Duration

	// RenewAfter is the age at which a connection that is in use, or was not
	// long ago, gets a successor. Default: it gets none.
	RenewAfter time.Duration

	// MaxAge is the age above which a connection is given to nobody. Default:
	// none.
	MaxAge time.Duration

	// Final reports whether an error of opening a successor is one that its
	// predecessor must not outlive, such as that it may not be opened any more.
	// Attempts then find out why. Default: none is.
	Final func(error) bool
}

// ErrClosed is the error of those who ask a pool that is closed.
var ErrClosed = errors.New("the scheduler is stopping")

// WaitError is the error of those whose context ended while they waited for a
// connection.
type WaitError struct {
	Full  bool  // they waited for room; false: for the connection to be opened
	Cause error // of the context's end
}

// Error implements error.
func (e *WaitError) Error() string {
	if e.Full {
		return "while all connections were in use: " + e.Cause.Error()
	}
	return "while connecting: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *WaitError) Unwrap() error { return e.Cause }
