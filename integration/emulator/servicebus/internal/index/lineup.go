package index

import "sort"

// A Member of a [Lineup] has a number and knows whether it is ready.
type Member interface {
	Numbered
	// Ready reports whether it may be delivered.
	Ready() bool
}

// A Lineup contains the ready messages in the order of their numbers. A message removed from the middle stays in the
// list until its turn, but is not delivered. The zero value is empty.
type Lineup[T Member] struct {
	items []T
	head  int // earlier items were removed
	count int // of messages that are ready
}

// Len is how many messages are ready.
func (l *Lineup[T]) Len() int { return l.count }

// Push inserts a ready message: a new one at the end, a returned one near the front.
func (l *Lineup[T]) Push(m T) {
	number := m.Number()
	l.count++
	n := len(l.items)
	if n == l.head || l.items[n-1].Number() < number {
		l.items = append(l.items, m)
		return
	}
	i := l.head + sort.Search(n-l.head, func(i int) bool { return l.items[l.head+i].Number() >= number })
	if l.items[i].Number() == number { // its own place, which it had left
		l.items[i] = m
		return
	}
	if l.head > 0 && i-l.head < n-i { // move those before it
		l.head--
		copy(l.items[l.head:], l.items[l.head+1:i])
		l.items[i-1] = m
		return
	}
	var none T
	l.items = append(l.items, none)
	copy(l.items[i+1:], l.items[i:])
	l.items[i] = m
}

// Pop takes the first message that is ready, or returns the zero value. The caller gives it another state.
func (l *Lineup[T]) Pop() T {
	var none T
	if l.count == 0 {
		l.reset()
		return none
	}
	for {
		m := l.items[l.head]
		l.items[l.head] = none
		l.head++
		if m.Ready() {
			l.count--
			l.tidy()
			return m
		}
	}
}

// Drop says that a message that was ready has been given another state.
func (l *Lineup[T]) Drop() {
	var none T
	l.count--
	if l.count == 0 {
		l.reset()
		return
	}
	for !l.items[l.head].Ready() {
		l.items[l.head] = none
		l.head++
	}
	if live := len(l.items) - l.head; live > 64 && live > 4*l.count {
		kept := l.items[:0]
		for _, m := range l.items[l.head:] {
			if m.Ready() {
				kept = append(kept, m)
			}
		}
		clear(l.items[len(kept):])
		l.items, l.head = kept, 0
	}
	l.tidy()
}

// tidy gives the room before the head back to the slice.
func (l *Lineup[T]) tidy() {
	switch {
	case l.head == len(l.items):
		l.reset()
	case l.head >= 64 && l.head > len(l.items)/2:
		n := copy(l.items, l.items[l.head:])
		clear(l.items[n:])
		l.items, l.head = l.items[:n], 0
	}
}

func (l *Lineup[T]) reset() {
	clear(l.items[l.head:])
	if l.head = 0; cap(l.items) > 4096 {
		l.items = nil
	}
	l.items = l.items[:0]
}
