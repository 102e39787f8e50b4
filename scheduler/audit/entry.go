package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// Kind is the kind of object that was changed.
type Kind string

// The kinds of objects.
const (
	Job        Kind = "job"
	Collection Kind = "collection"
	Secret     Kind = "secret"
	Token      Kind = "token"
	Source     Kind = "source"    // of events
	Operation  Kind = "operation" // a bulk operation on jobs
	Failure    Kind = "failure"   // a group of failed attempts
	View       Kind = "view"      // a shared view of the console
	System     Kind = "system"    // the scheduler itself: repairs, key rotation
)

// Kinds lists all kinds.
var Kinds = []Kind{Job, Collection, Secret, Token, Source, Operation, Failure, View, System}

// Ops lists all operations.
var Ops = []string{
	"put", "patch", "delete", "enable", "disable", "pause", "run", "try", "resubmit", "replay",
	"create", "revoke", "rotate", "repair", "restore", "cancel", "acknowledge", "mute", "reopen",
}

// By is the verified identity of the caller.
type By struct {
	Name    string `json:"name,omitempty"`    // empty if the scheduler is open
	ID      string `json:"id,omitempty"`      // distinguishes callers with the same name; see access.Principal
	Via     string `json:"via,omitempty"`     // how it was verified: a Via constant of package auth; empty if unverified
	Address string `json:"address,omitempty"` // of the request's client
}

// String returns the identity for display.
func (b By) String() string {
	switch {
	case b.Name != "":
		return b.Name
	case b.Via != "":
		return b.Via
	}
	return "unknown"
}

// Entry describes one change.
type Entry struct {
	// Sequence is the entry's sequence in the stream; not part of the stored data.
	Sequence uint64 `json:"sequence,omitempty"`

	Time       time.Time `json:"time"` // of the change
	Kind       Kind      `json:"kind"`
	Op         string    `json:"op"`                   // one of [Ops]
	Collection string    `json:"collection,omitempty"` // of the job, or the changed collection
	Job        string    `json:"job,omitempty"`
	Name       string    `json:"name,omitempty"` // of the secret, token, source or view, the changed part of the system, or the target of a test run

	By    By     `json:"by,omitzero"`
	Claim string `json:"claim,omitempty"` // unverified identity that the caller states

	Result      string   `json:"result,omitempty"`      // created, updated, deleted or started; for a test run, completed or failed
	OldRevision uint64   `json:"oldRevision,omitempty"` // 0: none, or unknown
	Revision    uint64   `json:"revision,omitempty"`    // 0: none any more, or unknown
	Changed     []string `json:"changed,omitempty"`     // changed paths of an update, at most [MaxChanged]

	UID          string          `json:"uid,omitempty"`        // of the job
	Generation   int             `json:"generation,omitempty"` // of the job's edit
	State        scheduler.State `json:"state,omitempty"`      // of a job or collection after the change
	Occurrence   string          `json:"occurrence,omitempty"` // started by a manual run
	SpecSequence uint64          `json:"specSequence,omitempty"`

	Phase   Phase  `json:"phase,omitempty"`
	Begun   uint64 `json:"begun,omitempty"`   // sequence of the announcing entry
	Error   string `json:"error,omitempty"`   // API error code, if the announced change failed
	Rebuilt bool   `json:"rebuilt,omitempty"` // written later, because the process that made the change crashed
}

// Phase is the progress of a change that is announced before it is made.
type Phase string

// The phases. The zero value is a completed change.
const (
	Begun       Phase = "begun"       // announced, about to be made
	Interrupted Phase = "interrupted" // announced, without a final entry: may have been made; never stored
)

// MaxChanged is the maximum number of paths in an entry.
const MaxChanged = 64

// MaxText is the maximum length, in bytes, of a text that the caller chose.
const MaxText = 256

// Key returns the key of the job.
func (e *Entry) Key() scheduler.Key { return scheduler.Key{Collection: e.Collection, Job: e.Job} }

// Target returns the changed object for display: "partners/report", "collection partners", "secret api-key".
func (e *Entry) Target() string {
	switch e.Kind {
	case Job:
		return e.Key().String()
	case Collection:
		return "collection " + e.Collection
	case Source:
		return "source " + e.Collection + "/" + e.Name
	case Secret, Token, Operation, Failure, View, System:
	}
	return string(e.Kind) + " " + e.Name
}

// entrySize is the initial buffer size in bytes; most entries fit.
const entrySize = 384

// Encode returns the stored form of e, without its Sequence.
func (e *Entry) Encode() ([]byte, error) {
	if len(e.Changed) > 0 { // rare: worth no special encoding
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

// Decode decodes a stored entry.
func Decode(sequence uint64, data []byte) (*Entry, error) {
	e := &Entry{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("audit record %d: %w", sequence, err)
	}
	e.Sequence = sequence
	return e, nil
}

// Clip truncates text to [MaxText] bytes.
func Clip(text string) string { return scheduler.CutText(text, MaxText) }

// Scope selects entries. The zero value selects all.
type Scope struct {
	Kind       Kind   // "": all
	Collection string // "": all
	Job        string // requires Collection; "": the collection and its jobs
}

// Store keeps entries. Package store implements it. Errors match the sentinel errors of package scheduler.
type Store interface { //nolint:interfacebloat // all that the trail needs
	// AppendEntry appends an entry.
	AppendEntry(ctx context.Context, e *Entry) error

	// BeginEntry appends an entry and returns its sequence.
	BeginEntry(ctx context.Context, e *Entry) (uint64, error)

	// RecentEntries calls f for the entries in a scope, newest first, starting before the given sequence (0: with the
	// newest), until f returns false.
	RecentEntries(ctx context.Context, of Scope, before uint64, f func(*Entry) bool) error

	// EndOf returns the final entry of an announced change, or nil.
	EndOf(ctx context.Context, begun *Entry) (*Entry, error)

	// LastEntries calls each with the last entry of each job in keys that has one.
	LastEntries(ctx context.Context, keys []scheduler.Key, each func(*Entry)) error

	// LastEntry returns the sequence of the last entry, 0 if none was ever stored.
	LastEntry(ctx context.Context) (uint64, error)

	// FirstEntry returns when the oldest retained entry was stored, or the zero time.
	FirstEntry(ctx context.Context) (time.Time, error)

	// FollowEntries calls f for the entries in a scope after a sequence, and for new ones, until ctx is done.
	FollowEntries(ctx context.Context, of Scope, after uint64, f func(*Entry)) error

	// Checked returns the last revision up to which the audit log is known to have all edits. ErrNotFound if no check
	// has run.
	Checked(ctx context.Context) (uint64, error)

	// SetChecked sets that revision.
	SetChecked(ctx context.Context, revision uint64) error
}
