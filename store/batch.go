package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// batched opens a stream whose messages many goroutines store at once. On a server
// that waits for the disk at every write they do so in batches, of which each is
// one such wait. It writes them twice, so elsewhere single messages cost less.
func (s *Store) batched(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, *batcher, error) {
	want.AllowAtomicPublish = s.cfg.SyncAlways
	st, err := s.stream(ctx, want)
	if err != nil {
		return nil, nil, err
	}
	if want.AllowAtomicPublish {
		st = s.allowBatches(ctx, st)
	}
	return st, &batcher{store: s, together: s.cfg.SyncAlways && st.CachedInfo().Config.AllowAtomicPublish}, nil
}

// allowBatches lets a stream take batches that was made without. Where the stream cannot be changed, it is used as it is.
func (s *Store) allowBatches(ctx context.Context, st jetstream.Stream) jetstream.Stream {
	have := st.CachedInfo().Config
	if have.AllowAtomicPublish {
		return st
	}
	if may, ok := s.permissions(ctx); ok && !may.publish("$JS.API.STREAM.UPDATE."+have.Name) {
		return st
	}
	have.AllowAtomicPublish = true
	changed, err := s.js.UpdateStream(ctx, have)
	if err != nil {
		s.cfg.Logger.Warn("a stream's batches cannot be set; it is used as it is", "stream", have.Name, "err", err)
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
	// groupLeast is the least that is cheaper than a wait for the disk for each:
	// a batch costs the server a directory and some files.
	groupLeast = 8
)

// batcher stores the messages of many goroutines in one stream, for which no
// conditions hold. A few are sent at once, and those that come while these are
// under way are sent together when the first is stored, and so on: nobody waits
// for company, and the more there is to do, the less an acknowledgement costs.
type batcher struct {
	store *Store

	mu       sync.Mutex
	together bool     // the stream takes batches, and they pay
	singles  int      // messages under way by themselves
	grouped  bool     // a group is under way
	queue    []*entry // what waits for them
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
	if !b.together || long {
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
	b.queue = slices.DeleteFunc(b.queue, func(e *entry) bool { return e.gone })
	n := min(len(b.queue), groupMost)
	g := &group{batcher: b, entries: slices.Clone(b.queue[:n])}
	b.queue = slices.Delete(b.queue, 0, n)
	b.grouped = b.together && n >= groupLeast
	grouped := b.grouped
	b.mu.Unlock()
	if grouped {
		g.send()
	} else {
		settle(g.entries, outcome{alone: true})
	}
}

// batches reports whether messages may be sent together.
func (b *batcher) batches() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.together
}

// alone has all messages sent by themselves from now on.
func (b *batcher) alone() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.together = false
}

func settle(entries []*entry, o outcome) {
	for _, e := range entries {
		e.outcome <- o
	}
}

// group is messages that are stored as one: all or none (NATS ADR-50, atomic).
type group struct {
	batcher *batcher
	entries []*entry
	name    string // no other batch of the stream has it
}

// send sends the messages.
func (g *group) send() {
	p := g.batcher.store.publisher
	w := &waiter{group: g}
	p.await(w)
	g.name = p.id + "-" + strconv.FormatUint(w.token, tokenBase)
	for i := range g.entries {
		m := g.message(i, w)
		err := p.nc.PublishMsg(m)
		p.recycle(m)
		if err == nil {
			continue
		}
		if p.take(w.token) == w {
			g.settle(err)
		}
		return
	}
}

// The headers of a message in a batch.
const (
	batchIDHeader       = "Nats-Batch-Id"
	batchSequenceHeader = "Nats-Batch-Sequence"
	batchCommitHeader   = "Nats-Batch-Commit"
)

// message returns the message of an entry. The last is acknowledged, and stands for
// all.
func (g *group) message(i int, w *waiter) *nats.Msg {
	s, e := g.batcher.store, g.entries[i]
	m := s.message(e.subject, e.data)
	m.Reply = ""
	setHeader(m, batchIDHeader, g.name)
	setHeader(m, batchSequenceHeader, strconv.Itoa(i+1))
	if i == len(g.entries)-1 {
		setHeader(m, batchCommitHeader, "1")
		m.Reply = s.publisher.reply(w)
	}
	return m
}

// settle takes the acknowledgement, or why there is none, and tells everybody.
func (g *group) settle(err error) {
	o := outcome{err: err} // with an error what has become of them is not known
	api, refused := errors.AsType[*jetstream.APIError](err)
	if refused || errors.Is(err, jetstream.ErrNoStreamResponse) {
		o = outcome{alone: true}
	}
	if refused && api.ErrorCode == batchesOff {
		g.batcher.alone()
	}
	g.batcher.next(func() { g.batcher.grouped = false })
	settle(g.entries, o)
}

// batchesOff is the answer of a stream that takes no batches, by the name of
// nats-server: JSAtomicPublishDisabledErr.
const batchesOff jetstream.ErrorCode = 10174
