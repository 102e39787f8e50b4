package trail

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Scope says of what entries are wanted. The zero one is of everything.
type Scope struct {
	Kind       Kind   // "": all
	Collection string // "": all
	Job        string // with Collection; "": the collection's jobs, and itself
}

// Store keeps entries. Package store implements it. Errors match the sentinels of package scheduler.
type Store interface { //nolint:interfacebloat // all that the trail needs
	// AppendEntry stores an entry.
	AppendEntry(ctx context.Context, e *Entry) error

	// BeginEntry stores one and returns its sequence.
	BeginEntry(ctx context.Context, e *Entry) (uint64, error)

	// RecentEntries calls f for the entries of a scope, newest first, from the one before a sequence on (0: from the
	// newest), until it returns false.
	RecentEntries(ctx context.Context, of Scope, before uint64, f func(*Entry) bool) error

	// EndOf looks for the entry that ends the one that was begun; nil when there is none.
	EndOf(ctx context.Context, begun *Entry) (*Entry, error)

	// LastEntries calls each for the last entry of each of these jobs that has one.
	LastEntries(ctx context.Context, keys []scheduler.Key, each func(*Entry)) error

	// LastEntry returns the sequence of the last entry, 0 when there was none yet.
	LastEntry(ctx context.Context) (uint64, error)

	// FirstEntry returns when the first entry was stored that is kept, the zero time when there is none.
	FirstEntry(ctx context.Context) (time.Time, error)

	// FollowEntries calls f for every entry of a scope after a sequence, as they come, until ctx is done.
	FollowEntries(ctx context.Context, of Scope, after uint64, f func(*Entry)) error

	Marks
}

// Marks is what looking after the trail needs.
type Marks interface {
	// WrittenJobs calls f for every stored revision of a job after a revision, in their order, until it returns false.
	// One whose Data is nil says that the job was deleted, or has expired.
	WrittenJobs(ctx context.Context, after uint64, f func(Written) bool) error

	// Checked returns the revision up to which all edits are known to be in the trail; ErrNotFound when that was never
	// looked at.
	Checked(ctx context.Context) (uint64, error)

	// SetChecked says so.
	SetChecked(ctx context.Context, revision uint64) error
}

// Written is a revision of a job as it was stored.
type Written struct {
	scheduler.Stored

	At time.Time // when it was stored
}
