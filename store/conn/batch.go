package conn

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Batched opens a stream for concurrent appends. If the server syncs every write, appends are stored in atomic batches,
// which share one sync. A batch writes its messages twice, so on other servers single messages cost less.
func (s *Conn) Batched(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, *Batcher, error) {
	want.AllowAtomicPublish = s.Config.SyncAlways
	st, err := s.stream(ctx, want)
	if err != nil {
		return nil, nil, err
	}
	if want.AllowAtomicPublish {
		st = s.allowBatches(ctx, st)
	}
	return st, &Batcher{store: s, together: s.Config.SyncAlways && st.CachedInfo().Config.AllowAtomicPublish}, nil
}

// allowBatches enables atomic batches on an existing stream. If the stream cannot be updated, it is used unchanged.
func (s *Conn) allowBatches(ctx context.Context, st jetstream.Stream) jetstream.Stream {
	have := st.CachedInfo().Config
	if have.AllowAtomicPublish || !s.MayPublish(ctx, "$JS.API.STREAM.UPDATE."+have.Name) {
		return st
	}
	have.AllowAtomicPublish = true
	return s.Adjust(ctx, st, have, "the batch setting of a stream cannot be changed; using the stream without it")
}

// Limits of a group.
const (
	// groupLight is the maximum number of messages in flight individually. Batches pay off only beyond it.
	groupLight = 16
	// groupMost limits the wait of a group's first message.
	groupMost = 512
	// groupLeast is the minimum size of a batch: a batch costs the server a directory and several files, which fewer
	// syncs do not offset.
	groupLeast = 8
)

// Batcher appends messages from many goroutines to one stream, without conditions. It publishes a few messages
// immediately. Messages that arrive in the meantime are sent as one group when the first is stored, and so on: no
// message waits to fill a group, and the cost per message falls with the load.
type Batcher struct {
	store *Conn

	mu       sync.Mutex
	together bool     // the stream allows batches, and they pay off
	singles  int      // individual messages in flight
	grouped  bool     // a group is in flight
	queue    []*entry // waiting messages
}

// entry is a message in a queue or a group. It is not reused, because a failed group may still be sending it.
type entry struct {
	subject string
	data    []byte
	gone    bool         // the caller has stopped waiting; guarded by the batcher's mu
	outcome chan outcome // has room for one value
}

// outcome is the result of an entry.
type outcome struct {
	alone bool // not stored: publish it individually
	err   error
}

// headerMost exceeds the size of a batch message's headers, in bytes.
const headerMost = 512

// Append stores a message. Its error is translated.
func (b *Batcher) Append(ctx context.Context, subject string, data []byte) error {
	long := int64(len(data)) > b.store.NC.MaxPayload()-headerMost
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
		return Translate(b.store.suspect(o.err))
	case <-ctx.Done():
		b.mu.Lock()
		e.gone = true
		b.mu.Unlock()
		return context.Cause(ctx)
	}
}

func (b *Batcher) single(ctx context.Context, subject string, data []byte) error {
	_, err := b.store.Publish(ctx, b.store.BareMessage(subject, data))
	return err
}

// next sends the waiting messages unless a group is in flight. ended updates the counters, under the lock.
func (b *Batcher) next(ended func()) {
	b.mu.Lock()
	ended()
	if b.grouped || len(b.queue) == 0 {
		b.mu.Unlock()
		return
	}
	b.queue = slices.DeleteFunc(b.queue, func(e *entry) bool { return e.gone })
	n := len(b.queue)
	if b.together { // otherwise nothing calls next again
		n = min(n, groupMost)
	}
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

// Batches reports whether batches are in use.
func (b *Batcher) Batches() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.together
}

// alone disables batches permanently.
func (b *Batcher) alone() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.together = false
}

func settle(entries []*entry, o outcome) {
	for _, e := range entries {
		e.outcome <- o
	}
}

// group is an atomic batch of messages (NATS ADR-50): the server stores all or none.
type group struct {
	batcher *Batcher
	entries []*entry
	name    string // unique within the stream
}

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

// Headers of a message in a batch.
const (
	batchIDHeader       = "Nats-Batch-Id"
	batchSequenceHeader = "Nats-Batch-Sequence"
	batchCommitHeader   = "Nats-Batch-Commit"
)

// message returns the message of an entry. The acknowledgement of the last one covers the whole batch.
func (g *group) message(i int, w *waiter) *nats.Msg {
	s, e := g.batcher.store, g.entries[i]
	m := s.Message(e.subject, e.data)
	m.Reply = ""
	SetHeader(m, batchIDHeader, g.name)
	SetHeader(m, batchSequenceHeader, strconv.Itoa(i+1))
	if i == len(g.entries)-1 {
		SetHeader(m, batchCommitHeader, "1")
		m.Reply = s.publisher.reply(w)
	}
	return m
}

// settle delivers the result of the batch to all its entries.
func (g *group) settle(err error) {
	o := outcome{err: err} // after other errors, the messages may have been stored
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

// batchesOff is the error of a stream that does not allow batches (nats-server: JSAtomicPublishDisabledErr).
const batchesOff jetstream.ErrorCode = 10174
