package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// SourceKeeper manages sources of events.
type SourceKeeper struct {
	shared *shared

	when scheduler.Condition // of every change
}

// RunningSources are the sources that processes run.
type RunningSources interface {
	// Find returns a source from memory, nil for none. If live is false, the source may have changed since.
	Find(k scheduler.Key) (s *source.Source, live bool)

	// Await waits a moment until Find returns this revision of a source or a later one.
	Await(ctx context.Context, k scheduler.Key, revision uint64)

	// Status returns the status of a source in all processes, and false if none runs it.
	Status(ctx context.Context, s *source.Source) (source.Status, bool)
}

// Known returns a source from the memory of this process. While that misses changes, it reads the store: the secret of a
// webhook may have been revoked. Otherwise, requests of unverified clients with any name cause no read, and it returns
// ErrNotFound also for a damaged source.
func (s SourceKeeper) Known(ctx context.Context, k scheduler.Key) (*source.Source, error) {
	if err := source.ValidateKey(k); err != nil {
		return nil, fmt.Errorf("%w: %w", scheduler.ErrNotFound, err)
	}
	if s.shared.Sources != nil {
		switch one, live := s.shared.Sources.Find(k); {
		case live && one != nil:
			return one, nil
		case live:
			return nil, noSource(k, scheduler.ErrNotFound)
		}
	}
	st, err := s.load(ctx, k)
	if err != nil {
		return nil, err
	}
	return source.Decode(k, st.Revision, st.Data, s.shared.Secrets)
}

// Serves reports whether the sources of a collection receive events: it exists and is not being deleted. Its jobs may be
// disabled: their events wait.
func (s SourceKeeper) Serves(ctx context.Context, collection string) bool {
	_, err := s.shared.changeable(ctx, collection)
	return err == nil
}

// SourceSecret returns the text of a secret of a source.
func (s SourceKeeper) SourceSecret(ctx context.Context, secret document.Secret) (string, error) {
	return s.shared.Secrets.Resolve(ctx, secret)
}

// PutSource creates or replaces a source. Its state stays if the document has none. Equal settings change nothing.
func (s SourceKeeper) PutSource(ctx context.Context, k scheduler.Key, body []byte) (*v1.Source, v1.Result, error) {
	return s.change(asking(ctx, "put"), k, body, func(_ *source.Source, doc document.Value) (*source.Source, error) {
		return source.Read(k, doc, s.check(ctx))
	})
}

// PatchSource merges a document into a source (RFC 7396). It returns ErrNotFound if the source does not exist.
func (s SourceKeeper) PatchSource(ctx context.Context, k scheduler.Key, body []byte) (*v1.Source, error) {
	v, _, err := s.change(asking(ctx, "patch"), k, body, func(cur *source.Source, patch document.Value) (*source.Source, error) {
		if cur == nil {
			return nil, noSource(k, scheduler.ErrNotFound)
		}
		return cur.Patched(patch, s.check(ctx))
	})
	return v, err
}

func (s SourceKeeper) check(ctx context.Context) source.Check {
	return func(o *document.Object, properties document.Value) error {
		return s.shared.Secrets.Check(ctx, o, properties)
	}
}

// noSource adds the name of a source to an error.
func noSource(k scheduler.Key, err error) error { return fmt.Errorf("source %s: %w", k, err) }

// change stores the result of edit, which receives the body, and nil if the source does not exist or cannot be read. After
// a conflicting change it calls edit again.
func (s SourceKeeper) change(
	ctx context.Context, k scheduler.Key, body []byte, edit func(*source.Source, document.Value) (*source.Source, error),
) (*v1.Source, v1.Result, error) {
	if err := source.ValidateKey(k); err != nil {
		return nil, "", err
	}
	doc, err := flow.Parse(ctx, body)
	if err != nil {
		return nil, "", err
	}
	for range casTries {
		if _, err := s.shared.changeable(ctx, k.Collection); err != nil {
			return nil, "", err
		}
		cur, revision, err := s.stored(ctx, k)
		if err == nil {
			err = s.meets(k, revision)
		}
		if err != nil {
			return nil, "", err
		}
		next, err := edit(cur, doc)
		if err == nil && revision == 0 {
			err = s.checkCount(ctx, k.Collection)
		}
		if err != nil {
			return nil, "", err
		}
		next = next.Replacing(cur, rand.Text(), s.shared.Store.Now().UTC())
		if cur != nil && next.Equals(cur) {
			return s.view(ctx, cur), v1.Unchanged, nil
		}
		result, err := s.write(ctx, cur, next, revision)
		if !errors.Is(err, scheduler.ErrConflict) {
			return s.view(ctx, next), result, err
		}
	}
	return nil, "", contended("source " + k.String())
}

// maxSources is the maximum number of sources in a collection. Each uses resources of all servers.
const maxSources = 100

// checkCount checks that a collection has room for another source. Concurrent requests can exceed the maximum slightly.
func (s SourceKeeper) checkCount(ctx context.Context, collection string) error {
	n, err := s.count(ctx, collection)
	if err == nil && n >= maxSources {
		err = fmt.Errorf("collection %s: %w: it has %d sources, at most %d are allowed: delete one, or use another collection",
			collection, scheduler.ErrConflict, n, maxSources)
	}
	return err
}

// meets checks the condition of a change of a source with a revision, 0 for none.
func (s SourceKeeper) meets(k scheduler.Key, revision uint64) error {
	return s.when.Check("source "+k.String(), (&source.Source{Revision: revision}).ETag())
}

// stored returns the stored source and its revision. A source that does not exist has the revision 0; one that cannot be
// read is nil.
func (s SourceKeeper) stored(ctx context.Context, k scheduler.Key) (*source.Source, uint64, error) {
	st, err := s.load(ctx, k)
	if err != nil {
		return nil, 0, scheduler.Ignore(err, scheduler.ErrNotFound)
	}
	cur, _ := source.Decode(k, st.Revision, st.Data, s.shared.Secrets) // a damaged source may be replaced
	return cur, st.Revision, nil
}

// write stores a source over a revision, 0 for a new one; cur is its previous form.
func (s SourceKeeper) write(ctx context.Context, cur, next *source.Source, replaces uint64) (v1.Result, error) {
	data, err := next.Encode(s.shared.Secrets)
	if err != nil {
		return "", err
	}
	e := s.entry(ctx, next.Key)
	e.OldRevision, e.State, e.UID, e.Result = replaces, next.State, next.UID, string(v1.Updated)
	if replaces == 0 {
		e.Result = string(v1.Created)
	}
	if cur != nil {
		e.Changed = document.ChangedPaths(cur.Settings(), next.Settings(), audit.MaxChanged)
	}
	err = s.shared.audited(ctx, e, func(e *audit.Entry) error {
		next.Revision, err = s.shared.Store.Sources().Save(ctx, source.StoredName(next.Key), data, replaces)
		if err == nil && replaces == 0 {
			err = s.unlessDeleted(ctx, next)
		}
		e.Revision = next.Revision
		return err
	})
	if err == nil && s.shared.Sources != nil {
		s.shared.Sources.Await(ctx, next.Key, next.Revision)
	}
	return v1.Result(e.Result), err
}

// unlessDeleted removes a new source if its collection has been deleted meanwhile.
func (s SourceKeeper) unlessDeleted(ctx context.Context, next *source.Source) error {
	st, err := s.shared.Store.Collections().Load(ctx, next.Key.Collection)
	if err == nil {
		c, failed := scheduler.DecodeCollection(next.Key.Collection, st.Revision, st.Data)
		if failed != nil || c.CheckKept() == nil {
			return nil //nolint:nilerr // a damaged collection is there
		}
		err = c.CheckKept()
	}
	return errors.Join(err, s.shared.Store.Sources().Remove(ctx, source.StoredName(next.Key), next.Revision))
}

func (s SourceKeeper) entry(ctx context.Context, k scheduler.Key) *audit.Entry {
	return &audit.Entry{Kind: audit.Source, Op: origin(ctx).Op, Collection: k.Collection, Name: k.Job}
}

// Source returns a source. If it is damaged, the result describes the damage. ErrNotFound if it does not exist.
func (s SourceKeeper) Source(ctx context.Context, k scheduler.Key) (*v1.Source, error) {
	st, err := s.load(ctx, k)
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, k, st), nil
}

func (s SourceKeeper) load(ctx context.Context, k scheduler.Key) (st scheduler.Stored, err error) {
	if err := source.ValidateKey(k); err != nil {
		return st, err
	}
	if st, err = s.shared.Store.Sources().Load(ctx, source.StoredName(k)); err != nil {
		err = noSource(k, err)
	}
	return st, err
}

// shown returns the view of a stored source, or of its damage.
func (s SourceKeeper) shown(ctx context.Context, k scheduler.Key, st scheduler.Stored) *v1.Source {
	one, err := source.Decode(k, st.Revision, st.Data, s.shared.Secrets)
	if err != nil {
		return &v1.Source{Source: &source.Source{Key: k, Revision: st.Revision, State: scheduler.Damaged}, Damage: err.Error()}
	}
	return s.view(ctx, one)
}

// view returns the view of a source with its status.
func (s SourceKeeper) view(ctx context.Context, one *source.Source) *v1.Source {
	v := &v1.Source{Source: one}
	if s.shared.Sources != nil && one.Enabled() {
		if status, ok := s.shared.Sources.Status(ctx, one); ok {
			v.Status = &status
		}
	}
	return v
}

// Sources returns the sources of a collection ("": all that sees accepts), by collection and name.
func (s SourceKeeper) Sources(ctx context.Context, collection string, sees func(collection string) bool) ([]*v1.Source, error) {
	if collection != "" {
		if err := s.shared.exists(ctx, collection); err != nil {
			return nil, err
		}
	}
	all := []*v1.Source{}
	err := s.each(ctx, collection, func(k scheduler.Key, st scheduler.Stored) error {
		if sees(k.Collection) {
			all = append(all, s.shown(ctx, k, st))
		}
		return nil
	})
	return all, err
}

// each calls f for the sources of a collection ("": all), by collection and name.
func (s SourceKeeper) each(ctx context.Context, collection string, f func(scheduler.Key, scheduler.Stored) error) error {
	return s.shared.Store.Sources().Each(ctx, func(st scheduler.Stored) error {
		k, err := source.StoredKey(st.Key.Job)
		if err != nil || collection != "" && k.Collection != collection {
			return nil //nolint:nilerr // an entry with another name is no source
		}
		return f(k, st)
	})
}

// DeleteSource deletes a source. Its stored events stay. ErrNotFound if it does not exist.
func (s SourceKeeper) DeleteSource(ctx context.Context, k scheduler.Key) error {
	st, err := s.load(ctx, k)
	if err == nil {
		err = s.meets(k, st.Revision)
	}
	if err != nil {
		return err
	}
	return s.remove(asking(ctx, "delete"), k, st)
}

func (s SourceKeeper) remove(ctx context.Context, k scheduler.Key, st scheduler.Stored) error {
	e := s.entry(ctx, k)
	e.Op, e.Result, e.OldRevision = "delete", "deleted", st.Revision
	err := s.shared.audited(ctx, e, func(*audit.Entry) error {
		return s.shared.Store.Sources().Remove(ctx, source.StoredName(k), st.Revision)
	})
	if err != nil {
		return noSource(k, err)
	}
	return nil
}

// clear deletes the sources of a collection that is being deleted.
func (s SourceKeeper) clear(ctx context.Context, collection string) error {
	return s.each(ctx, collection, func(k scheduler.Key, st scheduler.Stored) error {
		err := s.remove(ctx, k, st)
		return scheduler.Ignore(err, scheduler.ErrConflict, scheduler.ErrNotFound) // another process deletes it
	})
}

func (s SourceKeeper) count(ctx context.Context, collection string) (n int, err error) {
	err = s.each(ctx, collection, func(scheduler.Key, scheduler.Stored) error { n++; return nil })
	return n, err
}
