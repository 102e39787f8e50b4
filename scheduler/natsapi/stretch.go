package natsapi

import (
	"sync"
	"time"
)

// stretch is the last specs, with none between them, that all came to this process first. While no spec is left that was
// published before them, no other process, and no server, has an earlier one of any name: what this process has is in order,
// and the stream need not be asked. The zero value is an empty one.
type stretch struct {
	mu       sync.Mutex
	from, to uint64    // sequences
	earliest bool      // none is left that was published before
	looked   time.Time // when the stream was asked for that
}

// lookPause is how long to wait before the stream is asked again for its first spec. Meanwhile it is asked for each name.
const lookPause = 100 * time.Millisecond

// came notes a spec that was delivered, in the order of delivery. One that was delivered before is not of it.
func (s *stretch) came(sequence uint64, deliveries int) {
	if deliveries > 1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sequence != s.to+1 { // another process may have what is missing
		s.from, s.earliest = sequence, false
	}
	s.to = sequence
}

// gaveBack notes that one of them may go to another process now.
func (s *stretch) gaveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from, s.earliest = s.to+1, false
}

// has reports whether a spec is of a stretch that nothing precedes; ask, that it may be, and is after asking the stream.
func (s *stretch) has(sequence uint64, now time.Time) (known, ask bool) {
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

// learn takes in the sequence of the first spec that is not done with.
func (s *stretch) learn(first uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.earliest = s.earliest || first >= s.from
}
