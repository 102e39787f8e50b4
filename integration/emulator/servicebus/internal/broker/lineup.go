package broker

import "sort"

// A lineup has messages that are ready, in the order of their sequence numbers. A message that is taken away from the middle
// stays until its turn comes, but is not given out.
type lineup struct {
	items []*message
	head  int // items before are gone
	count int // of messages that are ready
}

// push puts a message in its place, which is at the end for a new one, and near the front for one that comes back.
func (l *lineup) push(m *message) {
	m.state = ready
	l.count++
	n := len(l.items)
	if n == l.head || l.items[n-1].seq < m.seq {
		l.items = append(l.items, m)
		return
	}
	i := l.head + sort.Search(n-l.head, func(i int) bool { return l.items[l.head+i].seq >= m.seq })
	if l.items[i].seq == m.seq { // its own place, which it had left
		l.items[i] = m
		return
	}
	if l.head > 0 && i-l.head < n-i { // move those before it
		l.head--
		copy(l.items[l.head:], l.items[l.head+1:i])
		l.items[i-1] = m
		return
	}
	l.items = append(l.items, nil)
	copy(l.items[i+1:], l.items[i:])
	l.items[i] = m
}

// pop takes the first message that is ready, or returns nil. The caller gives it another state.
func (l *lineup) pop() *message {
	if l.count == 0 {
		l.reset()
		return nil
	}
	for {
		m := l.items[l.head]
		l.items[l.head] = nil
		l.head++
		if m.state == ready {
			l.count--
			l.tidy()
			return m
		}
	}
}

// drop says that a message that was ready has been given another state.
func (l *lineup) drop() {
	l.count--
	if l.count == 0 {
		l.reset()
		return
	}
	for l.items[l.head].state != ready {
		l.items[l.head] = nil
		l.head++
	}
	if live := len(l.items) - l.head; live > 64 && live > 4*l.count {
		kept := l.items[:0]
		for _, m := range l.items[l.head:] {
			if m.state == ready {
				kept = append(kept, m)
			}
		}
		clear(l.items[len(kept):])
		l.items, l.head = kept, 0
	}
	l.tidy()
}

// tidy gives the room before the head back to the slice.
func (l *lineup) tidy() {
	switch {
	case l.head == len(l.items):
		l.reset()
	case l.head >= 64 && l.head > len(l.items)/2:
		n := copy(l.items, l.items[l.head:])
		clear(l.items[n:])
		l.items, l.head = l.items[:n], 0
	}
}

func (l *lineup) reset() {
	clear(l.items[l.head:])
	if l.head = 0; cap(l.items) > 4096 {
		l.items = nil
	}
	l.items = l.items[:0]
}
