package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// A bucket tells its changes: its stream publishes the headers of every message
// that it stores again, to whoever listens. For the server that is much less work
// than a consumer, which reads behind every write. What is told may get lost, as
// any message of core NATS. But a stream numbers what it stores without gaps, so a
// loss shows at the next change, and when the stream is asked for its last one.

// The rhythm in which a listener asks for the last change.
const (
	// checkEvery is how long a loss may go unnoticed that nothing follows. In a
	// cluster, a leader may fall after it has stored and before it has told.
	checkEvery = 10 * time.Second

	// settling is how long the servers of a cluster need to tell each other who
	// listens, and the replicas of a stream to learn what was stored before.
	settling = time.Second

	// checkGrace is how long what was stored may be on its way.
	checkGrace = 2 * time.Second
)

// errDeaf says that the changes of a bucket cannot be heard, so that a consumer is
// needed to know of them.
var errDeaf = errors.New("the changes of the bucket cannot be heard")

// told is where the changes of a bucket are told, without the name of the value.
func (c Config) told(bucket string) string { return c.Prefix + ".changed." + bucket }

// tells is what lets the stream of a bucket tell its changes.
func (c Config) tells(bucket string) *jetstream.RePublish {
	return &jetstream.RePublish{
		Source: "$KV." + c.bucket(bucket) + ".>", Destination: c.told(bucket) + ".>", HeadersOnly: true,
	}
}

// change is what is told of a value: it was written, or deleted, or has expired.
type change struct {
	name     string
	revision uint64
}

// listener hears the changes of a bucket.
type listener struct {
	bucket string // "jobs"
	tell   func(change)

	end    context.CancelCauseFunc // of the listening
	ended  <-chan struct{}         // closed when that was called
	stands chan struct{}           // closed when created and base are known
	closed chan struct{}           // closed when nothing is told any more

	created time.Time     // when the stream was
	base    uint64        // the last change before it stood
	stored  atomic.Int64  // when the last known change was stored, in Unix nanoseconds
	last    atomic.Uint64 // the last known change
}

// listen calls tell for every change of a bucket, in their order, until ctx is done.
// It calls ready once, with the last change, when none after that goes unseen. An error that is scheduler.ErrUnavailable says that a
// change may have been missed, and [errDeaf] that none can be heard. It calls nothing
// after its return.
func (s *Store) listen(ctx context.Context, bucket string, ready func(last uint64), tell func(change)) error {
	listening, end := context.WithCancelCause(ctx)
	defer end(nil)
	l := &listener{
		bucket: bucket, tell: tell, end: end, ended: listening.Done(),
		stands: make(chan struct{}), closed: make(chan struct{}),
	}
	connection := s.nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer s.nc.RemoveStatusListener(connection)
	sub, err := s.nc.Subscribe(s.cfg.told(bucket)+".>", l.receive)
	if err != nil {
		return translate(err)
	}
	sub.SetClosedHandler(func(string) { close(l.closed) })
	slow := sub.StatusChanged(nats.SubscriptionSlowConsumer)
	defer l.stop(sub)
	if err := s.stand(listening, l, sub.Subject); err != nil {
		return ending(ctx, listening, err)
	}
	ready(l.last.Load())
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	for {
		select {
		case <-check.C:
			if err := s.check(listening, l); err != nil {
				end(err)
			}
		case <-slow:
			end(missed(l.bucket, "they came faster than they were taken in"))
		case <-connection: // the server may be another, and told nobody meanwhile
			end(missed(l.bucket, "the connection was lost"))
		case <-listening.Done():
			return ending(ctx, listening, nil)
		}
	}
}

// ending is what a watch ends with: nil when it was asked to, why it cannot go on, or what went wrong besides.
func ending(asked, watching context.Context, err error) error {
	switch {
	case asked.Err() != nil:
		return nil //nolint:nilerr // it is what was asked for
	case watching.Err() != nil:
		return context.Cause(watching)
	}
	return err
}

// stand makes sure that the listener is heard of, and finds out from where on.
func (s *Store) stand(ctx context.Context, l *listener, subject string) error {
	flush, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := s.nc.FlushWithContext(flush); err != nil {
		return translate(err)
	}
	if s.forbidden(subject) {
		return fmt.Errorf("%w: the NATS user may not subscribe to %s", errDeaf, subject)
	}
	st, err := s.bucketStream(ctx, l.bucket)
	if err != nil {
		return err
	}
	info := st.CachedInfo()
	if have, want := info.Config.RePublish, s.cfg.tells(l.bucket); have == nil || *have != *want {
		return fmt.Errorf("%w: stream %s does not publish them to %s", errDeaf, info.Config.Name, subject)
	}
	l.created, l.base = info.Created, info.State.LastSeq
	l.stored.Store(info.State.LastTime.UnixNano())
	l.last.Store(l.base)
	close(l.stands)
	if info.Cluster == nil || info.Cluster.Name == "" { // a server by itself
		return nil
	}
	pause(ctx, settling)
	return s.check(ctx, l)
}

// bucketStream returns the stream of a bucket, with what it says of itself now.
func (s *Store) bucketStream(ctx context.Context, bucket string) (jetstream.Stream, error) {
	st, err := s.js.Stream(ctx, "KV_"+s.cfg.bucket(bucket))
	return st, translate(err)
}

// check verifies that the bucket is still the same and has no change after the last known one. It gives the notification of a
// newer change a moment to arrive.
func (s *Store) check(ctx context.Context, l *listener) error {
	heard := l.last.Load()
	if s.unchanged(ctx, l, heard) {
		return nil
	}
	st, err := s.bucketStream(ctx, l.bucket)
	if err != nil {
		return err
	}
	info := st.CachedInfo()
	if !info.Created.Equal(l.created) || info.State.LastSeq < heard {
		return missed(l.bucket, "it is not the one that it was")
	}
	if info.State.LastSeq == heard {
		return nil
	}
	pause(ctx, checkGrace)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case l.last.Load() < info.State.LastSeq:
		return missed(l.bucket, "they were not told")
	}
	return nil
}

// unchanged reports whether the last known change is the last message of its bucket. It costs a fraction of what asking for
// the state of the stream does.
func (s *Store) unchanged(ctx context.Context, l *listener, heard uint64) bool {
	found, all, err := s.forward(ctx, "KV_"+s.cfg.bucket(l.bucket), anySubject, max(heard, 1), math.MaxInt64, 1)
	return err == nil && all && len(found) == 1 && found[0].Sequence == heard && found[0].Time.UnixNano() == l.stored.Load()
}

// missed is the error of a watch that may have missed changes.
func missed(bucket, why string) error {
	return fmt.Errorf("%w: changes of bucket %s may have been missed: %s", scheduler.ErrUnavailable, bucket, why)
}

// receive takes what is told, one after the other.
func (l *listener) receive(m *nats.Msg) {
	select {
	case <-l.stands:
	case <-l.ended:
	}
	select {
	case <-l.ended:
		return
	default:
	}
	revision, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	switch {
	case err == nil && revision == l.last.Load()+1:
	case err == nil && revision <= l.base:
		return // it was stored before
	default: // a gap; or a leader of the stream tells what another one has told
		l.end(missed(l.bucket, "one was not told"))
		return
	}
	l.tell(change{strings.TrimPrefix(m.Subject, strings.TrimSuffix(m.Sub.Subject, ">")), revision})
	if stored, err := time.Parse(time.RFC3339Nano, m.Header.Get(jetstream.TimeStampHeaer)); err == nil {
		l.stored.Store(stored.UnixNano())
	}
	l.last.Store(revision)
}

// stop ends the listening, and waits for what is being told.
func (l *listener) stop(sub *nats.Subscription) {
	l.end(nil)
	_ = sub.Unsubscribe() // it fails without connection, which ends it as well
	select {
	case <-l.stands:
		<-l.closed
	default: // nothing was told
	}
}

// deafTo tells the log, once, why a consumer is used to know of changes.
func (s *Store) deafTo(bucket string, err error) {
	if !s.deaf.has(bucket) {
		s.deaf.add(bucket)
		s.cfg.Logger.Warn("changes are read by a consumer, which costs the NATS server much more", "bucket", bucket, "err", err)
	}
}
