package storagequeue

import (
	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
)

// ErrDataInUse is wrapped by the error of [Start] and [Open] when another process uses the folder of the data.
var ErrDataInUse = wal.ErrLocked

// A ListenError says that Start cannot listen on an address.
type ListenError struct {
	Addr string
	Err  error
}

// Error names the address and the reason.
func (e *ListenError) Error() string { return "storage queue address " + e.Addr + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *ListenError) Unwrap() error { return e.Err }
