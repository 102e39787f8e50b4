package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
)

var _ audit.Store = (*Store)(nil)

// auditStream is the stream of the audit log.
const auditStream = "AUDIT"

// openTrail opens the stream of the audit log. Messages cannot be deleted from it. Purging must be prevented by
// permissions, because [Store.Check] sends each stream an empty purge.
func (s *Store) openTrail(ctx context.Context) (err error) {
	s.trail, s.entries, err = s.batched(ctx, jetstream.StreamConfig{
		Name: s.cfg.stream(auditStream), Description: "Carillon: who changed what",
		Subjects: []string{s.cfg.Prefix + ".audit.>"}, AllowDirect: true, DenyDelete: true,
		MaxAge: s.cfg.AuditAge, Duplicates: time.Second,
	})
	return err
}

// AppendEntry appends an entry to the audit log. It does not wait for the acknowledgement of a job edit, which would
// double the cost of the edit: the entry is stored before later messages, and a lost one is rebuilt from the job. If
// the server syncs every write, AppendEntry waits for all entries, because they share the sync.
func (s *Store) AppendEntry(ctx context.Context, e *audit.Entry) error {
	data, err := e.Encode()
	if err != nil {
		return fmt.Errorf("audit record of %s: %w", e.Target(), err)
	}
	if e.Kind == audit.Job && e.Generation > 0 && !e.Rebuilt && !s.Waits() {
		s.trailSent.Store(true)
		return translate(s.nc.Publish(s.entrySubject(e), data))
	}
	return s.entries.append(ctx, s.entrySubject(e), data)
}

// settleTrail waits until the entries that this process has sent are stored, so that reads see them. The stream handles
// messages in order, and rejects the one sent here because it expects another stream.
func (s *Store) settleTrail(ctx context.Context) error {
	if !s.trailSent.CompareAndSwap(true, false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	m := nats.NewMsg(s.cfg.Prefix + ".audit." + string(audit.System) + ".settle")
	m.Header.Set(jetstream.ExpectedStreamHeader, "-")
	_, err := s.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		s.trailSent.Store(true)
	}
	return translate(err)
}

// BeginEntry appends an entry to the audit log and returns its sequence.
func (s *Store) BeginEntry(ctx context.Context, e *audit.Entry) (uint64, error) {
	data, err := e.Encode()
	if err != nil {
		return 0, fmt.Errorf("audit record of %s: %w", e.Target(), err)
	}
	return s.publish(ctx, s.bareMessage(s.entrySubject(e), data))
}

// entrySubject returns the subject of an entry: carillon.audit.job.<collection>.<job>,
// carillon.audit.collection.<collection>, or carillon.audit.<kind>.<name>.
func (s *Store) entrySubject(e *audit.Entry) string {
	subject := s.cfg.Prefix + ".audit." + string(e.Kind) + "."
	switch e.Kind {
	case audit.Job:
		return subject + e.Collection + "." + e.Job
	case audit.Collection:
		return subject + e.Collection
	case audit.Secret, audit.Token, audit.Operation, audit.System:
	}
	return subject + e.Name
}

// scopeSubjects returns the subject filters of a scope.
func (s *Store) scopeSubjects(of audit.Scope) []string {
	all := s.cfg.Prefix + ".audit."
	job := all + string(audit.Job) + "." + of.Collection + "."
	whole := all + string(audit.Collection) + "." + of.Collection
	switch {
	case of.Job != "":
		return []string{job + of.Job}
	case of.Collection != "" && of.Kind == audit.Job:
		return []string{job + "*"}
	case of.Collection != "" && of.Kind == audit.Collection:
		return []string{whole}
	case of.Collection != "":
		return []string{job + "*", whole}
	case of.Kind != "":
		return []string{all + string(of.Kind) + ".>"}
	}
	return []string{all + ">"}
}

// EndOf returns the final entry of an announced change, or nil.
func (s *Store) EndOf(ctx context.Context, begun *audit.Entry) (*audit.Entry, error) {
	for from := begun.Sequence + 1; ; {
		info, err := s.trail.Info(ctx)
		if err != nil {
			return nil, translate(err)
		}
		found, all, err := s.forward(ctx, s.cfg.stream(auditStream), s.entrySubject(begun), from, info.State.LastSeq+1, endBatch)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			if e, err := audit.Decode(m.Sequence, m.Data); err == nil && e.Begun == begun.Sequence {
				return e, nil
			}
		}
		if all || len(found) == 0 {
			return nil, nil //nolint:nilnil // absence is an answer
		}
		from = found[len(found)-1].Sequence + 1
	}
}

// endBatch is the number of entries read together by EndOf; the final entry usually follows directly.
const endBatch = 16

// LastEntries calls each for the last entry of each job in keys that has one. It takes one request for up to 1,024
// jobs.
func (s *Store) LastEntries(ctx context.Context, keys []scheduler.Key, each func(*audit.Entry)) error {
	subjects := make([]string, len(keys))
	for i, k := range keys {
		subjects[i] = s.entrySubject(&audit.Entry{Kind: audit.Job, Collection: k.Collection, Job: k.Job})
	}
	if err := s.settleTrail(ctx); err != nil {
		return err
	}
	return s.lastOf(ctx, s.cfg.stream(auditStream), subjects, 0, func(m *jetstream.RawStreamMsg) {
		if e, err := audit.Decode(m.Sequence, m.Data); err == nil {
			each(e)
		}
	})
}

// LastEntry returns the sequence of the last entry, 0 if none was ever stored.
func (s *Store) LastEntry(ctx context.Context) (uint64, error) {
	if err := s.settleTrail(ctx); err != nil {
		return 0, err
	}
	info, err := s.trail.Info(ctx)
	if err != nil {
		return 0, translate(err)
	}
	return info.State.LastSeq, nil
}

// FirstEntry returns when the oldest retained entry was stored, or the zero time.
func (s *Store) FirstEntry(ctx context.Context) (time.Time, error) {
	if err := s.settleTrail(ctx); err != nil {
		return time.Time{}, err
	}
	info, err := s.trail.Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return time.Time{}, translate(err)
	}
	return info.State.FirstTime.UTC(), nil
}

// FollowEntries calls f for the entries in a scope after a sequence, and for new ones, in order, until ctx is done. It
// skips messages that are not entries. One call of f may still be in progress when FollowEntries returns.
func (s *Store) FollowEntries(ctx context.Context, of audit.Scope, after uint64, f func(*audit.Entry)) error {
	return s.follow(ctx, auditStream, s.scopeSubjects(of), after, func(m *jetstream.RawStreamMsg) {
		if e, err := audit.Decode(m.Sequence, m.Data); err == nil {
			f(e)
		}
	})
}

// checkedKey is the settings key of the revision up to which the audit log is known to have all job edits.
const checkedKey = "audited"

// Checked returns the last revision up to which the audit log is known to have all job edits. scheduler.ErrNotFound if
// no check has run.
func (s *Store) Checked(ctx context.Context) (uint64, error) {
	e, err := s.settings.Get(ctx, checkedKey)
	if err != nil {
		return 0, translate(err)
	}
	n, err := strconv.ParseUint(string(e.Value()), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: the setting %s is no revision: %w", scheduler.ErrNotFound, checkedKey, err)
	}
	return n, nil
}

// SetChecked sets that revision.
func (s *Store) SetChecked(ctx context.Context, revision uint64) error {
	_, err := s.settings.Put(ctx, checkedKey, strconv.AppendUint(nil, revision, 10))
	return translate(err)
}

// writtenBatch is the number of revisions per request.
const writtenBatch = 256

// WrittenJobs calls f for every stored revision of a job after the given revision, in order, until f returns false.
// Data is nil if the job was deleted or has expired.
func (s *Store) WrittenJobs(ctx context.Context, after uint64, f func(audit.Written) bool) error {
	stream := "KV_" + s.cfg.bucket(jobsBucket)
	last, err := s.LastRevision(ctx)
	if err != nil {
		return err
	}
	for from := after + 1; from <= last; {
		found, all, err := s.forward(ctx, stream, "$KV."+s.cfg.bucket(jobsBucket)+".>", from, last+1, writtenBatch)
		if err != nil {
			return err
		}
		for _, m := range found {
			k, ok := s.jobKey(m.Subject)
			if !ok {
				continue
			}
			st, err := stored(k, m)
			if errors.Is(err, scheduler.ErrNotFound) {
				st.Data = nil
			}
			if !f(audit.Written{Stored: st, At: m.Time}) {
				return nil
			}
		}
		if all || len(found) == 0 {
			return nil
		}
		from = found[len(found)-1].Sequence + 1
	}
	return nil
}

// RecentEntries calls f for the entries in a scope, newest first, starting before the given sequence (0: with the
// newest), until f returns false.
func (s *Store) RecentEntries(ctx context.Context, of audit.Scope, before uint64, f func(*audit.Entry) bool) error {
	if err := s.settleTrail(ctx); err != nil {
		return err
	}
	info, err := s.trail.Info(ctx)
	if err != nil {
		return translate(err)
	}
	end := info.State.LastSeq + 1
	if before > 0 {
		end = min(end, before)
	}
	scan := backwards{store: s, stream: s.cfg.stream(auditStream), first: max(info.State.FirstSeq, 1), width: firstWidth}
	return scan.each(ctx, s.scopeSubjects(of), end, func(m *jetstream.RawStreamMsg) (bool, error) {
		e, err := audit.Decode(m.Sequence, m.Data)
		if err != nil {
			return true, nil //nolint:nilerr // an entry that cannot be read is left out
		}
		return f(e), nil
	})
}
