package history

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/store/conn"
)

// auditStream is the stream of the audit log.
const auditStream = "AUDIT"

// Audit stores the audit log. It is safe for concurrent use.
type Audit struct {
	conn    *conn.Conn
	stream  jetstream.Stream
	entries *conn.Batcher // appends to stream
	sent    atomic.Bool   // entries were sent without waiting for acknowledgement
}

// NewAudit returns the audit log on a connection. It does no I/O.
func NewAudit(c *conn.Conn) *Audit { return &Audit{conn: c} }

// Open opens the stream of the audit log. Messages cannot be deleted from it. Purging must be prevented by
// permissions, because [conn.Conn.Check] sends each stream an empty purge.
func (s *Audit) Open(ctx context.Context) (err error) {
	s.stream, s.entries, err = s.conn.Batched(ctx, jetstream.StreamConfig{
		Name: s.conn.Config.Stream(auditStream), Description: "Carillon: who changed what",
		Subjects: []string{s.conn.Config.Prefix + ".audit.>"}, AllowDirect: true, DenyDelete: true,
		MaxAge: s.conn.Config.AuditAge, Duplicates: time.Second,
	})
	return err
}

// AppendEntry appends an entry to the audit log. It does not wait for the acknowledgement of a job edit, which would
// double the cost of the edit: the entry is stored before later messages, and a lost one is rebuilt from the job. If
// the server syncs every write, AppendEntry waits for all entries, because they share the sync.
func (s *Audit) AppendEntry(ctx context.Context, e *audit.Entry) error {
	data, err := e.Encode()
	if err != nil {
		return fmt.Errorf("audit record of %s: %w", e.Target(), err)
	}
	if e.Kind == audit.Job && e.Generation > 0 && !e.Rebuilt && !s.conn.Config.SyncAlways {
		s.sent.Store(true)
		return conn.Translate(s.conn.NC.Publish(s.entrySubject(e), data))
	}
	return s.entries.Append(ctx, s.entrySubject(e), data)
}

// settle waits until the entries that this process has sent are stored, so that reads see them. The stream handles
// messages in order, and rejects the one sent here because it expects another stream.
func (s *Audit) settle(ctx context.Context) error {
	if !s.sent.CompareAndSwap(true, false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, conn.PublishTimeout)
	defer cancel()
	m := nats.NewMsg(s.conn.Config.Prefix + ".audit." + string(audit.System) + ".settle")
	m.Header.Set(jetstream.ExpectedStreamHeader, "-")
	_, err := s.conn.NC.RequestMsgWithContext(ctx, m)
	if err != nil {
		s.sent.Store(true)
	}
	return conn.Translate(err)
}

// BeginEntry appends an entry to the audit log and returns its sequence.
func (s *Audit) BeginEntry(ctx context.Context, e *audit.Entry) (uint64, error) {
	data, err := e.Encode()
	if err != nil {
		return 0, fmt.Errorf("audit record of %s: %w", e.Target(), err)
	}
	return s.conn.Publish(ctx, s.conn.BareMessage(s.entrySubject(e), data))
}

// entrySubject returns the subject of an entry: carillon.audit.job.<collection>.<job>,
// carillon.audit.collection.<collection>, carillon.audit.source.<collection>.<name>, or carillon.audit.<kind>.<name>. The name
// of a view is a text, which a subject has in base64url.
func (s *Audit) entrySubject(e *audit.Entry) string {
	subject := s.conn.Config.Prefix + ".audit." + string(e.Kind) + "."
	switch e.Kind {
	case audit.Job:
		return subject + e.Collection + "." + e.Job
	case audit.Collection:
		return subject + e.Collection
	case audit.Source:
		return subject + e.Collection + "." + e.Name
	case audit.View:
		return subject + base64.RawURLEncoding.EncodeToString([]byte(e.Name))
	case audit.Secret, audit.Token, audit.Operation, audit.Failure, audit.System:
	}
	return subject + e.Name
}

// scopeSubjects returns the subject filters of a scope.
func (s *Audit) scopeSubjects(of audit.Scope) []string {
	all := s.conn.Config.Prefix + ".audit."
	job := all + string(audit.Job) + "." + of.Collection + "."
	whole := all + string(audit.Collection) + "." + of.Collection
	sources := all + string(audit.Source) + "." + of.Collection + ".*"
	switch {
	case of.Job != "":
		return []string{job + of.Job}
	case of.Collection != "" && of.Kind == audit.Job:
		return []string{job + "*"}
	case of.Collection != "" && of.Kind == audit.Collection:
		return []string{whole}
	case of.Collection != "" && of.Kind == audit.Source:
		return []string{sources}
	case of.Collection != "":
		return []string{job + "*", whole, sources}
	case of.Kind != "":
		return []string{all + string(of.Kind) + ".>"}
	}
	return []string{all + ">"}
}

// EndOf returns the final entry of an announced change, or nil.
func (s *Audit) EndOf(ctx context.Context, begun *audit.Entry) (end *audit.Entry, err error) {
	get := conn.DirectRequest{Filter: s.entrySubject(begun), From: begun.Sequence + 1, Batch: endBatch}
	err = s.conn.Onward(ctx, s.conn.Config.Stream(auditStream), get, func(m *jetstream.RawStreamMsg) bool {
		if e, err := audit.Decode(m.Sequence, m.Data); err == nil && e.Begun == begun.Sequence {
			end = e
		}
		return end == nil
	})
	return end, err
}

// endBatch is the number of entries read together by EndOf; the final entry usually follows directly.
const endBatch = 16

// LastEntries calls each for the last entry of each job in keys that has one. It takes one request for up to 1,024
// jobs.
func (s *Audit) LastEntries(ctx context.Context, keys []scheduler.Key, each func(*audit.Entry)) error {
	subjects := make([]string, len(keys))
	for i, k := range keys {
		subjects[i] = s.entrySubject(&audit.Entry{Kind: audit.Job, Collection: k.Collection, Job: k.Job})
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.conn.LastOf(ctx, s.conn.Config.Stream(auditStream), subjects, func(m *jetstream.RawStreamMsg) {
		if e, err := audit.Decode(m.Sequence, m.Data); err == nil {
			each(e)
		}
	})
}

// LastEntry returns the sequence of the last entry, 0 if none was ever stored.
func (s *Audit) LastEntry(ctx context.Context) (uint64, error) {
	if err := s.settle(ctx); err != nil {
		return 0, err
	}
	state, err := conn.State(ctx, s.stream)
	return state.LastSeq, err
}

// FirstEntry returns when the oldest retained entry was stored, or the zero time.
func (s *Audit) FirstEntry(ctx context.Context) (time.Time, error) {
	if err := s.settle(ctx); err != nil {
		return time.Time{}, err
	}
	state, err := conn.State(ctx, s.stream)
	if err != nil || state.Msgs == 0 {
		return time.Time{}, err
	}
	return state.FirstTime.UTC(), nil
}

// FollowEntries calls f for the entries in a scope after a sequence, and for new ones, in order, until ctx is done. It
// skips messages that are not entries. One call of f may still be in progress when FollowEntries returns.
func (s *Audit) FollowEntries(ctx context.Context, of audit.Scope, after uint64, f func(*audit.Entry)) error {
	return s.conn.Follow(ctx, auditStream, s.scopeSubjects(of), after, func(m *jetstream.RawStreamMsg) {
		if e, err := audit.Decode(m.Sequence, m.Data); err == nil {
			f(e)
		}
	})
}

// checkedKey is the settings key of the revision up to which the audit log is known to have all job edits.
const checkedKey = "audited"

// Checked returns the last revision up to which the audit log is known to have all job edits. scheduler.ErrNotFound if
// no check has run.
func (s *Audit) Checked(ctx context.Context) (uint64, error) {
	e, err := s.conn.Settings.Get(ctx, checkedKey)
	if err != nil {
		return 0, conn.Translate(err)
	}
	n, err := strconv.ParseUint(string(e.Value()), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: the setting %s is no revision: %w", scheduler.ErrNotFound, checkedKey, err)
	}
	return n, nil
}

// SetChecked sets that revision.
func (s *Audit) SetChecked(ctx context.Context, revision uint64) error {
	_, err := s.conn.Settings.Put(ctx, checkedKey, strconv.AppendUint(nil, revision, 10))
	return conn.Translate(err)
}

// RecentEntries calls f for the entries in a scope, newest first, starting before the given sequence (0: with the
// newest), until f returns false.
func (s *Audit) RecentEntries(ctx context.Context, of audit.Scope, before uint64, f func(*audit.Entry) bool) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	return backwards(ctx, s.conn, s.stream, s.scopeSubjects(of), before, of.Job != "", func(m *jetstream.RawStreamMsg) (bool, error) {
		e, err := audit.Decode(m.Sequence, m.Data)
		if err != nil {
			return true, nil //nolint:nilerr // skips an unreadable entry
		}
		return f(e), nil
	})
}
