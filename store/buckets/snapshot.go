package buckets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

const (
	indexBucket  = "index"
	snapshotName = "jobs"
	originKey    = "origin" // of the metadata

	// snapshotAge is the age up to which a snapshot is valid: while all later deletions still have their markers.
	snapshotAge = markerAge - 5*time.Minute

	// snapshotTTL removes an invalid snapshot, and parts of one whose writer died.
	snapshotTTL = 2 * markerAge

	// snapshotPatience limits a read. The chunks may disappear when another process replaces the snapshot.
	snapshotPatience = time.Minute
)

// OpenSnapshot opens the object store of the snapshot, and creates it if necessary. It is optional: without it, every
// process builds its index from all definitions and batons.
func (s *Buckets) OpenSnapshot(ctx context.Context) error {
	bucket := s.conn.Config.Bucket(indexBucket)
	create := "$JS.API.STREAM.CREATE.OBJ_" + bucket
	opened, err := s.conn.JS.ObjectStore(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) && !s.conn.MayPublish(ctx, create) {
		err = errors.New("the NATS user may not publish to " + create)
	} else if errors.Is(err, jetstream.ErrBucketNotFound) {
		opened, err = s.conn.JS.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: bucket, Description: "Carillon: a snapshot of the search index", TTL: snapshotTTL,
			Replicas: s.conn.Replicas, Storage: s.conn.Config.Storage,
		})
	}
	if err == nil {
		s.snapshots, s.conn.SnapshotStream = opened, "OBJ_"+bucket
	} else if ctx.Err() == nil {
		s.DisableSnapshot(err.Error())
	}
	return context.Cause(ctx)
}

// DisableSnapshot stops the use of the snapshot until the process restarts, and logs why.
func (s *Buckets) DisableSnapshot(why string) {
	s.snapshots, s.conn.SnapshotStream = nil, ""
	s.conn.Config.Logger.Warn("the snapshot of the search index is off: searches stay slow for longer after a restart",
		"bucket", s.conn.Config.Bucket(indexBucket), "why", why)
}

// SnapshotSubject returns a subject that a snapshot is published to.
func (s *Buckets) SnapshotSubject() string { return "$O." + s.conn.Config.Bucket(indexBucket) + ".M.x" }

// origin is the state of the streams of definitions and batons when a snapshot was begun.
type origin struct {
	Taken   time.Time           `json:"taken"`
	Streams map[string]position `json:"streams"`
}

// position is the end of a stream.
type position struct {
	Created time.Time `json:"created"`
	At      time.Time `json:"at"` // of the last message
	Last    uint64    `json:"last"`
}

func (s *Buckets) origin(ctx context.Context) (origin, error) {
	o := origin{Taken: s.conn.Now(), Streams: map[string]position{}} //nolint:contextcheck // the clock is read for later calls
	for _, name := range s.conn.Opened {
		if name == "KV_"+s.conn.Config.Bucket(jobsBucket) || strings.HasPrefix(name, s.conn.Config.Stream("TIMERS_")) {
			info, err := s.conn.Info(ctx, name)
			if err != nil {
				return o, err
			}
			o.Streams[name] = position{info.Created, info.State.LastTime, info.State.LastSeq}
		}
	}
	return o, nil
}

// SaveSnapshot replaces the snapshot by what write writes. It does nothing if the stored one is younger, or without an
// object store.
func (s *Buckets) SaveSnapshot(ctx context.Context, younger time.Duration, write func(io.Writer) error) error {
	if s.snapshots == nil {
		return nil
	}
	if !s.conn.NC.IsConnected() {
		return fmt.Errorf("%w: not connected to NATS", scheduler.ErrUnavailable)
	}
	now, err := s.origin(ctx)
	if err != nil {
		return err
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if have, err := s.snapshots.GetInfo(ctx, snapshotName); err == nil {
		var was origin
		if json.Unmarshal([]byte(have.Metadata[originKey]), &was) == nil && now.Taken.Sub(was.Taken).Abs() < younger {
			return nil
		}
	}
	from, to := io.Pipe()
	var writing sync.WaitGroup
	writing.Go(func() { _ = to.CloseWithError(write(to)) }) // never fails
	meta := jetstream.ObjectMeta{Name: snapshotName, Metadata: map[string]string{originKey: string(data)}}
	_, err = s.snapshots.Put(ctx, meta, from)
	_ = from.CloseWithError(err) // ends write; never fails
	writing.Wait()
	return conn.Translate(err)
}

// LoadSnapshot calls read with the snapshot, if there is a valid one. It returns the error of read.
func (s *Buckets) LoadSnapshot(ctx context.Context, read func(io.Reader) error) error {
	if s.snapshots == nil {
		return fmt.Errorf("%w: the object store is off", scheduler.ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, snapshotPatience)
	defer cancel()
	object, err := s.snapshots.Get(ctx, snapshotName)
	if err != nil {
		return conn.Translate(err)
	}
	defer func() { _ = object.Close() }()
	info, err := object.Info()
	if err == nil {
		err = s.verify(ctx, info)
	}
	if err != nil {
		return conn.Translate(err)
	}
	return read(object)
}

// verify returns why a snapshot is invalid. A stream may have lost its last messages and reused their sequences.
func (s *Buckets) verify(ctx context.Context, info *jetstream.ObjectInfo) error {
	var was origin
	now, err := s.origin(ctx)
	if err := errors.Join(err, json.Unmarshal([]byte(info.Metadata[originKey]), &was)); err != nil {
		return err
	}
	if age := now.Taken.Sub(was.Taken); age.Abs() > snapshotAge || len(was.Streams) != len(now.Streams) {
		return fmt.Errorf("a snapshot: %w: it is %s old and of %d streams", scheduler.ErrNotFound, age, len(was.Streams))
	}
	for name, before := range was.Streams {
		after, since := now.Streams[name], before.At.Add(1)
		same := after.Created.Equal(before.Created) && after.Last >= before.Last
		err := s.conn.DirectGet(ctx, name, conn.DirectRequest{Since: &since, Batch: 1}, 1, func(m *jetstream.RawStreamMsg) bool {
			same = same && m.Sequence > before.Last
			return true
		}, func(*nats.Msg) {})
		if err != nil || !same {
			return errors.Join(fmt.Errorf("a snapshot: %w: stream %s was replaced", scheduler.ErrNotFound, name), err)
		}
	}
	return nil
}
