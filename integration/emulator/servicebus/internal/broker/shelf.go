package broker

import (
	"math/bits"
	"sort"
)

const chunkSize = 64

// A shelf has messages by sequence number. Numbers that are near each other share memory, whatever is missing between them.
type shelf struct {
	chunks []*chunk // by base
	spare  *chunk
	count  int
}

// A chunk has the messages of sequence numbers from base on.
type chunk struct {
	base  int64
	used  uint64 // bit i says that slots[i] is taken
	slots [chunkSize]*message
}

// locate returns the index of the chunk for a number, or of the one before which it would be.
func (s *shelf) locate(base int64) int {
	n := len(s.chunks)
	if n == 0 || s.chunks[n-1].base < base {
		return n
	}
	if s.chunks[n-1].base == base {
		return n - 1
	}
	return sort.Search(n, func(i int) bool { return s.chunks[i].base >= base })
}

// put adds a message, whose number must not be there yet.
func (s *shelf) put(m *message) {
	base := m.seq &^ (chunkSize - 1)
	i := s.locate(base)
	if i == len(s.chunks) || s.chunks[i].base != base {
		fresh := s.spare
		if s.spare = nil; fresh == nil {
			fresh = &chunk{}
		}
		fresh.base = base
		s.chunks = append(s.chunks, nil)
		copy(s.chunks[i+1:], s.chunks[i:])
		s.chunks[i] = fresh
	}
	c, slot := s.chunks[i], m.seq-base
	c.slots[slot] = m
	c.used |= 1 << slot
	s.count++
}

// get returns a message, or nil.
func (s *shelf) get(seq int64) *message {
	base := seq &^ (chunkSize - 1)
	i := s.locate(base)
	if i == len(s.chunks) || s.chunks[i].base != base {
		return nil
	}
	return s.chunks[i].slots[seq-base]
}

// remove takes a message away.
func (s *shelf) remove(m *message) {
	base := m.seq &^ (chunkSize - 1)
	i := s.locate(base)
	c, slot := s.chunks[i], m.seq-base
	c.slots[slot] = nil
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

// ascend calls f with the messages from a number on, in order, until f returns false. f may remove the message it is called with
// only after ascend has returned.
func (s *shelf) ascend(from int64, f func(*message) bool) {
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

// all returns all messages, in order.
func (s *shelf) all() []*message {
	messages := make([]*message, 0, s.count)
	s.ascend(0, func(m *message) bool {
		messages = append(messages, m)
		return true
	})
	return messages
}
