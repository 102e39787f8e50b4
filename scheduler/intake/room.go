package intake

import "sync"

// Room counts what a process holds, and tells its sources when there is room
// again.
type Room[K comparable] struct {
	limit int
	batch int // the least number of messages worth asking for
	wake  []chan struct{}

	mu   sync.Mutex
	held map[K]struct{}
	busy chan struct{} // the first message came
}

// NewRoom returns room for limit messages from several sources. batch is the
// least that is worth asking for.
func NewRoom[K comparable](limit, batch, sources int) *Room[K] {
	r := &Room[K]{limit: limit, batch: batch, held: map[K]struct{}{}, busy: make(chan struct{}, 1)}
	for range sources {
		r.wake = append(r.wake, make(chan struct{}, 1))
	}
	return r
}

// Keep takes a message into account. False means that it is held already: the
// server heard no sign of life for too long, as while the connection was lost,
// and gave it out again.
func (r *Room[K]) Keep(message K) bool {
	r.mu.Lock()
	if _, held := r.held[message]; held {
		r.mu.Unlock()
		return false
	}
	r.held[message] = struct{}{}
	first := len(r.held) == 1
	r.mu.Unlock()
	if first {
		signal(r.busy)
	}
	return true
}

// Release ends a message in this process. When that makes room for a batch, the
// sources are told.
func (r *Room[K]) Release(message K) {
	r.mu.Lock()
	before := len(r.held)
	delete(r.held, message)
	again := len(r.held) < before && r.limit-len(r.held) == r.batch
	r.mu.Unlock()
	if !again {
		return
	}
	for _, c := range r.wake {
		signal(c)
	}
}

// Free is how many more messages can be held.
func (r *Room[K]) Free() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limit - len(r.held)
}

// Empty reports whether nothing is held.
func (r *Room[K]) Empty() bool { return r.Free() == r.limit }

// Ask is how many more messages to ask for: none when that would be less than
// a batch.
func (r *Room[K]) Ask() int {
	if n := r.Free(); n >= r.batch {
		return n
	}
	return 0
}

// Wake gives a value to a source when there is room again.
func (r *Room[K]) Wake(source int) <-chan struct{} { return r.wake[source] }

// Busy gives a value when the first message came after there was none.
func (r *Room[K]) Busy() <-chan struct{} { return r.busy }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
