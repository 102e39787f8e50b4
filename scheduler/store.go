package scheduler

import (
	"context"
	"time"
)

// Slot is a place for one baton: a job's own, or that of a one-off run beside it.
type Slot struct {
	Key

	OneOff string // "" for the job's own baton
}

// Stored is a value of the store with its revision (a baton's sequence).
type Stored struct {
	Key          Key
	Revision     uint64
	Data         []byte
	SpecSequence uint64 // of a deleted job: the spec that deleted it
}

// Store is what the scheduler needs of the package store. Errors match the
// sentinels of this package; each method there says which come when. It is one
// interface in small parts, so that a part of the scheduler can say what it
// uses.
type Store interface { //nolint:interfacebloat // a sum of small ones
	JobReader
	JobBatchReader
	JobWriter
	JobWatcher
	CollectionStore
	CollectionLister
	SecretStore
	SecretLister
	BatonReader
	BatonFinder
	BatonWriter
	BatonRemover
	Lanes
	HistoryWriter
	HistoryReader
}

// JobReader reads definitions.
type JobReader interface {
	LoadJob(ctx context.Context, k Key) (Stored, error)
	LoadJobAt(ctx context.Context, k Key, revision uint64) (Stored, error)
	EachJob(ctx context.Context, collection string, f func(Key) error) error
}

// JobBatchReader reads many definitions in one request.
type JobBatchReader interface {
	LoadJobs(ctx context.Context, keys []Key, each func(Stored)) error
}

// JobWriter writes definitions by compare-and-set.
type JobWriter interface {
	SaveJob(ctx context.Context, k Key, data []byte, replaces uint64, final bool) (uint64, error)
	RewriteJob(ctx context.Context, k Key, data []byte, replaces uint64, final bool) (uint64, error)
	RemoveJob(ctx context.Context, k Key, revision, specSequence uint64) error
}

// JobWatcher tells of edits.
type JobWatcher interface {
	WatchJobs(ctx context.Context, ready func(), changed func(k Key, revision uint64)) error
}

// CollectionStore keeps collections.
type CollectionStore interface {
	LoadCollection(ctx context.Context, name string) (Stored, error)
	SaveCollection(ctx context.Context, name string, data []byte, replaces uint64) (uint64, error)
	RemoveCollection(ctx context.Context, name string, revision uint64) error
}

// CollectionLister lists collections and tells of their changes.
type CollectionLister interface {
	EachCollection(ctx context.Context, f func(Stored) error) error
	WatchCollections(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error
}

// SecretStore keeps shared secrets, as sealed as it gets them.
type SecretStore interface {
	LoadSecret(ctx context.Context, name string) (Stored, error)
	SaveSecret(ctx context.Context, name string, data []byte, replaces uint64) (uint64, error)
	RemoveSecret(ctx context.Context, name string, revision uint64) error
}

// SecretLister lists shared secrets and tells of their changes. The name of a
// listed one is its Key.Job.
type SecretLister interface {
	EachSecret(ctx context.Context, f func(Stored) error) error
	WatchSecrets(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error
}

// BatonReader finds batons.
type BatonReader interface {
	Waiting(ctx context.Context, slot Slot) (Stored, error)
	Running(ctx context.Context, slot Slot) (Stored, error)
	EachBaton(ctx context.Context, lane int, f func(slot Slot, waiting bool) error) error
}

// BatonFinder looks for the batons of many jobs at once.
type BatonFinder interface {
	FindBatons(ctx context.Context, keys []Key, found func(Key)) error
}

// BatonWriter moves batons. Every move is one atomic message.
type BatonWriter interface {
	Arm(ctx context.Context, slot Slot, body []byte, at time.Time, waiting uint64) error
	Fire(ctx context.Context, slot Slot, body []byte, waiting uint64) error
	PassOn(ctx context.Context, slot Slot, body []byte, at time.Time, running uint64) error
}

// BatonRemover removes batons.
type BatonRemover interface {
	Cancel(ctx context.Context, slot Slot) error
	Clear(ctx context.Context, k Key) error
}

// Lanes delivers running batons, lane by lane.
type Lanes interface {
	Lanes() int
	Lane(k Key) int
	Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*Delivery)) error
}

// HistoryWriter adds and drops records.
type HistoryWriter interface {
	Append(ctx context.Context, r *Record) error
	Forget(ctx context.Context, k Key) error
}

// HistoryReader reads records.
type HistoryReader interface {
	Recent(ctx context.Context, k Key, before uint64, outcomes []Outcome, f func(*Record) bool) error
	Follow(ctx context.Context, k Key, ready func(), f func(*Record)) error
}

// Delivery is a running baton in the hands of this process.
type Delivery struct {
	Slot       Slot
	Body       []byte
	Sequence   uint64    // of the message: what passing on expects to be the job's last
	Deliveries int       // 1 at the first delivery
	Fired      time.Time // when the message was stored
	Lease      Lease
}

// Lease answers for a delivered message. The server takes a message back when
// it hears nothing for ten seconds.
type Lease interface {
	Ack() error      // done with: remove it
	Touch() error    // still at work
	GiveBack() error // let another worker have it, at once
}
