package servicebus

import (
	"errors"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// ErrDataInUse is wrapped by the error of [Start] when another process uses the folder of the data.
var ErrDataInUse = wal.ErrLocked

// A ListenError says that Start cannot listen on an address.
type ListenError struct {
	Port string // "AMQP" for Config.Addr, or "HTTP" for Config.HTTPAddr
	Addr string
	Err  error
}

// Error names the port, the address and the reason.
func (e *ListenError) Error() string { return e.Port + " address " + e.Addr + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ListenError) Unwrap() error { return e.Err }

// An EntityError says that an entity of the config cannot be made.
type EntityError struct {
	Entity string // such as: topic "events": subscription "all"
	Err    error
}

// Error names the entity and the reason, without its condition.
func (e *EntityError) Error() string {
	if refused, ok := errors.AsType[*amqp.Error](e.Err); ok && refused.Description != "" {
		return e.Entity + ": " + refused.Description
	}
	return e.Entity + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *EntityError) Unwrap() error { return e.Err }
