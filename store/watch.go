package store

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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
	stands := make(chan struct{})
	var listening sync.WaitGroup
	defer listening.Wait()
	defer end(nil)
	listening.Go(func() {
		end(b.store.listen(hearing, b.name, func(last uint64) { w.know(last); close(stands) }, w.owe))
	})
	select {
	case <-stands:
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
			pause(ctx, lagPause)
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
	stream := "KV_" + w.bucket.store.cfg.bucket(w.bucket.name)
	err = w.bucket.store.directGet(ctx, stream, directRequest{Subjects: subjects}, len(subjects), func(m *jetstream.RawStreamMsg) bool {
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
	return "$KV." + w.bucket.store.cfg.bucket(w.bucket.name) + "." + name
}

func (w *watch) nameOf(subject string) string { return strings.TrimPrefix(subject, w.subject("")) }
