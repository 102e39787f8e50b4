package queues

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// Bus is a [browse.Namespace]. Tests replace single methods.
type Bus interface { //nolint:interfacebloat // all methods of a namespace
	Entities() []browse.Entity
	Entity(path string) (browse.Entity, error)
	Create(e browse.Entity) error
	Update(e browse.Entity) error
	Remove(path string) error
	Sessions(path, text string, most int) (found []browse.Session, more int, err error)

	Peek(q browse.Query) (browse.Page, error)
	Message(path string, part browse.Part, sequence int64) (browse.Message, error)
	Send(path string, d browse.Draft) error
	Delete(path string, part browse.Part, sequence int64) error
	Bury(path string, sequence int64, reason, description string) error
	Purge(ctx context.Context, b browse.Batch) (browse.Tally, error)
	Resubmit(path string, part browse.Part, sequence int64, edited *browse.Draft, toTopic bool) error
	ResubmitAll(ctx context.Context, b browse.Batch) (browse.Tally, error)

	Rules(path string) ([]browse.Rule, error)
	PutRule(path string, r browse.Rule, replace bool) error
	DeleteRule(path, name string) error
	Try(path string, d browse.Draft) ([]browse.Trial, error)
	TryMessage(path, from string, part browse.Part, sequence int64) ([]browse.Trial, error)
}

// Storage is a [storagequeue.Server]. Tests replace single methods.
type Storage interface { //nolint:interfacebloat // all methods of a server for pages
	Accounts() []string
	Queues() []storagequeue.QueueStatus
	Queue(account, name string) (storagequeue.QueueStatus, error)
	Create(account, queue string) error
	Drop(account, queue string) error
	Clear(account, queue string) (int, error)

	Messages(account, queue string, from uint64, most int, text string) ([]storagequeue.Message, uint64, error)
	Message(account, queue, id string) (storagequeue.Message, error)
	Put(account, queue, text string, hidden, ttl time.Duration) error
	Delete(account, queue, id string) error
	Move(account, queue, id, to string) error
	MoveAll(account, queue, to string, most int) (int, error)
}
