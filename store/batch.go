package store

import (
	"context"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// form is how several messages are stored with one acknowledgement (NATS ADR-50).
type form int

const (
	// formSingle: each message has its own.
	formSingle form = iota
	// formFast: the server stores each message as it comes, and acknowledges the last.
	formFast
	// formAtomic: the server stores all or none. It writes them twice, but waits
	// for the disk once.
	formAtomic
)

// formOf returns the form in which a stream's messages are stored together. A
// server that waits for the disk does so for each message of a fast batch.
func formOf(stream jetstream.StreamConfig, waits bool) form {
	switch {
	case waits && stream.AllowAtomicPublish:
		return formAtomic
	case stream.AllowBatchPublish && !waits:
		return formFast
	}
	return formSingle
}

// allowBatches lets a stream that an earlier version has made, or an earlier
// server, take batches. Where that fails it goes on without.
func (s *Store) allowBatches(ctx context.Context, st jetstream.Stream, want jetstream.StreamConfig) jetstream.Stream {
	have := st.CachedInfo().Config
	if (have.AllowBatchPublish || !want.AllowBatchPublish) && (have.AllowAtomicPublish || !want.AllowAtomicPublish) {
		return st
	}
	have.AllowBatchPublish = have.AllowBatchPublish || want.AllowBatchPublish
	have.AllowAtomicPublish = have.AllowAtomicPublish || want.AllowAtomicPublish
	changed, err := s.js.UpdateStream(ctx, have)
	if err != nil {
		s.cfg.Logger.Warn("a stream takes no batches; its messages are stored one by one", "stream", have.Name, "err", err)
		return st
	}
	return changed
}

// The bounds of a group.
const (
	// groupLight is how many messages are sent by themselves at a time. Company
	// pays only for those beyond.
	groupLight = 16
	// groupMost keeps the first of a group from waiting for long.
	groupMost = 512
	// groupFast is the least for which one acknowledgement pays, where two belong
	// to a batch: that of its begin is the other.
	groupFast = 4
	// groupAtomic is the least that is cheaper than a wait for the disk for each:
	// an atomic batch costs the server a directory and some files.
	groupAtomic = 8
)

// batchLevel is the JetStream API level of fast batches (nats-server 2.14).
const batchLevel = 4

// batcher stores the messages of many goroutines in one stream, for which no
// conditions hold. A few are sent at once, and those that come while these are
// under way are sent together when the first is stored, and so on: nobody waits
// for company, and the more there is to do, the less an acknowledgement costs.
type batcher struct {
	store *Store

	mu      sync.Mutex
	form    form
	singles int      // messages under way by themselves
	grouped bool     // a group is under way
	queue   []*entry // what waits for them
}

// entry is a message in a queue or a group. It is not used again: a group that has
// failed may still be sending it.
type entry struct {
	subject string
	data    []byte
	gone    bool         // nobody waits for it any more; under the batcher's lock
	outcome chan outcome // takes one without blocking
}

// outcome is what became of an entry.
type outcome struct {
	alone bool // it was not stored, and is to be sent by itself
	err   error
}

// headerMost is more than the headers of a message in a batch take.
const headerMost = 512

// append stores a message. The error is translated.
func (b *batcher) append(ctx context.Context, subject string, data []byte) error {
	long := int64(len(data)) > b.store.nc.MaxPayload()-headerMost
	b.mu.Lock()
	if b.form == formSingle || long {
		b.mu.Unlock()
		return b.single(ctx, subject, data)
	}
	if !b.grouped && b.singles < groupLight {
		b.singles++
		b.mu.Unlock()
		defer b.next(func() { b.singles-- })
		return b.single(ctx, subject, data)
	}
	e := &entry{subject: subject, data: data, outcome: make(chan outcome, 1)}
	b.queue = append(b.queue, e)
	b.mu.Unlock()
	select {
	case o := <-e.outcome:
		if o.alone {
			return b.single(ctx, subject, data)
		}
		return translate(b.store.suspect(o.err))
	case <-ctx.Done():
		b.mu.Lock()
		e.gone = true
		b.mu.Unlock()
		return context.Cause(ctx)
	}
}

func (b *batcher) single(ctx context.Context, subject string, data []byte) error {
	_, err := b.store.publish(ctx, b.store.bareMessage(subject, data))
	return err
}

// next sends what waits, unless a group is under way. ended says what has ended,
// under the lock.
func (b *batcher) next(ended func()) {
	b.mu.Lock()
	ended()
	if b.grouped || len(b.queue) == 0 {
		b.mu.Unlock()
		return
	}
	least := groupFast
	if b.form == formAtomic {
		least = groupAtomic
	}
	b.queue = slices.DeleteFunc(b.queue, func(e *entry) bool { return e.gone })
	n := min(len(b.queue), groupMost)
	g := &group{batcher: b, form: b.form, entries: slices.Clone(b.queue[:n])}
	b.queue = slices.Delete(b.queue, 0, n)
	b.grouped = b.form != formSingle && n >= least
	together := b.grouped
	b.mu.Unlock()
	if together {
		g.send()
	} else {
		settle(g.entries, outcome{alone: true})
	}
}

// alone has all messages sent by themselves from now on.
func (b *batcher) alone() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.form = formSingle
}

func settle(entries []*entry, o outcome) {
	for _, e := range entries {
		e.outcome <- o
	}
}
