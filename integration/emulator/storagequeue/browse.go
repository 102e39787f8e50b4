package storagequeue

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/store"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// Errors for missing objects.
var (
	ErrNoQueue   = store.ErrNoQueue
	ErrNoMessage = store.ErrNoMessage
)

// A QueueStatus summarizes a queue.
type QueueStatus = store.Summary

// A Message is one in a queue, visible or not. It expires at the zero time if it never does.
type Message = store.Seen

// Queues returns all queues of all accounts, by name. Like all methods for people, it makes none.
func (s *Server) Queues() []QueueStatus { return s.handler.store.Summaries(time.Now()) }

// Queue returns one. It fails with [ErrNoQueue].
func (s *Server) Queue(account, queue string) (QueueStatus, error) {
	return s.handler.store.Summary(store.Name{Account: account, Queue: queue}, time.Now())
}

// Accounts are the names of all accounts.
func (s *Server) Accounts() []string { return slices.Sorted(maps.Keys(s.handler.keys)) }

// Create creates a queue. It fails if the queue exists or the name is invalid.
func (s *Server) Create(account, queue string) error {
	if _, ok := s.handler.keys[account]; !ok {
		return fmt.Errorf("there is no account %q", account)
	}
	if checkQueueName(queue) != nil {
		return errQueueName
	}
	created, err := s.handler.store.CreateQueue(store.Name{Account: account, Queue: queue}, nil)
	if err == nil && !created || errors.Is(err, store.ErrQueueExists) {
		err = errQueueTaken
	}
	return err
}

// Errors of creating a queue.
var (
	errQueueName  = errors.New("the name of a queue has 3 to 63 lower-case letters, digits and single hyphens between them")
	errQueueTaken = errors.New("there is a queue of that name already")
)

// Drop deletes a queue with its messages. It fails with [ErrNoQueue].
func (s *Server) Drop(account, queue string) error {
	return s.handler.store.DeleteQueue(store.Name{Account: account, Queue: queue})
}

// maxSearched limits the messages that one search by [Server.Messages] reads.
const maxSearched = 20_000

// maxSearchedBytes limits their text.
const maxSearchedBytes = 32 << 20

// Messages returns up to most messages, visible or not, in order of arrival from a position on. With a text it
// returns only messages that contain it, ignoring case, in their text, its decoded base64, or their id. next is
// the position of the next page, 0 at the end. Receivers do not notice the call.
func (s *Server) Messages(account, queue string, from uint64, most int, text string) (page []Message, next uint64, err error) {
	name, lower, seen, read := store.Name{Account: account, Queue: queue}, strings.ToLower(text), 0, 0
	for {
		want := most - len(page)
		if text != "" {
			want = 1000
		}
		found, after, err := s.handler.store.Browse(name, from, want, time.Now())
		if err != nil {
			return nil, 0, err
		}
		for i, m := range found {
			seen++
			read += len(m.Text)
			if text == "" || has(m, lower) {
				page = append(page, messageOf(m))
			}
			if len(page) < most && (text == "" || seen < maxSearched && read < maxSearchedBytes) {
				continue
			}
			if i+1 < len(found) {
				return page, found[i+1].Place, nil
			}
			return page, after, nil
		}
		if after == 0 {
			return page, 0, nil
		}
		from = after
	}
}

// has reports whether a message contains a text in lower case.
func has(m store.Seen, lower string) bool {
	if strings.Contains(strings.ToLower(m.Text), lower) || strings.Contains(m.ID, lower) {
		return true
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(m.Text)) // as Azure Functions and the older SDKs write it
	return err == nil && bytes.Contains(bytes.ToLower(plain), []byte(lower))
}

func messageOf(m store.Seen) Message {
	if m.Expires.Equal(wire.Forever) {
		m.Expires = time.Time{}
	}
	return m
}

// Message returns one, visible or not. It fails with [ErrNoQueue] or [ErrNoMessage].
func (s *Server) Message(account, queue, id string) (Message, error) {
	m, err := s.handler.store.Message(store.Name{Account: account, Queue: queue}, id, time.Now())
	return messageOf(m), err
}

// Put adds a message that is hidden for a time, and lives for another; 0 is for ever. It fails with [ErrNoQueue].
func (s *Server) Put(account, queue, text string, hidden, ttl time.Duration) error {
	if len(text) > wire.MaxText {
		return fmt.Errorf("a message may have %s bytes, not %s", strconv.Itoa(wire.MaxText), strconv.Itoa(len(text)))
	}
	name, now := store.Name{Account: account, Queue: queue}, time.Now()
	if _, err := s.handler.store.Summary(name, now); err != nil {
		return err
	}
	_, err := s.handler.store.Put(name, text, now.Add(hidden), expiry(now, ttl), now)
	return err
}

func expiry(now time.Time, ttl time.Duration) time.Time {
	if ttl <= 0 || now.Add(ttl).After(wire.Forever) {
		return wire.Forever
	}
	return now.Add(ttl)
}

// Delete deletes a message without its receipt. A client that has received it gets "not found".
func (s *Server) Delete(account, queue, id string) error {
	return s.handler.store.Remove(store.Name{Account: account, Queue: queue}, id, time.Now())
}

// Clear deletes all messages, including hidden ones, and returns their number. It fails with [ErrNoQueue].
func (s *Server) Clear(account, queue string) (int, error) {
	if _, err := s.Queue(account, queue); err != nil {
		return 0, err
	}
	return s.handler.store.Clear(store.Name{Account: account, Queue: queue}, time.Now())
}

// Move atomically moves a message to another queue of the account, where it counts as never received. It expires
// there after a week, the default.
func (s *Server) Move(account, queue, id, to string) error {
	now := time.Now()
	return s.handler.store.Move(store.Name{Account: account, Queue: queue}, id, to, expiry(now, week*time.Second), now)
}

// MoveAll moves up to most messages in order of arrival, each atomically, and returns how many it moved. It
// skips messages that no longer exist.
func (s *Server) MoveAll(account, queue, to string, most int) (moved int, err error) {
	page, _, err := s.Messages(account, queue, 0, most, "")
	if err != nil {
		return 0, err
	}
	for _, m := range page {
		err := s.Move(account, queue, m.ID, to)
		switch {
		case err == nil:
			moved++
		case !errors.Is(err, ErrNoMessage):
			return moved, err
		}
	}
	return moved, nil
}
