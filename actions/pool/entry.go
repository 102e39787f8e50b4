package pool

import "time"

// entry is a connection of a pool, opening or open.
type entry[K comparable, C Conn] struct {
	key   K
	conn  C
	dial  func() (C, error) // for a successor; nil unless there are successors
	made  time.Time
	ready chan struct{} // closed when it is open, or could not be opened
	err   error         // why it is not open

	// Guarded by the mutex of the pool.
	users   int // opening it is one, too
	open    bool
	used    time.Time    // when the last user ended
	next    *entry[K, C] // its successor, while that is opening
	before  *entry[K, C] // whose successor it is, while it is opening
	dropped bool
}

// broken reports whether a connection that was open can be used no more.
func (e *entry[K, C]) broken() bool { return e.open && !e.conn.Usable() }
