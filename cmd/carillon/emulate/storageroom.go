package emulate

import (
	"errors"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/console/queues"
)

// storageRoom is the storage queue emulator, as the console shows it. It is the one that runs at the moment.
type storageRoom struct{ servers *Servers }

func (s storageRoom) server() *storagequeue.Server {
	_, queue := s.servers.running()
	return queue
}

// missing returns an error as the console knows it.
func missing(err error) error {
	if errors.Is(err, storagequeue.ErrNoQueue) || errors.Is(err, storagequeue.ErrNoMessage) {
		return queues.ErrMissing
	}
	return err
}

func queueOf(q storagequeue.QueueStatus) queues.StorageQueue { return queues.StorageQueue(q) }

func letterOf(m storagequeue.Message) queues.Letter {
	if m.Expires.Equal(storagequeue.Forever) {
		m.Expires = time.Time{}
	}
	return queues.Letter(m)
}

// Queues returns all.
func (s storageRoom) Queues() []queues.StorageQueue { return each(s.server().Queues(), queueOf) }

// Queue returns one.
func (s storageRoom) Queue(account, name string) (queues.StorageQueue, error) {
	q, err := s.server().Queue(account, name)
	return queueOf(q), missing(err)
}

// Messages returns some.
func (s storageRoom) Messages(account, queue string, from uint64, most int, text string) ([]queues.Letter, uint64, error) {
	page, next, err := s.server().Messages(account, queue, from, most, text)
	return each(page, letterOf), next, missing(err)
}

// Message returns one.
func (s storageRoom) Message(account, queue, id string) (queues.Letter, error) {
	m, err := s.server().Message(account, queue, id)
	return letterOf(m), missing(err)
}

// Put adds a message.
func (s storageRoom) Put(account, queue, text string, hidden, ttl time.Duration) error {
	return missing(s.server().Put(account, queue, text, hidden, ttl))
}

// Delete deletes a message.
func (s storageRoom) Delete(account, queue, id string) error {
	return missing(s.server().Delete(account, queue, id))
}

// Clear deletes all.
func (s storageRoom) Clear(account, queue string) (int, error) {
	n, err := s.server().Clear(account, queue)
	return n, missing(err)
}

// Move puts a message into another queue.
func (s storageRoom) Move(account, queue, id, to string) error {
	return missing(s.server().Move(account, queue, id, to))
}

// MoveAll puts messages into another queue.
func (s storageRoom) MoveAll(account, queue, to string, most int) (int, error) {
	n, err := s.server().MoveAll(account, queue, to, most)
	return n, missing(err)
}

// Accounts are the names of all.
func (s storageRoom) Accounts() []string { return s.server().Accounts() }

// Create makes a queue.
func (s storageRoom) Create(account, queue string) error { return s.server().Create(account, queue) }

// Drop deletes one.
func (s storageRoom) Drop(account, queue string) error {
	return missing(s.server().Drop(account, queue))
}
