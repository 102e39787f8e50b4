package natsapi

import (
	"sync"
	"time"
)

// ownedRange is the latest run of consecutive sequences that were all delivered to this process first. If no earlier spec
// is left in the stream, neither the server nor another process has an earlier spec of any name. The specs of the
// ownedRange are then in order, and the stream need not be queried. The zero value is empty.
type ownedRange struct {
	mu       sync.Mutex
	from, to uint64    // sequences
	earliest bool      // no earlier spec is left
	looked   time.Time // last query of the stream
}

// lookPause is the pause between queries for the first spec of the stream. In the meantime, the stream is queried for
// each name.
const lookPause = 100 * time.Millisecond

// came adds a delivered spec, in the order of delivery. It ignores redeliveries.
func (s *ownedRange) came(sequence uint64, deliveries int) {
	if deliveries > 1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sequence != s.to+1 { // another process may have the missing specs
		s.from, s.earliest = sequence, false
	}
	s.to = sequence
}

// gaveBack resets the ownedRange after the release of a spec, which may now go to another process.
func (s *ownedRange) gaveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from, s.earliest = s.to+1, false
}

// has reports whether a spec belongs to an ownedRange without predecessors. ask: query the stream, call learn and try
// again.
func (s *ownedRange) has(sequence uint64, now time.Time) (known, ask bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case sequence < s.from || sequence > s.to:
		return false, false
	case s.earliest:
		return true, false
	case now.Sub(s.looked) < lookPause:
		return false, false
	}
	s.looked = now
	return false, true
}

// learn processes the sequence of the first spec of the stream.
func (s *ownedRange) learn(first uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.earliest = s.earliest || first >= s.from
}
