package natsapi

import (
	"slices"
	"sync"
)

// queue holds specs that are worked on one after the other. It has a worker
// while there is something in it. The zero queue is empty.
type queue struct {
	mu    sync.Mutex
	items []*item
	busy  bool // a worker empties it
}

// push adds a spec, in the order of publishing: one that comes again comes
// late. start tells the caller to start a worker.
func (q *queue) push(it *item) (start bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := len(q.items)
	for i > 0 && q.items[i-1].Sequence > it.Sequence {
		i--
	}
	q.items = slices.Insert(q.items, i, it)
	start = !q.busy
	q.busy = true
	return start
}

// overtakes reports whether a spec that was published before it waits behind it.
func (q *queue) overtakes(it *item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) > 0 && q.items[0].Sequence < it.Sequence
}

// next takes the first spec, for the worker; nil ends the worker.
func (q *queue) next() *item {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		q.items, q.busy = nil, false
		return nil
	}
	it := q.items[0]
	q.items[0] = nil
	q.items = q.items[1:]
	return it
}

// drain takes all specs that no worker has begun.
func (q *queue) drain() []*item {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = nil
	return items
}
