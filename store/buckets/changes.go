package buckets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/failover"
)

// Intervals of a listener.
const (
	// checkEvery limits how long the loss of the last change stays undetected. In a cluster, a leader may fail between
	// storing a change and announcing it.
	checkEvery = 10 * time.Second

	// settling is the time for a cluster to propagate a subscription, and for replicas to catch up with earlier writes.
	settling = time.Second

	// checkGrace is the time for an announcement to arrive.
	checkGrace = 2 * time.Second
)

// errDeaf reports that a bucket's changes are not announced to this process, so it needs a consumer.
var errDeaf = errors.New("the changes of the bucket cannot be heard")

// change announces that a value was written, was deleted or has expired.
type change struct {
	name     string
	revision uint64
}

// listener receives the changes of a bucket.
type listener struct {
	bucket string // such as "jobs"
	notify func(change)

	end     context.CancelCauseFunc // cancels listening
	ended   <-chan struct{}         // closed when end has been called
	started chan struct{}           // closed when created and base are set
	closed  chan struct{}           // closed after the last call of notify

	created time.Time     // creation time of the stream
	base    uint64        // last change before the subscription
	stored  atomic.Int64  // timestamp of the last known change, in Unix nanoseconds
	last    atomic.Uint64 // last known change
}

// listen calls notify for every change of a bucket, in order, until ctx is done. It calls ready once, with the last
// change, when it can no longer miss a later one. It returns scheduler.ErrUnavailable if it may have missed a change,
// and [errDeaf] if it cannot receive changes. It makes no calls after it returns.
func (s *Buckets) listen(ctx context.Context, bucket string, ready func(last uint64), notify func(change)) error {
	listening, end := context.WithCancelCause(ctx)
	defer end(nil)
	l := &listener{
		bucket: bucket, notify: notify, end: end, ended: listening.Done(),
		started: make(chan struct{}), closed: make(chan struct{}),
	}
	connection := s.conn.NC.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer s.conn.NC.RemoveStatusListener(connection)
	sub, err := s.conn.NC.Subscribe(s.conn.Config.AnnouncementPrefix(bucket)+".>", l.receive)
	if err != nil {
		return conn.Translate(err)
	}
	sub.SetClosedHandler(func(string) { close(l.closed) })
	slow := sub.StatusChanged(nats.SubscriptionSlowConsumer)
	defer l.stop(sub)
	if err := s.start(listening, l, sub.Subject); err != nil {
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
			end(missed(l.bucket, "they came faster than they were read"))
		case <-connection: // it may be another server, and announcements in between are lost
			end(missed(l.bucket, "the connection was lost"))
		case <-listening.Done():
			return ending(ctx, listening, nil)
		}
	}
}

// ending returns the result of a watch: nil if its caller canceled it, else the cause of its cancellation, else err.
func ending(asked, watching context.Context, err error) error {
	switch {
	case asked.Err() != nil:
		return nil //nolint:nilerr // it is what was asked for
	case watching.Err() != nil:
		return context.Cause(watching)
	}
	return err
}

// start makes sure that the subscription is active, and records its starting point.
func (s *Buckets) start(ctx context.Context, l *listener, subject string) error {
	flush, cancel := context.WithTimeout(ctx, conn.PublishTimeout)
	defer cancel()
	if err := s.conn.NC.FlushWithContext(flush); err != nil {
		return conn.Translate(err)
	}
	if s.conn.Forbidden(subject) {
		return fmt.Errorf("%w: the NATS user may not subscribe to %s", errDeaf, subject)
	}
	st, err := s.bucketStream(ctx, l.bucket)
	if err != nil {
		return err
	}
	info := st.CachedInfo()
	if have, want := info.Config.RePublish, s.conn.Config.Republish(l.bucket); have == nil || *have != *want {
		return fmt.Errorf("%w: stream %s does not publish them to %s", errDeaf, info.Config.Name, subject)
	}
	l.created, l.base = info.Created, info.State.LastSeq
	l.stored.Store(info.State.LastTime.UnixNano())
	l.last.Store(l.base)
	close(l.started)
	if info.Cluster == nil || info.Cluster.Name == "" { // a standalone server
		return nil
	}
	failover.Pause(ctx, settling)
	return s.check(ctx, l)
}

// bucketStream returns the stream of a bucket with its current state.
func (s *Buckets) bucketStream(ctx context.Context, bucket string) (jetstream.Stream, error) {
	st, err := s.conn.JS.Stream(ctx, "KV_"+s.conn.Config.Bucket(bucket))
	return st, conn.Translate(err)
}

// check verifies that the bucket is still the same and has no change after the last known one. It gives the
// announcement of a newer change time to arrive.
func (s *Buckets) check(ctx context.Context, l *listener) error {
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
		return missed(l.bucket, "the bucket was replaced")
	}
	if info.State.LastSeq == heard {
		return nil
	}
	failover.Pause(ctx, checkGrace)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case l.last.Load() < info.State.LastSeq:
		return missed(l.bucket, "the announcements of its changes did not arrive")
	}
	return nil
}

// unchanged reports whether the last known change is the last message of its bucket. It costs a fraction of a stream
// info request.
func (s *Buckets) unchanged(ctx context.Context, l *listener, heard uint64) bool {
	found, all, err := s.conn.Forward(ctx, "KV_"+s.conn.Config.Bucket(l.bucket), conn.AnySubject, max(heard, 1), math.MaxInt64, 1)
	return err == nil && all && len(found) == 1 && found[0].Sequence == heard && found[0].Time.UnixNano() == l.stored.Load()
}

// missed returns the error of a watch that may have missed changes.
func missed(bucket, why string) error {
	return fmt.Errorf("%w: changes of bucket %s may have been missed: %s", scheduler.ErrUnavailable, bucket, why)
}

// receive handles one announcement.
func (l *listener) receive(m *nats.Msg) {
	select {
	case <-l.started:
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
		return // stored before the subscription
	default: // a gap, or a new stream leader repeats an announcement
		l.end(missed(l.bucket, "one was not told"))
		return
	}
	l.notify(change{strings.TrimPrefix(m.Subject, strings.TrimSuffix(m.Sub.Subject, ">")), revision})
	if stored, err := time.Parse(time.RFC3339Nano, m.Header.Get(jetstream.TimeStampHeaer)); err == nil {
		l.stored.Store(stored.UnixNano())
	}
	l.last.Store(revision)
}

// stop cancels listening and waits for the last call of notify.
func (l *listener) stop(sub *nats.Subscription) {
	l.end(nil)
	_ = sub.Unsubscribe() // fails only without a connection, which also ends the subscription
	select {
	case <-l.started:
		<-l.closed
	default: // notify was never called
	}
}

// deafTo logs, once per bucket, why a consumer is used.
func (s *Buckets) deafTo(bucket string, err error) {
	if _, logged := s.deaf.LoadOrStore(bucket, true); !logged {
		s.conn.Config.Logger.Warn("changes are read by a consumer, which costs the NATS server much more", "bucket", bucket, "err", err)
	}
}

// watch reads the changed values of a bucket.
type watch struct {
	bucket  bucket
	changed func(name string, revision uint64, data []byte)

	wake chan struct{} // owed is not empty
	mu   sync.Mutex
	owed map[string]bool // names of values to read
	last uint64          // last known change; reads must not be older
}

const (
	// valuesAtOnce is the number of values per request. The server accepts up to 1,024.
	valuesAtOnce = 256

	// lagPause is the pause before the values are requested again from a lagging replica, or from another one.
	lagPause = 20 * time.Millisecond
)

// hear implements [bucket.Watch] with announcements.
func (b bucket) hear(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error {
	hearing, end := context.WithCancelCause(ctx)
	w := &watch{bucket: b, changed: changed, wake: make(chan struct{}, 1), owed: map[string]bool{}}
	started := make(chan struct{})
	var listening sync.WaitGroup
	defer listening.Wait()
	defer end(nil)
	listening.Go(func() {
		end(b.store.listen(hearing, b.name, func(last uint64) { w.know(last); close(started) }, w.owe))
	})
	select {
	case <-started:
	case <-hearing.Done():
		return ending(ctx, hearing, nil)
	}
	if err := w.all(hearing); err != nil {
		return ending(ctx, hearing, err)
	}
	ready()
	for {
		select {
		case <-w.wake:
			if err := w.read(hearing); err != nil {
				return ending(ctx, hearing, err)
			}
		case <-hearing.Done():
			return ending(ctx, hearing, nil)
		}
	}
}

// know records the last change.
func (w *watch) know(last uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = max(w.last, last)
}

// owe records a change.
func (w *watch) owe(c change) {
	w.mu.Lock()
	w.owed[c.name] = true
	w.last = max(w.last, c.revision)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// all reads every value.
func (w *watch) all(ctx context.Context) error {
	names, err := w.bucket.names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		w.owe(change{name: name})
	}
	return w.read(ctx)
}

// read reads the values in owed.
func (w *watch) read(ctx context.Context) error {
	for {
		names, last := w.take()
		if len(names) == 0 {
			return nil
		}
		for patience := time.Now().Add(checkGrace); ; {
			lags, err := w.load(ctx, names, last)
			if err != nil {
				return err
			}
			if !lags {
				break
			}
			if time.Now().After(patience) {
				return missed(w.bucket.name, "a replica of its stream lags behind")
			}
			failover.Pause(ctx, lagPause)
		}
	}
}

// take removes and returns some names from owed, and the last known change.
func (w *watch) take() (names []string, last uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.owed {
		if len(names) == valuesAtOnce {
			break
		}
		names = append(names, name)
		delete(w.owed, name)
	}
	return names, w.last
}

// load reads values in one request and calls changed for them. It returns true, without any calls, if the answering
// replica does not have the last known change.
func (w *watch) load(ctx context.Context, names []string, last uint64) (lags bool, err error) {
	subjects, gone := make([]string, len(names)), make(map[string]bool, len(names))
	for i, name := range names {
		subjects[i], gone[name] = w.subject(name), true
	}
	var (
		found []*jetstream.RawStreamMsg
		knows uint64 // last change in the replica
		more  bool   // the answer was too large and is incomplete
	)
	c, get := w.bucket.store.conn, conn.DirectRequest{Subjects: subjects}
	err = c.DirectGet(ctx, "KV_"+c.Config.Bucket(w.bucket.name), get, len(subjects), func(m *jetstream.RawStreamMsg) bool {
		found = append(found, m)
		return true
	}, func(end *nats.Msg) {
		knows, _ = strconv.ParseUint(end.Header.Get("Nats-UpTo-Sequence"), 10, 64) // absent if none of the values exists
		more = len(found) > 0 && end.Header.Get("Nats-Num-Pending") != "0"
	})
	if err != nil || knows < last {
		return err == nil, err
	}
	for _, m := range found {
		name := w.nameOf(m.Subject)
		delete(gone, name)
		if isMarker(m.Header) {
			m.Data = nil
		}
		w.changed(name, m.Sequence, m.Data)
	}
	for name := range gone {
		if more {
			w.owe(change{name: name})
		} else {
			w.changed(name, knows, nil)
		}
	}
	return false, nil
}

func (w *watch) subject(name string) string {
	return "$KV." + w.bucket.store.conn.Config.Bucket(w.bucket.name) + "." + name
}

func (w *watch) nameOf(subject string) string { return strings.TrimPrefix(subject, w.subject("")) }
