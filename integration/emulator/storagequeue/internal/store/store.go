package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// Config defines the storage.
type Config struct {
	// Dir is the folder of the file. Default: memory only.
	Dir string
	// Sync flushes every change to the disk before it is answered. Default false: a killed process loses nothing, a machine
	// that loses power may lose the last seconds.
	Sync bool
	// SnapshotAfter is the size in bytes of the changes after which a snapshot is due, see [wal.Config]. Default: 16
	// MiB.
	SnapshotAfter int64
	// AutoCreate makes a queue that a message operation names and that does not exist. Default false.
	AutoCreate bool
	// Logger receives errors outside requests. Default: discard.
	Logger *slog.Logger
}

// Errors that callers distinguish.
var (
	ErrNoQueue     = errors.New("no such queue")
	ErrQueueExists = errors.New("the queue exists with other metadata")
	ErrNoMessage   = errors.New("no such message")
	ErrReceipt     = errors.New("not the receipt of the message")
	ErrTooLate     = errors.New("the message expires before that")
)

// fileMagic begins the files of the log.
const fileMagic = "carillon storage queues 1\n"

// A Name identifies a queue.
type Name struct {
	Account, Queue string
}

// A Store is used by many goroutines at a time.
type Store struct {
	cfg Config
	log *wal.Log // nil: memory only

	mu        sync.Mutex
	accounts  map[string]*account
	arrivals  uint64
	latest    time.Time // of those that were passed in
	salvaging bool      // the log is being read, and was damaged up to here
}

type account struct {
	properties *wire.Properties // nil: the default
	queues     map[string]*queue
}

// Open returns a store with what its folder holds.
func Open(cfg Config) (*Store, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := &Store{cfg: cfg, accounts: map[string]*account{}}
	if cfg.Dir == "" {
		return s, nil
	}
	log, err := wal.Open(wal.Config{
		Dir: cfg.Dir, Magic: fileMagic, Sync: cfg.Sync, SnapshotAfter: cmp.Or(cfg.SnapshotAfter, 16<<20), Restore: s.restore,
		Replay: func(_ wal.Position, change []byte) error { return s.restore(change) },
		Damaged: func(e *wal.CorruptError) {
			s.salvaging = true
			cfg.Logger.Error("the log is damaged; what is not is kept", "err", e)
		},
	})
	if err != nil {
		return nil, err
	}
	s.log, s.salvaging = log, false
	s.rewrite(log.Next())
	return s, nil
}

// Close ends the use of the file. No other method may be running or be called after it; a second Close does nothing.
func (s *Store) Close() error {
	if s.log == nil {
		return nil
	}
	return s.log.Close()
}

// Failed is closed when nothing can be kept any more: a write failed, or the store is closed.
func (s *Store) Failed() <-chan struct{} {
	if s.log == nil {
		return nil
	}
	return s.log.Ended()
}

// Properties returns the settings of an account.
func (s *Store) Properties(name string) wire.Properties {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.properties(name)
}

func (s *Store) properties(name string) wire.Properties {
	if a := s.accounts[name]; a != nil && a.properties != nil {
		return *a.properties
	}
	return wire.DefaultProperties()
}

// ChangeProperties replaces the settings of an account by the result of f. f must not use the store.
func (s *Store) ChangeProperties(name string, f func(wire.Properties) (wire.Properties, error)) error {
	return s.change(func(note func(record)) error {
		properties, err := f(s.properties(name))
		if err != nil {
			return err
		}
		note(record{Op: opProperties, Account: name, Properties: &properties})
		return nil
	})
}

// A Queue describes a queue without its messages.
type Queue struct {
	Name     string
	Metadata map[string]string
	Policies []wire.Policy
	Messages int // visible or not
}

// Queue returns a queue.
func (s *Store) Queue(name Name, now time.Time) (Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.find(name)
	if q == nil {
		return Queue{}, ErrNoQueue
	}
	q.expire(s.settle(now))
	return Queue{Name: name.Queue, Metadata: q.metadata, Policies: q.policies, Messages: len(q.messages)}, nil
}

// Queues returns up to limit queues of an account with a name prefix, in order, from one name on, and the name
// of the next one, or "".
func (s *Store) Queues(name, prefix, from string, limit int) (page []Queue, next string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[name]
	if a == nil {
		return nil, ""
	}
	var names []string
	for queue := range a.queues {
		if strings.HasPrefix(queue, prefix) && queue >= from {
			names = append(names, queue)
		}
	}
	slices.Sort(names)
	if len(names) > limit {
		next = names[limit]
		names = names[:limit]
	}
	for _, queue := range names {
		page = append(page, Queue{Name: queue, Metadata: a.queues[queue].metadata})
	}
	return page, next
}

// CreateQueue makes a queue and reports whether it was not there. The metadata must be the same if it was, else [ErrQueueExists].
func (s *Store) CreateQueue(name Name, metadata map[string]string) (created bool, err error) {
	err = s.change(func(note func(record)) error {
		if q := s.find(name); q != nil {
			if !sameMetadata(q.metadata, metadata) {
				return ErrQueueExists
			}
			return nil
		}
		created = true
		note(record{Op: opQueue, Account: name.Account, Queue: name.Queue, Metadata: metadata})
		return nil
	})
	return created, err
}

// sameMetadata compares names without case.
func sameMetadata(a, b map[string]string) bool {
	lower := func(m map[string]string) map[string]string {
		values := make(map[string]string, len(m))
		for name, value := range m {
			values[strings.ToLower(name)] = value
		}
		return values
	}
	return maps.Equal(lower(a), lower(b))
}

// DeleteQueue removes a queue and its messages.
func (s *Store) DeleteQueue(name Name) error {
	return s.changeQueue(name, record{Op: opDrop})
}

// SetMetadata replaces the metadata of a queue.
func (s *Store) SetMetadata(name Name, metadata map[string]string) error {
	return s.changeQueue(name, record{Op: opMetadata, Metadata: metadata})
}

// SetPolicies replaces the access policies of a queue.
func (s *Store) SetPolicies(name Name, policies []wire.Policy) error {
	return s.changeQueue(name, record{Op: opPolicies, Policies: policies})
}

func (s *Store) changeQueue(name Name, r record) error {
	return s.change(func(note func(record)) error {
		if s.find(name) == nil {
			return ErrNoQueue
		}
		r.Account, r.Queue = name.Account, name.Queue
		note(r)
		return nil
	})
}

// maxOvertaking limits how far a call's time can be behind a concurrent call that got the lock first.
const maxOvertaking = time.Second

// settle returns the time of a call, not before earlier calls: otherwise an overtaken call would not see a
// message that was put in between. It follows a clock that was set back. The caller holds the lock.
func (s *Store) settle(now time.Time) time.Time {
	if behind := s.latest.Sub(now); behind <= 0 || behind > maxOvertaking {
		s.latest = now
	}
	return s.latest
}

// find returns a queue, or nil. The caller holds the lock.
func (s *Store) find(name Name) *queue {
	if a := s.accounts[name.Account]; a != nil {
		return a.queues[name.Queue]
	}
	return nil
}

// rewrite makes a snapshot, if one is due at a position.
func (s *Store) rewrite(position wal.Position) {
	if !s.log.Due(position) {
		return
	}
	s.mu.Lock()
	snapshot, err := s.log.Snapshot()
	if err != nil { // another call is at it, or nothing can be written any more
		s.mu.Unlock()
		return
	}
	records := s.snapshot()
	s.mu.Unlock()
	if err := snapshot.Done(addAll(snapshot, records)); err != nil {
		s.cfg.Logger.Warn("rewriting the log did not succeed", "err", err)
	}
}

func addAll(snapshot *wal.Snapshot, records []record) error {
	for i := range records {
		b, err := json.Marshal(&records[i])
		if err != nil {
			return err
		}
		if err := snapshot.Add(b); err != nil {
			return err
		}
	}
	return nil
}

// snapshot returns the records that lead to the present state. It is called with the lock held, so it copies and encodes nothing.
func (s *Store) snapshot() []record {
	var records []record
	for _, name := range slices.Sorted(maps.Keys(s.accounts)) {
		a := s.accounts[name]
		if a.properties != nil {
			records = append(records, record{Op: opProperties, Account: name, Properties: a.properties})
		}
		for _, queue := range slices.Sorted(maps.Keys(a.queues)) {
			q := a.queues[queue]
			records = append(records, record{Op: opQueue, Account: name, Queue: queue, Metadata: q.metadata})
			if q.policies != nil {
				records = append(records, record{Op: opPolicies, Account: name, Queue: queue, Policies: q.policies})
			}
			messages := slices.SortedFunc(maps.Values(q.messages), func(a, b *message) int {
				return cmp.Compare(a.arrival, b.arrival)
			})
			for _, m := range messages {
				records = append(records, record{Op: opPut, Account: name, Queue: queue, Message: new(m.Message)})
			}
		}
	}
	return records
}
