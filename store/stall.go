package store

import (
	"sync/atomic"
	"time"
)

// stall tells when this process has stood still, as one that is suspended does. What
// comes just then has lain in the connection meanwhile, and others may have been
// given it since.
type stall struct {
	beats atomic.Int64 // the last beat, in Unix nanoseconds; 0: none yet
	over  atomic.Int64 // until when what comes may be old
}

// A process that is only busy misses a beat by less than stallLeast; what lay in
// the connection is read within stallTail.
const (
	stallBeat  = time.Second
	stallLeast = 3 * time.Second
	stallTail  = 2 * time.Second
)

// beat is called every stallBeat, and before anything that comes is looked at.
func (s *stall) beat(now time.Time) {
	if last := s.beats.Swap(now.UnixNano()); last != 0 && now.UnixNano()-last > int64(stallLeast) {
		s.over.Store(now.Add(stallTail).UnixNano())
	}
}

// old reports whether what comes now may have lain in the connection for long.
func (s *stall) old(now time.Time) bool {
	s.beat(now)
	return now.UnixNano() < s.over.Load()
}
