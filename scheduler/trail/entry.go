package trail

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// Kind is the kind of what was changed.
type Kind string

// The kinds.
const (
	Job        Kind = "job"
	Collection Kind = "collection"
	Secret     Kind = "secret"
	Token      Kind = "token"
	Operation  Kind = "operation" // on many jobs
	System     Kind = "system"    // the scheduler itself: repairs, rotation of keys
)

// Kinds are all kinds.
var Kinds = []Kind{Job, Collection, Secret, Token, Operation, System}

// Ops are all that may have been done to them.
var Ops = []string{
	"put", "patch", "delete", "enable", "disable", "pause", "run", "try", "resubmit",
	"create", "revoke", "rotate", "repair", "restore", "cancel",
}

// By is who made a change, as far as that is certain.
type By struct {
	Name    string `json:"name,omitempty"`    // "" when anybody might have
	ID      string `json:"id,omitempty"`      // what tells it from others of its name: see access.Principal
	Via     string `json:"via,omitempty"`     // how it was found out: one of the Via constants of package access; "" when it was not
	Address string `json:"address,omitempty"` // where the request came from
}

// String tells who it was, for people.
func (b By) String() string {
	switch {
	case b.Name != "":
		return b.Name
	case b.Via != "":
		return b.Via
	}
	return "unknown"
}

// Entry is what the trail keeps of one change.
type Entry struct {
	// Sequence is its place in the trail. It is not stored with it.
	Sequence uint64 `json:"sequence,omitempty"`

	Time       time.Time `json:"time"` // of the change
	Kind       Kind      `json:"kind"`
	Op         string    `json:"op"`                   // one of Ops
	Collection string    `json:"collection,omitempty"` // of a job, or the collection itself
	Job        string    `json:"job,omitempty"`
	Name       string    `json:"name,omitempty"` // of a secret or a token, what of the system was changed, or where the trial of a job went

	By    By     `json:"by,omitzero"`
	Claim string `json:"claim,omitempty"` // who the caller said it was, unchecked

	Result      string   `json:"result,omitempty"`      // created, updated, deleted, started; of a trial completed or failed
	OldRevision uint64   `json:"oldRevision,omitempty"` // 0: there was none, or it is not known
	Revision    uint64   `json:"revision,omitempty"`    // 0: there is none any more, or it is not known
	Changed     []string `json:"changed,omitempty"`     // where an update changed something, [MaxChanged] paths at most

	UID          string          `json:"uid,omitempty"`        // of the job
	Generation   int             `json:"generation,omitempty"` // of the edit of the job
	State        scheduler.State `json:"state,omitempty"`      // of a job or collection after the change
	Occurrence   string          `json:"occurrence,omitempty"` // that a run by hand has started
	SpecSequence uint64          `json:"specSequence,omitempty"`

	Phase   Phase  `json:"phase,omitempty"`
	Begun   uint64 `json:"begun,omitempty"`   // Sequence of the entry that announced it
	Error   string `json:"error,omitempty"`   // why it was refused after all: an error code of the API
	Rebuilt bool   `json:"rebuilt,omitempty"` // written later, because the process that made the change ended before
}

// Phase is how far a change has come that is announced before it is done.
type Phase string

// The phases. The zero one is that of a change that was made.
const (
	Begun       Phase = "begun"       // it is about to be done
	Interrupted Phase = "interrupted" // it was begun, and there is no end: it may have been done. No entry is stored so
)

// MaxChanged is how many paths an entry has at most.
const MaxChanged = 64

// MaxText is how many bytes of a text an entry keeps that its caller has chosen.
const MaxText = 256

// Key returns which job it is of.
func (e *Entry) Key() scheduler.Key { return scheduler.Key{Collection: e.Collection, Job: e.Job} }

// Target returns what was changed, for people: "partners/report", "collection partners", "secret api-key".
func (e *Entry) Target() string {
	switch e.Kind {
	case Job:
		return e.Key().String()
	case Collection:
		return "collection " + e.Collection
	case Secret, Token, Operation, System:
	}
	return string(e.Kind) + " " + e.Name
}

// entrySize is how many bytes most entries take, or fewer.
const entrySize = 384

// Encode returns the entry as it is stored. Its Sequence is not: that is where it is stored.
func (e *Entry) Encode() ([]byte, error) {
	if len(e.Changed) > 0 { // of few entries, and written the common way
		stored := *e
		stored.Sequence = 0
		return json.Marshal(&stored)
	}
	w := plainjson.NewWriter(entrySize)
	w.Time("time", &e.Time)
	w.Text("kind", (*string)(&e.Kind))
	w.Text("op", &e.Op)
	w.OptText("collection", &e.Collection)
	w.OptText("job", &e.Job)
	w.OptText("name", &e.Name)
	by, _ := w.OptBegin("by")
	w.OptText("name", &e.By.Name)
	w.OptText("id", &e.By.ID)
	w.OptText("via", &e.By.Via)
	w.OptText("address", &e.By.Address)
	w.OptEnd(by)
	w.OptText("claim", &e.Claim)
	w.OptText("result", &e.Result)
	w.OptUint("oldRevision", &e.OldRevision)
	w.OptUint("revision", &e.Revision)
	w.OptText("uid", &e.UID)
	w.OptInt("generation", &e.Generation)
	w.OptText("state", (*string)(&e.State))
	w.OptText("occurrence", &e.Occurrence)
	w.OptUint("specSequence", &e.SpecSequence)
	w.OptText("phase", (*string)(&e.Phase))
	w.OptUint("begun", &e.Begun)
	w.OptText("error", &e.Error)
	w.OptTrue("rebuilt", &e.Rebuilt)
	return w.Bytes()
}

// Decode reads a stored entry.
func Decode(sequence uint64, data []byte) (*Entry, error) {
	e := &Entry{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("audit record %d: %w", sequence, err)
	}
	e.Sequence = sequence
	return e, nil
}

// Clip shortens a text that a caller has chosen.
func Clip(text string) string {
	if len(text) <= MaxText {
		return text
	}
	return strings.ToValidUTF8(text[:MaxText], "")
}

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
