package intake

import "sync"

// Room counts what a process holds, and tells its sources when there is room
// again.
type Room[K comparable] struct {
	limit int // the most messages
	bytes int // the most to hold before no more is asked for; 0: any
	each  int // as long as a message is taken to be before it has come
	batch int // the least number of messages worth asking for
	wake  []chan struct{}

	mu   sync.Mutex
	held map[K]int     // the messages, and their bytes
	size int           // bytes held
	busy chan struct{} // the first message came
}

// NewRoom returns room for limit messages from several sources. batch is the
// least that is worth asking for.
func NewRoom[K comparable](limit, batch, sources int) *Room[K] {
	r := &Room[K]{limit: limit, batch: batch, held: map[K]int{}, busy: make(chan struct{}, 1)}
	for range sources {
		r.wake = append(r.wake, make(chan struct{}, 1))
	}
	return r
}

// Bound has no more messages be asked for than there is room for in so many
// bytes beside those that are held, if one has as many as each. Call it before
// the first one is kept.
func (r *Room[K]) Bound(bytes, each int) *Room[K] {
	r.bytes, r.each = bytes, max(1, each)
	return r
}

// Keep takes a message into account. False means that it is held already: the
// server heard no sign of life for too long, as while the connection was lost,
// and gave it out again.
func (r *Room[K]) Keep(message K) bool { return r.KeepSized(message, 0) }

// KeepSized is Keep for a message of that many bytes.
func (r *Room[K]) KeepSized(message K, bytes int) bool {
	r.mu.Lock()
	if _, held := r.held[message]; held {
		r.mu.Unlock()
		return false
	}
	r.held[message] = bytes
	r.size += bytes
	first := len(r.held) == 1
	r.mu.Unlock()
	if first {
		signal(r.busy)
	}
	return true
}

// Resize has a message that is kept count for so many bytes from now on. When
// that makes room, the sources are told as by Release.
func (r *Room[K]) Resize(message K, bytes int) {
	r.change(func() {
		if before, held := r.held[message]; held {
			r.size += bytes - before
			r.held[message] = bytes
		}
	})
}

// Release ends a message in this process. When that makes room for a batch, the
// sources are told.
func (r *Room[K]) Release(message K) {
	r.change(func() {
		r.size -= r.held[message]
		delete(r.held, message)
	})
}

// change tells the sources when f makes room.
func (r *Room[K]) change(f func()) {
	r.mu.Lock()
	before := r.ask()
	f()
	again := before == 0 && r.ask() > 0
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

// Size is how many bytes are held.
func (r *Room[K]) Size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// Empty reports whether nothing is held.
func (r *Room[K]) Empty() bool { return r.Free() == r.limit }

// Ask is how many more messages to ask for: none when that would be less than
// a batch, or there are too many bytes.
func (r *Room[K]) Ask() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ask()
}

func (r *Room[K]) ask() int {
	n := r.limit - len(r.held)
	if r.bytes > 0 {
		n = min(n, (r.bytes-r.size)/r.each)
	}
	if n < r.batch {
		return 0
	}
	return n
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
