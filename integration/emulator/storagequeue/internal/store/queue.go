package store

import (
	"container/heap"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// A queue holds its messages by identifier, in delivery order and in expiry order.
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
	inVisible  int // its position in the index
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

func (q *queue) add(fresh wire.Message, arrival uint64) {
	q.remove(q.messages[fresh.ID])
	m := &message{Message: fresh, arrival: arrival}
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

// remove removes a message; nil: none.
func (q *queue) remove(m *message) {
	if m == nil {
		return
	}
	delete(q.messages, m.ID)
	q.size -= int64(len(m.Text))
	heap.Remove(&q.visible, m.inVisible)
	heap.Remove(&q.expiry, m.inExpiries)
}

// expire removes expired messages. It writes no record, because expiry follows from the time.
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

// Put adds a message that becomes visible and expires at the given times.
func (s *Store) Put(name Name, text string, visible, expires, now time.Time) (wire.Message, error) {
	m := wire.Message{ID: NewID(), Text: text, Inserted: now, Expires: expires, NextVisible: visible, Receipt: newReceipt()}
	err := s.changeMessages(name, s.cfg.AutoCreate, now, func(_ *queue, note func(record)) error {
		note(record{Op: opPut, Message: &m})
		return nil
	})
	return m, err
}

// Take returns up to limit visible messages and hides them until the given time. Each gets a new receipt.
func (s *Store) Take(name Name, limit int, visible, now time.Time) ([]wire.Message, error) {
	var taken []wire.Message
	err := s.changeMessages(name, s.cfg.AutoCreate, now, func(q *queue, note func(record)) error {
		found := q.first(limit, s.latest)
		if len(found) == 0 {
			return nil
		}
		var edits []edit
		for _, m := range found {
			edits = append(edits, edit{ID: m.ID, Visible: visible, Receipt: newReceipt(), Count: m.DequeueCount + 1})
		}
		note(record{Op: opEdit, Edits: edits})
		for _, m := range found {
			taken = append(taken, m.Message)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// Peek returns up to limit visible messages and changes nothing.
func (s *Store) Peek(name Name, limit int, now time.Time) ([]wire.Message, error) {
	var seen []wire.Message
	err := s.changeMessages(name, s.cfg.AutoCreate, now, func(q *queue, _ func(record)) error {
		for _, m := range q.first(limit, s.latest) {
			seen = append(seen, m.Message)
		}
		return nil
	})
	return seen, err
}

// Update changes when a message becomes visible and, unless it is nil, its text. The message gets a new receipt. A message cannot
// be hidden for longer than it lives: [ErrTooLate].
func (s *Store) Update(name Name, id, receipt string, text *string, visible, now time.Time) (wire.Message, error) {
	var updated wire.Message
	err := s.changeMessages(name, s.cfg.AutoCreate, now, func(q *queue, note func(record)) error {
		m, err := q.held(id, receipt)
		if err != nil {
			return err
		}
		if visible.After(m.Expires) {
			return ErrTooLate
		}
		note(record{Op: opEdit, Edits: []edit{{ID: id, Visible: visible, Receipt: newReceipt(), Count: m.DequeueCount, Text: text}}})
		updated = m.Message
		return nil
	})
	return updated, err
}

// Delete removes a message.
func (s *Store) Delete(name Name, id, receipt string, now time.Time) error {
	return s.changeMessages(name, s.cfg.AutoCreate, now, func(q *queue, note func(record)) error {
		if _, err := q.held(id, receipt); err != nil {
			return err
		}
		note(record{Op: opDelete, ID: id})
		return nil
	})
}

// Clear removes all messages of a queue and returns how many.
func (s *Store) Clear(name Name, now time.Time) (n int, err error) {
	err = s.changeMessages(name, s.cfg.AutoCreate, now, func(q *queue, note func(record)) error {
		if n = len(q.messages); n > 0 {
			note(record{Op: opClear})
		}
		return nil
	})
	return n, err
}

// changeMessages changes a queue after removing its expired messages. A missing queue is created, or is [ErrNoQueue].
func (s *Store) changeMessages(name Name, create bool, now time.Time, f func(q *queue, note func(record)) error) error {
	return s.change(func(note func(record)) error {
		q := s.find(name)
		if q == nil && create {
			note(record{Op: opQueue, Account: name.Account, Queue: name.Queue})
			q = s.find(name)
		}
		if q == nil {
			return ErrNoQueue
		}
		q.expire(s.settle(now))
		return f(q, func(r record) {
			r.Account, r.Queue = name.Account, name.Queue
			note(r)
		})
	})
}

// held returns a message for which the receipt is good.
func (q *queue) held(id, receipt string) (*message, error) {
	m := q.messages[id]
	switch {
	case m == nil:
		return nil, ErrNoMessage
	case m.Receipt != receipt:
		return nil, ErrReceipt
	}
	return m, nil
}

// NewID returns a random identifier in the form of a GUID.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not return errors
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// newReceipt returns a random receipt. Like the service's, it contains characters that a URL must escape.
func newReceipt() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not return errors
	return base64.StdEncoding.EncodeToString(b[:])
}
