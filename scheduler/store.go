package scheduler

import (
	"context"
	"time"
)

// Slot is a place for one baton: a job's own, or that of a detached run beside it.
type Slot struct {
	Key

	Detached string // [DetachedName]; "" for the job's own baton
}

// Stored is a value of the store with its revision (a baton's sequence). That of
// a [Bucket] has its name in Key.Job.
type Stored struct {
	Key          Key
	Revision     uint64
	Data         []byte
	SpecSequence uint64 // of a deleted job, whose Revision is that of its marker: the spec that deleted it
}

// Store is what the scheduler needs of a durable store. Package store implements
// it on JetStream. Errors match the sentinels of this package; each method there
// says which come when.
//
// It is an interface because a crash is one: a test lets a process die between
// two of its calls.
type Store interface { //nolint:interfacebloat // the sum of its parts
	Jobs
	Batons
	History

	// Collections keeps the settings of collections, by name.
	Collections() CheckedBucket

	// Secrets keeps shared secrets by name, as sealed as it gets them.
	Secrets() Bucket

	// Operations keeps operations on many jobs by ID, for 7 days after their last change.
	Operations() Bucket
}

// Jobs keeps definitions. They are written by compare-and-set.
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

// JobEnd is the final form of a job, to be written over a revision.
type JobEnd struct {
	Key      Key
	Data     []byte
	Replaces uint64
	Ended    time.Time
}

// Bucket keeps values by name. They are written by compare-and-set.
type Bucket interface { //nolint:interfacebloat // all that named values need
	Load(ctx context.Context, name string) (Stored, error)
	Save(ctx context.Context, name string, data []byte, replaces uint64) (uint64, error)
	Remove(ctx context.Context, name string, revision uint64) error
	Each(ctx context.Context, f func(Stored) error) error
	Watch(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error
}

// CheckedBucket is a bucket with values that depend on each other: what is saved after a check is saved only if nothing in
// the bucket has changed since.
type CheckedBucket interface {
	Bucket
	// LoadAt returns a value as it was at a revision. [ErrNotFound] when that is not kept.
	LoadAt(ctx context.Context, name string, revision uint64) (Stored, error)
	SaveAfter(ctx context.Context, check func() error, name string, data []byte, replaces uint64) (uint64, error)
}

// Batons keeps batons, lane by lane, and delivers those that are due. Every move
// is one atomic message.
type Batons interface { //nolint:interfacebloat // every move of a baton
	Waiting(ctx context.Context, slot Slot) (Stored, error)
	Running(ctx context.Context, slot Slot) (Stored, error)
	FindBatons(ctx context.Context, keys []Key, found func(st Stored, running bool)) error
	EachBaton(ctx context.Context, lane int, f func(slot Slot, waiting bool) error) error
	EachStoredBaton(ctx context.Context, lane int, f func(st Stored, waiting bool) error) error
	AnyBaton(ctx context.Context, k Key) (*Stored, error)
	EachDetached(ctx context.Context, k Key, found func(slot Slot, st Stored, running bool)) error
	Stranded(ctx context.Context, lane int) ([]Stranded, error)

	Arm(ctx context.Context, slot Slot, body []byte, at time.Time, waiting uint64) error
	Fire(ctx context.Context, slot Slot, body []byte, waiting uint64) error
	PassOn(ctx context.Context, slot Slot, body []byte, at time.Time, running uint64) error
	Cancel(ctx context.Context, slot Slot, waiting uint64) error
	Discard(ctx context.Context, slot Slot, sequence uint64) error
	Clear(ctx context.Context, k Key, of func(*Baton) bool) error

	Lanes() int
	Waits() bool          // for the disk, at every write
	Now() time.Time       // by the clock that jobs are due by
	Ahead() time.Duration // how much sooner than by a single server batons are to be fired
	Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*Delivery)) error
}

// History keeps records.
type History interface { //nolint:interfacebloat // all that records need
	Append(ctx context.Context, r *Record) error
	Forget(ctx context.Context, k Key, through uint64) error
	Recent(ctx context.Context, k Key, before uint64, outcomes []Outcome, f func(*Record) bool) error
	Newest(ctx context.Context, k Key, outcomes []Outcome, f func(*Record) bool) error // all that are stored, in a cluster too
	LastRecords(ctx context.Context, keys []Key, outcomes []Outcome, each func(*Record)) error
	HistorySpan(ctx context.Context) (HistorySpan, error)
	RecordsSince(ctx context.Context, k Key, since time.Time, f func(*Record) bool) error
	RecordsFrom(ctx context.Context, k Key, from uint64, f func(*Record) bool) error
	Kept(ctx context.Context, k Key) (since time.Time, err error)
	Follow(ctx context.Context, k Key, after uint64, f func(*Record)) error
}

// HistorySpan is what there is of a history.
type HistorySpan struct {
	First   uint64 // the sequence of the first record that is kept; Last + 1 when there is none
	Last    uint64 // that of the last one there ever was; 0: there was none yet
	Records uint64 // how many are kept
	PerJob  int64  // how many are, at most, of each job and outcome; not positive: no bound
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

// Lease answers for a delivered message. The store renews it until one of these
// was called, so that the server does not take a living worker for a dead one.
type Lease interface { //nolint:interfacebloat // all that becomes of a message
	Ack() error                    // done with: remove it
	Nak(after time.Duration) error // let another worker have it, at once (0) or after a while

	// Stands is asked before an action begins. False says that another
	// process may have the message: this one was stalled, or cut off, for
	// longer than the others wait. Then the message is forgotten, and the
	// lease dropped after that: it may come again at once.
	Stands() bool
	Drop()

	// Yield is called, instead of the others and while it is delivered, for a
	// message that is known in this process already. Whoever has it answers for
	// it, or has just done so: nothing of this delivery is renewed.
	Yield()
}

// PublishedSpec is a job spec that someone published for the scheduler to take
// in, as it came.
type PublishedSpec struct {
	Verb      string // such as put, or any other word
	Name      string // <collection>.<job> when it is well formed
	Body      []byte
	Header    map[string][]string // what came beside it; nil for nothing
	Sequence  uint64              // its place among all published specs
	Published time.Time           // when it was stored

	// Deliveries is 1 at the first delivery. More say that a process ended,
	// or gave it back, while it had the spec.
	Deliveries int

	Lease Lease
}

// Load is how much there is to do in a store, for all processes together.
type Load struct {
	Lanes []LaneLoad // in their order
	Specs int        // published specs that are not done with
}

// LaneLoad is how much there is to do in one lane.
type LaneLoad struct {
	Waiting int // batons whose timers have yet to fire
	Running int // batons that have fired: some are with workers, and of these some wait for their exact instant
	Pending int // of these, those that no worker has been given yet
}
