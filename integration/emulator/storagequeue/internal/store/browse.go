package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// A Summary summarizes a queue.
type Summary struct {
	Account, Name string
	Metadata      map[string]string
	Messages      int
	Hidden        int   // of them, because a receiver has them or they are not due; -1: too many to count
	Size          int64 // bytes of all texts
}

// maxCounted limits the messages that are examined to count hidden ones, because the store is locked during it.
const maxCounted = 100_000

func (q *queue) summary(name Name, now time.Time) Summary {
	s := Summary{Account: name.Account, Name: name.Queue, Metadata: q.metadata, Messages: len(q.messages), Size: q.size}
	if s.Messages > maxCounted {
		s.Hidden = -1
		return s
	}
	for _, m := range q.visible.messages {
		if m.NextVisible.After(now) {
			s.Hidden++
		}
	}
	return s
}

// Summaries returns the summaries of all queues, by account and name.
func (s *Store) Summaries(now time.Time) []Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	now = s.settle(now)
	var all []Summary
	for account, a := range s.accounts {
		for name, q := range a.queues {
			q.expire(now)
			all = append(all, q.summary(Name{account, name}, now))
		}
	}
	slices.SortFunc(all, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Counts returns the number of messages of each queue, visible or not. Its cost does not depend on those numbers.
func (s *Store) Counts(now time.Time) map[Name]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	now = s.settle(now)
	counts := map[Name]int{}
	for account, a := range s.accounts {
		for name, q := range a.queues {
			q.expire(now)
			counts[Name{account, name}] = len(q.messages)
		}
	}
	return counts
}

// A Seen is a message, visible or not.
type Seen struct {
	wire.Message

	Place uint64 // in the order of arrival; it is another one after a restart
}

// existing calls f with a queue, which is not made for it.
func (s *Store) existing(name Name, now time.Time, f func(q *queue) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.find(name)
	if q == nil {
		return ErrNoQueue
	}
	q.expire(s.settle(now))
	return f(q)
}

// Summary returns the summary of one queue.
func (s *Store) Summary(name Name, now time.Time) (summary Summary, err error) {
	err = s.existing(name, now, func(q *queue) error {
		summary = q.summary(name, s.latest)
		return nil
	})
	return summary, err
}

// Browse returns up to most messages of a queue, visible or not, in order of arrival from a position on, and the
// position of the next one, or 0. It changes nothing.
func (s *Store) Browse(name Name, from uint64, most int, now time.Time) (page []Seen, next uint64, err error) {
	err = s.existing(name, now, func(q *queue) error {
		var first []*message // the first positions, unordered, and not many more than requested
		order := func(a, b *message) int { return cmp.Compare(a.arrival, b.arrival) }
		for _, m := range q.messages {
			if m.arrival < from {
				continue
			}
			if first = append(first, m); len(first) > 2*most+64 {
				slices.SortFunc(first, order)
				first = first[:most+1]
			}
		}
		slices.SortFunc(first, order)
		if len(first) > most {
			next = first[most].arrival
			first = first[:most]
		}
		for _, m := range first {
			page = append(page, Seen{m.Message, m.arrival})
		}
		return nil
	})
	return page, next, err
}

// Message returns a message by its identifier.
func (s *Store) Message(name Name, id string, now time.Time) (seen Seen, err error) {
	err = s.existing(name, now, func(q *queue) error {
		m := q.messages[id]
		if m == nil {
			return ErrNoMessage
		}
		seen = Seen{m.Message, m.arrival}
		return nil
	})
	return seen, err
}

// Remove deletes a message without its receipt.
func (s *Store) Remove(name Name, id string, now time.Time) error {
	return s.changeMessages(name, false, now, func(q *queue, note func(record)) error {
		if q.messages[id] == nil {
			return ErrNoMessage
		}
		note(record{Op: opDelete, ID: id})
		return nil
	})
}

// Move atomically moves a message to another queue of the account, where it counts as never received.
func (s *Store) Move(name Name, id, to string, expires, now time.Time) error {
	return s.changeMessages(name, false, now, func(q *queue, note func(record)) error {
		m := q.messages[id]
		if m == nil {
			return ErrNoMessage
		}
		if s.find(Name{name.Account, to}) == nil {
			return ErrNoQueue
		}
		note(record{Op: opMove, ID: id, To: to, Message: &wire.Message{
			ID: NewID(), Text: m.Text, Inserted: s.latest, Expires: expires, NextVisible: s.latest, Receipt: newReceipt(),
		}})
		return nil
	})
}
