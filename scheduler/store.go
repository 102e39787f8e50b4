package scheduler

import (
	"context"
	"io"
	"time"
)

// BatonKey is the place of one baton: the job's own baton, or the baton of a detached run.
type BatonKey struct {
	Key

	Detached string // [DetachedName]; "" for the job's own baton
}

// Stored is a stored value with its revision (a baton's sequence). A value of a [Bucket] has its name in Key.Job.
type Stored struct {
	Key          Key
	Revision     uint64
	Data         []byte
	SpecSequence uint64 // of a deleted job: the spec that deleted it; Revision is then the revision of the delete marker

	// Written is when a definition from [Jobs].EachJobFrom, or a value of a bucket, was stored.
	Written time.Time

	// FiresAt is when the server fires a waiting baton from [Batons].Waiting or FindBatons.
	FiresAt time.Time
}

// The time around FiresAt in which the server may be firing a baton.
const (
	// firingMargin exceeds the tolerated difference between the clocks of the server that fires batons and of
	// [Batons].Now.
	firingMargin = 150 * time.Millisecond

	// firingLast exceeds the time that the server needs for the batons of a large herd. A baton that is older has not
	// fired because the server's clock was set.
	firingLast = 30 * time.Second
)

// MayFire reports whether the server may be firing a waiting baton. Firing has two steps: the server copies the message,
// and a moment later stores the copy as running and purges the waiting subject. A baton published between the two steps
// is lost, even if its expected sequence matched.
func (st Stored) MayFire(now time.Time) bool {
	late := now.Sub(st.FiresAt)
	return !st.FiresAt.IsZero() && late >= -firingMargin && late < firingLast
}

// Store is the scheduler's durable store. Package store implements it on JetStream. Errors match the sentinels of this
// package; the methods of package store document them.
//
// It is an interface so that tests can kill a process between two of its calls.
type Store interface { //nolint:interfacebloat // the sum of its parts
	Jobs
	Batons
	History
	Events
	Snapshots

	// Collections stores the settings of collections, by name.
	Collections() CheckedBucket

	// Secrets stores sealed shared secrets, by name.
	Secrets() Bucket

	// Listeners stores what the triggers of jobs listen to, by <collection>.<job>. The definition of a job decides; a
	// listener is stored before the definition, so that no event is missed.
	Listeners() Bucket

	// Sources stores sources of events, by <collection>.<name>; see package source.
	Sources() Bucket

	// Settings stores what all processes share, by name.
	Settings() Bucket

	// Operations stores operations on many jobs by ID, and the marks of failure groups, for 7 days after their last change.
	Operations() Bucket
}

// Jobs stores definitions. Writes use compare-and-set.
type Jobs interface { //nolint:interfacebloat // all that definitions need
	LoadJob(ctx context.Context, k Key) (Stored, error)
	LoadJobAt(ctx context.Context, k Key, revision uint64) (Stored, error)
	LoadJobAsOf(ctx context.Context, k Key, at time.Time) (Stored, error)
	LastRevision(ctx context.Context) (uint64, error)
	LoadJobs(ctx context.Context, keys []Key, each func(Stored)) error
	EachJob(ctx context.Context, collection string, f func(Key) error) error
	EachKnownJob(ctx context.Context, f func(k Key, deleted bool) error) error
	EachStoredJob(ctx context.Context, f func(Stored) error) error
	EachJobFrom(ctx context.Context, from uint64, f func(st Stored, deleted bool) error) error
	SaveJob(ctx context.Context, k Key, data []byte, replaces uint64, final bool) (uint64, error)
	EndJobs(ctx context.Context, jobs []JobEnd) []error
	RewriteJob(ctx context.Context, k Key, data []byte, replaces uint64, final bool) (uint64, error)
	RemoveJob(ctx context.Context, k Key, revision, specSequence uint64) error
	WatchJobs(ctx context.Context, ready func(), changed func(k Key, revision uint64)) error
}

// JobEnd is the final form of a job, which replaces a revision.
type JobEnd struct {
	Key      Key
	Data     []byte
	Replaces uint64
	Ended    time.Time
}

// Bucket stores values by name. Writes use compare-and-set.
type Bucket interface { //nolint:interfacebloat // all that named values need
	Load(ctx context.Context, name string) (Stored, error)
	Save(ctx context.Context, name string, data []byte, replaces uint64) (uint64, error)
	Remove(ctx context.Context, name string, revision uint64) error
	Each(ctx context.Context, f func(Stored) error) error
	Watch(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error
	// Since passes the values that were written or removed after a revision, and returns the last revision.
	Since(ctx context.Context, after uint64, changed func(name string, revision uint64, data []byte)) (last uint64, err error)
}

// CheckedBucket is a bucket with values that depend on each other: a save after a check succeeds only if nothing in the
// bucket has changed since.
type CheckedBucket interface {
	Bucket
	// LoadAt returns a value at a revision, or [ErrNotFound] if that is no longer stored.
	LoadAt(ctx context.Context, name string, revision uint64) (Stored, error)
	SaveAfter(ctx context.Context, check func() error, name string, data []byte, replaces uint64) (uint64, error)
}

// FoundBaton receives a baton, which waits or is with a worker.
type FoundBaton = func(slot BatonKey, st Stored, running bool)

// Batons stores batons by lane and delivers those that are due. Every move is one atomic message.
type Batons interface { //nolint:interfacebloat // every move of a baton
	Waiting(ctx context.Context, slot BatonKey) (Stored, error)
	Running(ctx context.Context, slot BatonKey) (Stored, error)
	FindBatons(ctx context.Context, keys []Key, found func(st Stored, running bool)) error
	EachBaton(ctx context.Context, lane int, f func(slot BatonKey, waiting bool) error) error
	EachStoredBaton(ctx context.Context, lane int, after uint64, f func(slot BatonKey, st Stored, waiting bool) error) error
	FindSlots(ctx context.Context, slots []BatonKey, found FoundBaton) error
	FindDetached(ctx context.Context, keys []Key, found FoundBaton) error
	SomeDetached(ctx context.Context, k Key, found FoundBaton) error
	Undelivered(ctx context.Context, lane int) ([]UndeliveredBaton, error)

	ScheduleAt(ctx context.Context, slot BatonKey, body []byte, at time.Time, waiting uint64) error
	Fire(ctx context.Context, slot BatonKey, body []byte, waiting uint64) error
	PublishOnce(ctx context.Context, slot BatonKey, body []byte, at time.Time, id string) error
	Reschedule(ctx context.Context, slot BatonKey, body []byte, at time.Time, running uint64) error
	Cancel(ctx context.Context, slot BatonKey, waiting uint64) error
	Discard(ctx context.Context, slot BatonKey, sequence uint64) error
	Clear(ctx context.Context, k Key, of func(*Baton) bool) error

	Lanes() int
	Waits() bool          // syncs every write to disk
	Now() time.Time       // the clock for due times
	Ahead() time.Duration // how much earlier than on a single server to fire batons
	Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*Delivery)) error
}

// Snapshots stores one snapshot of the search index, which all processes share.
type Snapshots interface {
	// SaveSnapshot replaces the snapshot by the bytes that write writes, unless the stored one is younger. Without an
	// object store, it does nothing.
	SaveSnapshot(ctx context.Context, younger time.Duration, write func(io.Writer) error) error

	// LoadSnapshot calls read with a valid snapshot, and returns its error. Without one, the error is [ErrNotFound] or
	// [ErrUnavailable].
	LoadSnapshot(ctx context.Context, read func(io.Reader) error) error
}

// History stores records.
type History interface { //nolint:interfacebloat // all that records need
	Append(ctx context.Context, r *Record) error
	Forget(ctx context.Context, k Key, through uint64) error
	Recent(ctx context.Context, k Key, before uint64, outcomes []Outcome, f func(*Record) bool) error
	Newest(ctx context.Context, k Key, outcomes []Outcome, f func(*Record) bool) error // all stored records, in a cluster too
	LastRecords(ctx context.Context, keys []Key, outcomes []Outcome, each func(*Record)) error
	HistorySpan(ctx context.Context) (HistorySpan, error)
	RecordsAt(ctx context.Context, sequences []uint64) ([]*Record, error) // those that are stored
	RecordsSince(ctx context.Context, k Key, since time.Time, f func(*Record) bool) error
	RecordsFrom(ctx context.Context, k Key, from uint64, f func(*Record) bool) error
	Kept(ctx context.Context, k Key) (since time.Time, err error)
	Follow(ctx context.Context, k Key, after uint64, f func(*Record)) error
}

// Events stores published events, and delivers them and the records of the history.
type Events interface { //nolint:interfacebloat // all that events need
	PublishEvent(ctx context.Context, t Topic, header map[string][]string, body []byte) (sequence uint64, duplicate bool, err error)
	EventAt(ctx context.Context, sequence uint64) (*Event, error)
	RecentEvents(ctx context.Context, t Topic, before uint64, f func(*Event) bool) error
	DeliverEvents(ctx context.Context, wake <-chan struct{}, room func() int, take func(DeliveredEvent)) error
	DeliverRecords(ctx context.Context, since time.Time, wake <-chan struct{}, room func() int, take func(DeliveredEvent)) error
	CloseRecords(ctx context.Context) error
}

// DeliveredEvent is an event held by this process.
type DeliveredEvent struct {
	Event      *Event
	Err        error // it cannot be decoded
	Deliveries int   // 1 at the first delivery
	Lease      Lease
}

// HistorySpan describes the stored records of a history.
type HistorySpan struct {
	First   uint64 // sequence of the first stored record; Last + 1 if none
	Last    uint64 // sequence of the last record ever stored; 0: none
	Records uint64 // number of stored records
}

// Delivery is a running baton held by this process.
type Delivery struct {
	BatonKey   BatonKey
	Body       []byte
	Sequence   uint64    // of the message; passing on expects it to be the job's last
	Deliveries int       // 1 at the first delivery
	Fired      time.Time // time of storage of the message
	Lease      Lease
}

// Lease settles a delivered message. Until a method does so, the store renews the lease, so that the server does not
// redeliver the message of a live worker.
type Lease interface { //nolint:interfacebloat // all that becomes of a message
	Ack() error                    // remove the message
	Nak(after time.Duration) error // release it to another worker, immediately (0) or after a delay

	// Stands is called before an action begins. It returns false if this process was stalled or disconnected for longer
	// than the ack timeout, so that another process may have the message. The caller then forgets the message and calls
	// Drop, after which it may be redelivered immediately.
	Stands() bool
	Drop()

	// Yield is called instead of the other methods, during the delivery, for a message that this process already holds
	// or has just settled. This delivery's lease is not renewed.
	Yield()
}

// PublishedSpec is a published job spec, as it was received.
type PublishedSpec struct {
	Verb      string // such as put; unvalidated
	Name      string // <collection>.<job> if well-formed
	Body      []byte
	Header    map[string][]string // message headers; nil for none
	Sequence  uint64              // position among all published specs
	Published time.Time           // time of storage

	// Deliveries is 1 at the first delivery. A higher number means that a process ended, or released the spec, while it
	// had it.
	Deliveries int

	Lease Lease
}

// Load is the backlog of a store, for all processes together.
type Load struct {
	Lanes []LaneLoad // in order
	Specs int        // published specs that are not processed

	Events int // published events that are not matched
}

// LaneLoad is the backlog of one lane.
type LaneLoad struct {
	Waiting int // batons whose timers have not fired
	Running int // batons that have fired, including those that workers hold until their due time
	Pending int // running batons that no worker has received yet
}
