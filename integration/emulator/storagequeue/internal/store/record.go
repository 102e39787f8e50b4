package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// An op is a kind of change. Its text is in files.
type op string

const (
	opProperties op = "properties" // the settings of an account
	opQueue      op = "queue"      // a new queue
	opMetadata   op = "metadata"
	opPolicies   op = "policies"
	opDrop       op = "drop" // delete a queue
	opPut        op = "put"  // a new message
	opEdit       op = "edit" // messages were received or updated
	opDelete     op = "delete"
	opClear      op = "clear" // delete all messages of a queue
	opMove       op = "move"  // delete a message, and add it to another queue
)

// A record is a change. It contains the new state, not the operation.
type record struct {
	Op         op                `json:"op"`
	Account    string            `json:"account"`
	Queue      string            `json:"queue,omitempty"`
	Properties *wire.Properties  `json:"properties,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Policies   []wire.Policy     `json:"policies,omitempty"`
	Message    *wire.Message     `json:"message,omitempty"`
	Edits      []edit            `json:"edits,omitempty"`
	ID         string            `json:"id,omitempty"`
	To         string            `json:"to,omitempty"` // the other queue
}

// An edit is the change of a message that is received or updated.
type edit struct {
	ID      string    `json:"id"`
	Visible time.Time `json:"visible"`
	Receipt string    `json:"receipt"`
	Count   int       `json:"count,omitempty"`
	Text    *string   `json:"text,omitempty"` // nil: the same
}

// change runs a function with the lock held and returns when the records that it made are safe.
func (s *Store) change(f func(note func(record)) error) error {
	var position wal.Position
	var broken error
	s.mu.Lock()
	err := f(func(r record) {
		if s.log != nil {
			b, err := json.Marshal(r)
			if err != nil {
				broken = err
				return
			}
			position = s.log.Append(b)
		}
		if err := s.apply(&r); err != nil {
			broken = err
		}
	})
	s.mu.Unlock()
	switch {
	case err != nil:
		return err
	case broken != nil:
		return fmt.Errorf("record: %w", broken)
	}
	if s.log == nil || position == 0 {
		return nil
	}
	if err := s.log.Wait(position); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	s.rewrite(position)
	return nil
}

// restore applies a record of the log or of its snapshot.
func (s *Store) restore(b []byte) error {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	return s.apply(&r)
}

// queueOf returns the queue of a record, or nil. It re-creates a queue whose own record is lost, for its
// messages.
func (s *Store) queueOf(a *account, r *record) *queue {
	q := a.queues[r.Queue]
	if q == nil && s.salvaging && r.Op == opPut {
		q = newQueue(nil)
		a.queues[r.Queue] = q
	}
	return q
}

// apply changes the state. It is called with the lock held, or before anyone else knows the store.
func (s *Store) apply(r *record) error {
	a := s.accounts[r.Account]
	if a == nil {
		a = &account{queues: map[string]*queue{}}
		s.accounts[r.Account] = a
	}
	q := s.queueOf(a, r)
	if q == nil && r.Op != opProperties && r.Op != opQueue {
		return fmt.Errorf("%s of %s/%s: %w", r.Op, r.Account, r.Queue, ErrNoQueue)
	}
	switch r.Op {
	case opProperties:
		a.properties = r.Properties
	case opQueue:
		a.queues[r.Queue] = newQueue(r.Metadata)
	case opMetadata:
		q.metadata = r.Metadata
	case opPolicies:
		q.policies = r.Policies
	case opDrop:
		delete(a.queues, r.Queue)
	case opPut:
		if r.Message == nil {
			return fmt.Errorf("%s without a message", r.Op)
		}
		s.arrivals++
		q.add(*r.Message, s.arrivals)
	case opEdit:
		for i := range r.Edits {
			if err := q.edit(&r.Edits[i]); err != nil {
				return err
			}
		}
	case opDelete:
		q.remove(q.messages[r.ID])
	case opClear:
		q.clear()
	case opMove:
		return s.applyMove(a, q, r)
	default:
		return fmt.Errorf("%q is not a kind of record that this version knows: a newer one has written it", r.Op)
	}
	return nil
}

// applyMove moves a message to another queue.
func (s *Store) applyMove(a *account, from *queue, r *record) error {
	to := a.queues[r.To]
	if to == nil || r.Message == nil {
		return fmt.Errorf("%s to %s/%s: %w", r.Op, r.Account, r.To, ErrNoQueue)
	}
	from.remove(from.messages[r.ID])
	s.arrivals++
	to.add(*r.Message, s.arrivals)
	return nil
}
