package buckets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

// bucket stores values by name in a key-value bucket. Callers seal shared secrets and hash access tokens.
type bucket struct {
	store *Buckets
	name  string
	kv    jetstream.KeyValue
}

var _ scheduler.CheckedBucket = bucket{}

func (s *Buckets) bucket(name string) bucket { return bucket{s, name, s.opened[name]} }

// Collections returns the bucket of collection settings.
func (s *Buckets) Collections() scheduler.CheckedBucket { return s.bucket(collectionsBucket) }

// Secrets returns the bucket of shared secrets.
func (s *Buckets) Secrets() scheduler.Bucket { return s.bucket(secretsBucket) }

// Operations returns the bucket of bulk operations.
func (s *Buckets) Operations() scheduler.Bucket { return s.bucket(operationsBucket) }

// Listeners returns the bucket of what the triggers of jobs listen to, by <collection>.<job>.
func (s *Buckets) Listeners() scheduler.Bucket { return s.bucket(listenersBucket) }

// Sources returns the bucket of sources of events, by <collection>.<name>.
func (s *Buckets) Sources() scheduler.Bucket { return s.bucket(sourcesBucket) }

// Tokens returns the bucket of access token hashes.
func (s *Buckets) Tokens() scheduler.Bucket { return s.bucket(tokensBucket) }

// TokenLedger returns the bucket that authenticates the entries of Tokens (package tokens). It is in a separate
// stream.
func (s *Buckets) TokenLedger() scheduler.Bucket { return s.Settings() }

// Settings returns the bucket of what all processes share.
func (s *Buckets) Settings() scheduler.Bucket { return bucket{s, "settings", s.conn.Settings} }

// Load returns the current value. scheduler.ErrNotFound if it does not exist.
func (b bucket) Load(ctx context.Context, name string) (scheduler.Stored, error) {
	return entryOf(b.kv.Get(ctx, name))
}

// LoadAt returns a value at a revision. scheduler.ErrNotFound if that revision is not retained.
func (b bucket) LoadAt(ctx context.Context, name string, revision uint64) (scheduler.Stored, error) {
	return entryOf(b.kv.GetRevision(ctx, name, revision))
}

func entryOf(e jetstream.KeyValueEntry, err error) (scheduler.Stored, error) {
	if err != nil {
		return scheduler.Stored{}, conn.Translate(err)
	}
	return scheduler.Stored{Key: scheduler.Key{Job: e.Key()}, Revision: e.Revision(), Data: e.Value(), Written: e.Created()}, nil
}

// Save writes a value over the revision it replaces (0: it must not exist) and returns the new revision.
// scheduler.ErrConflict if the revision is stale.
func (b bucket) Save(ctx context.Context, name string, data []byte, replaces uint64) (uint64, error) {
	if replaces == 0 {
		rev, err := b.kv.Create(ctx, name, data)
		return rev, conn.Translate(err)
	}
	rev, err := b.kv.Update(ctx, name, data, replaces)
	return rev, conn.Translate(err)
}

// SaveAfter saves a value that depends on the other values in its bucket: check reads them, and the save fails with
// scheduler.ErrConflict if any of them has changed since. It also returns the errors of Save and check.
func (b bucket) SaveAfter(
	ctx context.Context, check func() error, name string, data []byte, replaces uint64,
) (uint64, error) {
	info, err := b.store.conn.Info(ctx, "KV_"+b.kv.Bucket())
	if err != nil {
		return 0, conn.Translate(err)
	}
	if err := check(); err != nil {
		return 0, err
	}
	m := b.store.conn.Message("$KV."+b.kv.Bucket()+"."+name, data)
	conn.SetHeader(m, jetstream.ExpectedLastSeqHeader, strconv.FormatUint(info.State.LastSeq, 10))
	if replaces > 0 {
		conn.SetHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(replaces, 10)) // skip the read, which may be stale
		return b.store.conn.Publish(ctx, m)
	}
	switch _, err := b.Load(ctx, name); { // a deleted value has a sequence as well
	case err == nil:
		return 0, fmt.Errorf("%s: %w: it is there", name, scheduler.ErrConflict)
	case !errors.Is(err, scheduler.ErrNotFound):
		return 0, err
	}
	return b.store.conn.Publish(ctx, m)
}

// Remove deletes a value at a revision. scheduler.ErrConflict if the revision is stale.
func (b bucket) Remove(ctx context.Context, name string, revision uint64) error {
	return conn.Translate(b.kv.Purge(ctx, name, jetstream.LastRevision(revision)))
}

// Each calls f for every value.
func (b bucket) Each(ctx context.Context, f func(scheduler.Stored) error) error {
	names, err := b.names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		st, err := b.Load(ctx, name)
		if errors.Is(err, scheduler.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f(st); err != nil {
			return err
		}
	}
	return nil
}

// Since passes the values that were written or removed after a revision, 0 for all, and returns the last revision. data is
// nil for a removed value. A last revision before after means that the bucket was restored.
func (b bucket) Since(
	ctx context.Context, after uint64, changed func(name string, revision uint64, data []byte),
) (last uint64, err error) {
	info, err := b.store.conn.Info(ctx, "KV_"+b.kv.Bucket())
	if err != nil {
		return 0, conn.Translate(err)
	}
	if last = info.State.LastSeq; last <= after {
		return last, nil
	}
	var resume []jetstream.WatchOpt
	if after > 0 {
		resume = append(resume, jetstream.ResumeFromRevision(after+1))
	}
	w, err := b.kv.WatchAll(ctx, resume...)
	if err != nil {
		return 0, conn.Translate(err)
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return 0, b.ended()
			case e == nil: // the end of the values
				return last, nil
			}
			changed(e.Key(), e.Revision(), valueOf(e))
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// valueOf returns nil for a removed value.
func valueOf(e jetstream.KeyValueEntry) []byte {
	if e.Operation() == jetstream.KeyValuePut {
		return e.Value()
	}
	return nil
}

func (b bucket) ended() error {
	return fmt.Errorf("%w: the watch of bucket %s ended", scheduler.ErrUnavailable, b.kv.Bucket())
}

// names returns the names of all values, and of recently deleted ones.
func (b bucket) names(ctx context.Context) ([]string, error) {
	st, err := b.store.bucketStream(ctx, b.name)
	if err != nil {
		return nil, err
	}
	prefix := "$KV." + b.kv.Bucket() + "."
	var names []string
	err = b.store.conn.Each(ctx, conn.Listing{Stream: st, Filter: prefix + ">", Whole: true}, func(subject string) error {
		names = append(names, strings.TrimPrefix(subject, prefix))
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// Watch calls changed for every current value and then for every change, until ctx is done. data is nil for a deleted
// value. It calls ready between the two. It returns scheduler.ErrUnavailable if it may have missed a change.
func (b bucket) Watch(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error {
	err := b.hear(ctx, ready, changed)
	if errors.Is(err, errDeaf) {
		b.store.deafTo(b.name, err)
		return b.follow(ctx, ready, changed)
	}
	return err
}

// follow implements [bucket.Watch] with a consumer. With options for updates only, it calls ready immediately. It ends
// after a reconnect, because the server may have lost the consumer and would then be silent.
func (b bucket) follow(
	ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte), updatesOnly ...jetstream.WatchOpt,
) error {
	nc := b.store.conn.NC
	back := nc.StatusChanged(nats.CONNECTED)
	defer nc.RemoveStatusListener(back)
	w, err := b.kv.WatchAll(ctx, updatesOnly...)
	if err != nil {
		return conn.Translate(err)
	}
	defer func() { _ = w.Stop() }()
	if len(updatesOnly) > 0 {
		ready()
	}
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return b.ended()
			case e == nil: // end of the initial values
				ready()
			default:
				changed(e.Key(), e.Revision(), valueOf(e))
			}
		case _, open := <-back:
			if !open {
				back = nil
				continue
			}
			return fmt.Errorf("%w: the connection was lost, and is back", scheduler.ErrUnavailable)
		case <-ctx.Done():
			return nil
		}
	}
}
