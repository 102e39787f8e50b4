package store

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// group is messages that are sent as one batch.
type group struct {
	batcher *batcher
	form    form
	entries []*entry
	name    string // no other batch of the stream has it
}

// send sends the messages.
func (g *group) send() {
	p := g.batcher.store.publisher
	w := &waiter{group: g}
	p.await(w)
	g.name = p.id + "-" + strconv.FormatUint(w.token, tokenBase)
	for i, e := range g.entries {
		m := g.message(i, e, w)
		err := p.nc.PublishMsg(m)
		p.recycle(m)
		if err == nil {
			continue
		}
		if p.take(w.token) == w {
			g.end(0, err)
		}
		return
	}
}

// The operations of a message in a fast batch, and the headers of one in an
// atomic batch.
const (
	opStart  = 0
	opAppend = 1
	opCommit = 2
	opEnd    = 3 // commits, and is not stored itself

	batchIDHeader       = "Nats-Batch-Id"
	batchSequenceHeader = "Nats-Batch-Sequence"
	batchCommitHeader   = "Nats-Batch-Commit"
)

// message returns the message of an entry.
func (g *group) message(i int, e *entry, w *waiter) *nats.Msg {
	s, last := g.batcher.store, i == len(g.entries)-1
	if g.form == formAtomic {
		m := s.message(e.subject, e.data)
		m.Reply = ""
		setHeader(m, batchIDHeader, g.name)
		setHeader(m, batchSequenceHeader, strconv.Itoa(i+1))
		if last {
			setHeader(m, batchCommitHeader, "1")
			m.Reply = s.publisher.reply(w)
		}
		return m
	}
	m, op := s.bareMessage(e.subject, e.data), opAppend
	switch {
	case last:
		op = opCommit
	case i == 0:
		op = opStart
	}
	m.Reply = g.reply(i+1, op)
	return m
}

// reply is where the server answers for a message of a fast batch, and tells the
// server what it is. A gap ends the batch; no acknowledgement is asked for before
// the last.
func (g *group) reply(sequence, op int) string {
	b := make([]byte, 0, 128)
	b = append(b, g.batcher.store.publisher.prefix...)
	b = append(b, g.name...)
	b = append(b, ".65535.fail."...)
	b = strconv.AppendInt(b, int64(sequence), 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(op), 10)
	b = append(b, ".$FI"...)
	return string(b)
}

// read reads what the server answers for a message of a fast batch. The end says
// how many of the first are stored; the others are not.
func (g *group) read(part string, m *nats.Msg) (stored int, end bool, err error) {
	var a struct {
		Type   string              `json:"type"`
		Error  *jetstream.APIError `json:"error"`
		Stream string              `json:"stream"`
		Count  int                 `json:"count"`
	}
	switch err := json.Unmarshal(m.Data, &a); {
	case err == nil && a.Type != "":
		return 0, false, nil // of flow, a gap or a refusal; the end follows
	case err == nil && a.Error == nil && a.Stream != "":
		return min(a.Count, len(g.entries)), true, nil
	}
	_, err = readAck(m)
	sequence, op := operation(part)
	switch {
	case sequence == 1: // no batch begins without its first message
		g.batcher.heed(err)
		return 0, true, nil
	case op == opCommit: // the batch has not ended
		end := g.batcher.store.bareMessage(g.entries[0].subject, nil)
		end.Reply = g.reply(sequence, opEnd)
		sent := g.batcher.store.nc.PublishMsg(end)
		g.batcher.store.publisher.recycle(end)
		return 0, sent != nil, sent
	case op == opEnd:
		return 0, true, err
	}
	return 0, false, nil // one in the middle: what comes after it makes a gap
}

// operation reads the end of the subject of an answer.
func operation(part string) (sequence, op int) {
	fields := strings.Split(part, ".") // flow, what to do at a gap, sequence, operation, $FI
	if len(fields) != 5 {
		return 0, 0
	}
	sequence, _ = strconv.Atoi(fields[2])
	op, _ = strconv.Atoi(fields[3])
	return sequence, op
}

// settle takes the acknowledgement of an atomic batch, or why there is none.
func (g *group) settle(err error) {
	stored := len(g.entries)
	_, refused := errors.AsType[*jetstream.APIError](err)
	if refused || errors.Is(err, jetstream.ErrNoStreamResponse) {
		g.batcher.heed(err)
		stored, err = 0, nil // all or none
	}
	g.end(stored, err)
}

// end tells everybody what became of the batch. With an error that is not known.
func (g *group) end(stored int, err error) {
	g.batcher.next(func() { g.batcher.grouped = false })
	if err != nil {
		settle(g.entries, outcome{err: err})
		return
	}
	settle(g.entries[:stored], outcome{})
	settle(g.entries[stored:], outcome{alone: true})
}

// disabled are the answers of a stream that takes no batches, by the names of
// nats-server: JSBatchPublishDisabledErr, JSAtomicPublishDisabledErr.
var disabled = []jetstream.ErrorCode{10205, 10174}

// heed gives batches up when the stream takes none.
func (b *batcher) heed(err error) {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && slices.Contains(disabled, api.ErrorCode) {
		b.alone()
	}
}
