package store

import (
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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
