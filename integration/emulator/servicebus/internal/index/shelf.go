package index

import (
	"math/bits"
	"sort"
)

const chunkSize = 64

// A Numbered thing has a number, above 0, that does not change.
type Numbered interface {
	comparable
	Number() int64
}

// A Shelf contains messages by number. Nearby numbers share memory; gaps between them are cheap. The zero value is
// empty.
type Shelf[T Numbered] struct {
	chunks []*chunk[T] // by base
	spare  *chunk[T]
	count  int
}

// A chunk has the messages of sequence numbers from base on.
type chunk[T Numbered] struct {
	base  int64
	used  uint64 // bit i: slots[i] is occupied
	slots [chunkSize]T
}

// Len returns the number of messages.
func (s *Shelf[T]) Len() int { return s.count }

// locate returns the index of the chunk for a number, or of the one before which it would be.
func (s *Shelf[T]) locate(base int64) int {
	n := len(s.chunks)
	if n == 0 || s.chunks[n-1].base < base {
		return n
	}
	if s.chunks[n-1].base == base {
		return n - 1
	}
	return sort.Search(n, func(i int) bool { return s.chunks[i].base >= base })
}

// Put adds a message, whose number must not be there yet.
func (s *Shelf[T]) Put(m T) {
	base := m.Number() &^ (chunkSize - 1)
	i := s.locate(base)
	if i == len(s.chunks) || s.chunks[i].base != base {
		fresh := s.spare
		if s.spare = nil; fresh == nil {
			fresh = &chunk[T]{}
		}
		fresh.base = base
		s.chunks = append(s.chunks, nil)
		copy(s.chunks[i+1:], s.chunks[i:])
		s.chunks[i] = fresh
	}
	c, slot := s.chunks[i], m.Number()-base
	c.slots[slot] = m
	c.used |= 1 << slot
	s.count++
}

// Get returns a message, or the zero value.
func (s *Shelf[T]) Get(seq int64) T {
	base := seq &^ (chunkSize - 1)
	i := s.locate(base)
	if i == len(s.chunks) || s.chunks[i].base != base {
		var none T
		return none
	}
	return s.chunks[i].slots[seq-base]
}

// Remove takes a message away.
func (s *Shelf[T]) Remove(m T) {
	base := m.Number() &^ (chunkSize - 1)
	i := s.locate(base)
	c, slot := s.chunks[i], m.Number()-base
	var none T
	c.slots[slot] = none
	c.used &^= 1 << slot
	s.count--
	if c.used != 0 {
		return
	}
	s.spare = c
	if i == 0 {
		s.chunks[0] = nil
		s.chunks = s.chunks[1:]
		return
	}
	s.chunks = append(s.chunks[:i], s.chunks[i+1:]...)
}

// Ascend calls f with the messages from a number on, in order, until f returns false. f may remove the message it is
// called with only after Ascend has returned.
func (s *Shelf[T]) Ascend(from int64, f func(T) bool) {
	base := from &^ (chunkSize - 1)
	for i := s.locate(base); i < len(s.chunks); i++ {
		c := s.chunks[i]
		used := c.used
		if c.base == base {
			used &^= 1<<(from-base) - 1
		}
		for ; used != 0; used &= used - 1 {
			if !f(c.slots[bits.TrailingZeros64(used)]) {
				return
			}
		}
	}
}

// Descend is Ascend in the other direction: down from a number.
func (s *Shelf[T]) Descend(from int64, f func(T) bool) {
	base := from &^ (chunkSize - 1)
	i := s.locate(base)
	if i == len(s.chunks) || s.chunks[i].base > base {
		i--
	}
	for ; i >= 0; i-- {
		c := s.chunks[i]
		used := c.used
		if c.base == base {
			used &= 1<<(from-base)<<1 - 1
		}
		for used != 0 {
			last := bits.Len64(used) - 1
			if !f(c.slots[last]) {
				return
			}
			used &^= 1 << last
		}
	}
}

// All returns all messages, in order.
func (s *Shelf[T]) All() []T {
	messages := make([]T, 0, s.count)
	s.Ascend(0, func(m T) bool {
		messages = append(messages, m)
		return true
	})
	return messages
}
