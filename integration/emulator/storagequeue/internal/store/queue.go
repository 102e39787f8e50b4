package store

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// A queue has its messages by identifier, in the order in which they are taken, and in that in which they expire.
type queue struct {
	metadata map[string]string
	policies []wire.Policy
	messages map[string]*message
	visible  index
	expiry   index
	size     int64 // bytes of all texts
}

type message struct {
	wire.Message

	arrival    uint64
	inVisible  int // its place in the index
	inExpiries int
}

func newQueue(metadata map[string]string) *queue {
	q := &queue{metadata: metadata}
	q.clear()
	return q
}

func (q *queue) clear() {
	q.messages, q.size = map[string]*message{}, 0
	q.visible = index{
		less: func(a, b *message) bool {
			if c := a.NextVisible.Compare(b.NextVisible); c != 0 {
				return c < 0
			}
			return a.arrival < b.arrival
		},
		place: func(m *message) *int { return &m.inVisible },
	}
	q.expiry = index{
		less:  func(a, b *message) bool { return a.Expires.Before(b.Expires) },
		place: func(m *message) *int { return &m.inExpiries },
	}
}

func (q *queue) add(s *stored, arrival uint64) {
	q.remove(q.messages[s.ID])
	m := &message{arrival: arrival, Message: wire.Message{
		ID: s.ID, Text: s.Text, Inserted: s.Inserted, Expires: s.Expires,
		NextVisible: s.Visible, Receipt: s.Receipt, DequeueCount: s.Count,
	}}
	q.messages[m.ID] = m
	q.size += int64(len(m.Text))
	heap.Push(&q.visible, m)
	heap.Push(&q.expiry, m)
}

func (q *queue) edit(e *edit) error {
	m := q.messages[e.ID]
	if m == nil {
		return fmt.Errorf("message %s: %w", e.ID, ErrNoMessage)
	}
	m.NextVisible, m.Receipt, m.DequeueCount = e.Visible, e.Receipt, e.Count
	if e.Text != nil {
		q.size += int64(len(*e.Text) - len(m.Text))
		m.Text = *e.Text
	}
	heap.Fix(&q.visible, m.inVisible)
	return nil
}

// remove takes a message out; nil is none.
func (q *queue) remove(m *message) {
	if m == nil {
		return
	}
	delete(q.messages, m.ID)
	q.size -= int64(len(m.Text))
	heap.Remove(&q.visible, m.inVisible)
	heap.Remove(&q.expiry, m.inExpiries)
}

// expire removes the messages whose time is over. That needs no record: it follows from the time.
func (q *queue) expire(now time.Time) {
	for len(q.expiry.messages) > 0 && !now.Before(q.expiry.messages[0].Expires) {
		q.remove(q.expiry.messages[0])
	}
}

// first returns up to limit visible messages in their order.
func (q *queue) first(limit int, now time.Time) []*message {
	var found []*message
	for len(found) < limit && len(q.visible.messages) > 0 && !q.visible.messages[0].NextVisible.After(now) {
		found = append(found, heap.Pop(&q.visible).(*message))
	}
	for _, m := range found {
		heap.Push(&q.visible, m)
	}
	return found
}

// An index is a heap that knows where each message is.
type index struct {
	messages []*message
	less     func(a, b *message) bool
	place    func(m *message) *int
}

func (x *index) Len() int           { return len(x.messages) }
func (x *index) Less(i, j int) bool { return x.less(x.messages[i], x.messages[j]) }

func (x *index) Swap(i, j int) {
	x.messages[i], x.messages[j] = x.messages[j], x.messages[i]
	*x.place(x.messages[i]), *x.place(x.messages[j]) = i, j
}

// Push is for package heap.
func (x *index) Push(v any) {
	m := v.(*message)
	*x.place(m) = len(x.messages)
	x.messages = append(x.messages, m)
}

// Pop is for package heap.
func (x *index) Pop() any {
	last := len(x.messages) - 1
	m := x.messages[last]
	x.messages[last] = nil
	x.messages = x.messages[:last]
	return m
}
