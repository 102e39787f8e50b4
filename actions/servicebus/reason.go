package servicebus

import (
	"errors"

	"github.com/carillon-sched/carillon/actions/netreason"
)

// reason says in a few words why there was no answer.
func reason(err error) string {
	if lost, ok := errors.AsType[*lostError](err); ok {
		return lost.prefix() + netreason.Reason(lost.cause)
	}
	return netreason.Reason(err)
}

// lostError is an error of the network connection, which the SDK hides.
type lostError struct {
	sent  bool // a message may have got through
	cause error
}

// Error implements error.
func (e *lostError) Error() string { return e.prefix() + e.cause.Error() }

// Unwrap returns the cause.
func (e *lostError) Unwrap() error { return e.cause }

func (e *lostError) prefix() string {
	if e.sent {
		return "no acknowledgement, the message may have arrived: "
	}
	return ""
}
