package natsapi

import (
	"slices"
	"sync"
)

// queue holds specs that run one after the other. It has a worker while it is not empty. The zero queue is empty.
type queue struct {
	mu    sync.Mutex
	items []*item
	busy  bool // has a worker
}

// push inserts a spec in the order of publishing, because a redelivered spec arrives late. start tells the caller to
// start a worker.
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

// overtakes reports whether an earlier spec waits behind it.
func (q *queue) overtakes(it *item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) > 0 && q.items[0].Sequence < it.Sequence
}

// next removes the first spec for the worker; nil ends the worker.
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

// drain removes all specs that are not in progress.
func (q *queue) drain() []*item {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = nil
	return items
}
