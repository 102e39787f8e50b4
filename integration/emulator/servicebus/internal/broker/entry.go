package broker

import (
	"encoding/binary"
	"encoding/json"
	"sync"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
)

// Kinds of changes in an entry of the journal. Each is followed by the id of the entity.
const (
	opEntity   = 'E' // the definition of an entity
	opDelete   = 'D'
	opStore    = 'M' // a message, new or changed
	opRemove   = 'R'
	opCount    = 'C' // the deliveries of a message, and whether it is deferred
	opSession  = 'S' // the state of a session
	opSeen     = 'I' // an id that duplicates are known by
	opSequence = 'N' // the last number that was given
)

// An entry collects the changes of one operation, which are written together. All methods may be called on nil, if the
// broker has no journal.
type entry struct{ buf []byte }

var entries = sync.Pool{New: func() any { return &entry{} }}

// keptEntry limits the buffer that is reused for the next entry.
const keptEntry = 64 << 10

// entry returns an empty entry, or nil without a journal.
func (b *Broker) entry() *entry {
	if b.log == nil {
		return nil
	}
	return entries.Get().(*entry)
}

// commit appends an entry to the journal. Its entities are still locked, so entries have the order of their changes.
func (b *Broker) commit(en *entry) Receipt {
	if en == nil {
		return Receipt{}
	}
	receipt := Receipt{}
	if len(en.buf) > 0 {
		position := b.log.Append(en.buf)
		receipt = Receipt{b.log, position}
		b.considerSnapshot(position)
	}
	if en.buf = en.buf[:0]; cap(en.buf) > keptEntry {
		en.buf = nil
	}
	entries.Put(en)
	return receipt
}

// op begins a change of an entity. It returns false without a journal.
func (en *entry) op(op byte, e *entity) bool {
	if en == nil {
		return false
	}
	en.buf = append(en.buf, op)
	en.number(e.id)
	return true
}

func (en *entry) number(n uint64) { en.buf = binary.AppendUvarint(en.buf, n) }

func (en *entry) bytes(b []byte) {
	en.number(uint64(len(b)))
	en.buf = append(en.buf, b...)
}

func (en *entry) text(s string) {
	en.number(uint64(len(s)))
	en.buf = append(en.buf, s...)
}

// Flags of a stored message.
const (
	flagScheduled = 1 << iota
	flagParked
	flagExtra
	flagDelivery // of the extra
	flagAgain    // versions that do not know it pass over it
)

func (en *entry) store(m *message) {
	if !en.op(opStore, m.queue.entity) {
		return
	}
	flags := byte(0)
	if m.state == scheduled {
		flags |= flagScheduled
	}
	if m.wasDeferred {
		flags |= flagParked
	}
	if m.skipDedup {
		flags |= flagAgain
	}
	if m.extra != nil {
		flags |= flagExtra
		if m.extra.deliveryPairs > 0 {
			flags |= flagDelivery
		}
	}
	en.buf = append(en.buf, byte(m.queue.part), flags, m.header, m.hops)
	for _, n := range []int64{m.seq, m.enqueueSeq, m.enqueued, m.expires, int64(m.ttl), int64(m.count)} {
		en.number(uint64(n))
	}
	if m.state == scheduled {
		en.number(uint64(m.due))
	}
	if x := m.extra; x != nil {
		en.bytes(x.annotations)
		en.number(uint64(x.pairs))
		en.text(x.source)
		en.number(uint64(x.scheduled))
		if x.deliveryPairs > 0 {
			en.bytes(x.delivery)
			en.number(uint64(x.deliveryPairs))
		}
	}
	en.bytes(m.payload)
}

func (en *entry) remove(m *message) {
	if !en.op(opRemove, m.queue.entity) {
		return
	}
	en.buf = append(en.buf, byte(m.queue.part))
	en.number(uint64(m.seq))
}

func (en *entry) count(m *message) {
	if !en.op(opCount, m.queue.entity) {
		return
	}
	flags := byte(0)
	if m.wasDeferred {
		flags = flagParked
	}
	en.buf = append(en.buf, byte(m.queue.part), flags)
	en.number(uint64(m.seq))
	en.number(uint64(m.count))
}

func (en *entry) session(e *entity, s *session) {
	if !en.op(opSession, e) {
		return
	}
	en.text(s.id)
	en.number(uint64(s.updated))
	if !s.hasData {
		en.buf = append(en.buf, 0)
		return
	}
	en.buf = append(en.buf, 1)
	en.bytes(s.data)
}

func (en *entry) seen(e *entity, id string, at int64) {
	if !en.op(opSeen, e) {
		return
	}
	en.text(id)
	en.number(uint64(at))
}

func (en *entry) sequence(e *entity) {
	if !en.op(opSequence, e) {
		return
	}
	en.number(uint64(e.seq))
}

func (en *entry) remain(e *entity) {
	if en == nil {
		return
	}
	definition, err := json.Marshal(e.definition()) //nolint:musttag // options have their names in Go; no one else reads them
	if err != nil {
		panic(err) // there is nothing in it that cannot be
	}
	en.op(opEntity, e)
	en.bytes(definition)
}

func (en *entry) forget(e *entity) { en.op(opDelete, e) }

// considerSnapshot asks for a snapshot when the journal has become long.
func (b *Broker) considerSnapshot(position wal.Position) {
	if !b.log.Due(position) {
		return
	}
	select {
	case b.snapshotDue <- struct{}{}:
	default:
	}
}

// snapshotPart is about how large a part of a snapshot is.
const snapshotPart = 4 << 20

// snapshot replaces the journal so far with the current state.
func (b *Broker) snapshot() error {
	s, err := b.log.Snapshot()
	if err != nil {
		return err
	}
	return s.Done(b.addAll(s))
}

// addAll adds the whole state to a snapshot.
func (b *Broker) addAll(s *wal.Snapshot) error {
	for _, e := range b.all() {
		for _, part := range e.parts() {
			if err := s.Add(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// parts returns the state of an entity in parts, each beginning with its journal position.
func (e *entity) parts() [][]byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.deleted {
		return nil
	}
	position := binary.AppendUvarint(nil, uint64(e.broker.log.Next()))
	var parts [][]byte
	en := &entry{buf: append([]byte{}, position...)}
	turn := func() {
		if len(en.buf) > snapshotPart {
			parts = append(parts, en.buf)
			en.buf = append([]byte{}, position...)
		}
	}
	en.remain(e)
	en.sequence(e)
	for _, s := range e.seen.Sightings() {
		en.seen(e, s.ID, s.At)
		turn()
	}
	for _, s := range e.sessions {
		if s.hasData {
			en.session(e, s)
			turn()
		}
	}
	for i := range e.queues {
		e.queues[i].shelf.Ascend(0, func(m *message) bool {
			en.store(m)
			turn()
			return true
		})
	}
	return append(parts, en.buf)
}

// A Receipt reports when a change has been written to the journal and may be acknowledged. Other receivers may have
// seen the change before. The zero value counts as written.
type Receipt struct {
	log      *wal.Log
	position wal.Position
}

// Done reports whether it has been written. Without a journal it always has.
func (r Receipt) Done() bool { return r.log == nil || r.log.Written(r.position) }

// Then calls f after the write, with an error if it failed: before Then returns if Done, or else from another
// goroutine. f must not block.
func (r Receipt) Then(f func(error)) {
	if r.log == nil {
		f(nil)
		return
	}
	r.log.Then(r.position, func(err error) { f(unwritten(err)) })
}

// Wait returns when it has been written, or the error when it cannot be.
func (r Receipt) Wait() error {
	if r.log == nil {
		return nil
	}
	return unwritten(r.log.Wait(r.position))
}

// Written waits for the write of an operation, or passes its error on.
func Written(r Receipt, err error) error {
	if err != nil {
		return err
	}
	return r.Wait()
}

func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return fail(InternalError, "The operation could not be written: %s", err)
}
