package flow

import "sync"

// Buffer tracks the messages that a process holds, and notifies its sources of free capacity.
type Buffer[K comparable] struct {
	limit int // maximum number of messages
	bytes int // size at which to stop requesting messages; 0: no limit
	each  int // assumed size of a message that has not arrived
	batch int // minimum number of messages to request
	wake  []chan struct{}

	mu   sync.Mutex
	held map[K]int     // sizes in bytes by message
	size int           // total size in bytes
	busy chan struct{} // signals the first message
}

// NewBuffer returns a Buffer for limit messages from several sources. batch is the minimum number of messages to request.
func NewBuffer[K comparable](limit, batch, sources int) *Buffer[K] {
	r := &Buffer[K]{limit: limit, batch: batch, held: map[K]int{}, busy: make(chan struct{}, 1)}
	for range sources {
		r.wake = append(r.wake, make(chan struct{}, 1))
	}
	return r
}

// Bound also limits the size of the held messages, in bytes. A message that has not arrived counts as each bytes. Call
// Bound before the first Keep.
func (r *Buffer[K]) Bound(bytes, each int) *Buffer[K] {
	r.bytes, r.each = bytes, max(1, each)
	return r
}

// Keep adds a message. It returns false if the message is already held: the server redelivers a message if it receives
// no progress signal, for example while the connection is lost.
func (r *Buffer[K]) Keep(message K) bool { return r.KeepSized(message, 0) }

// KeepSized is Keep for a message of a size in bytes.
func (r *Buffer[K]) KeepSized(message K, bytes int) bool {
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
		Signal(r.busy)
	}
	return true
}

// Resize changes the size of a held message. Like Release, it notifies the sources of free capacity.
func (r *Buffer[K]) Resize(message K, bytes int) {
	r.change(func() {
		if before, held := r.held[message]; held {
			r.size += bytes - before
			r.held[message] = bytes
		}
	})
}

// Release removes a message. It notifies the sources if there is now capacity for a batch.
func (r *Buffer[K]) Release(message K) {
	r.change(func() {
		r.size -= r.held[message]
		delete(r.held, message)
	})
}

// change applies f and notifies the sources if it frees capacity for a batch.
func (r *Buffer[K]) change(f func()) {
	r.mu.Lock()
	before := r.ask()
	f()
	again := before == 0 && r.ask() > 0
	r.mu.Unlock()
	if !again {
		return
	}
	for _, c := range r.wake {
		Signal(c)
	}
}

// Free returns how many more messages fit.
func (r *Buffer[K]) Free() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limit - len(r.held)
}

// Size returns the total size of the held messages in bytes.
func (r *Buffer[K]) Size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// Empty reports whether no message is held.
func (r *Buffer[K]) Empty() bool { return r.Free() == r.limit }

// Ask returns how many messages to request: 0 if less than a batch fits, or if the size limit is reached.
func (r *Buffer[K]) Ask() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ask()
}

func (r *Buffer[K]) ask() int {
	n := r.limit - len(r.held)
	if r.bytes > 0 {
		n = min(n, (r.bytes-r.size)/r.each)
	}
	if n < r.batch {
		return 0
	}
	return n
}

// Wake returns a channel that signals a source when capacity is free again.
func (r *Buffer[K]) Wake(source int) <-chan struct{} { return r.wake[source] }

// Busy returns a channel that signals when the first message arrives after none was held.
func (r *Buffer[K]) Busy() <-chan struct{} { return r.busy }

// Signal sends to a channel that wakes a goroutine, unless it has a value already.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
