package broker

import (
	"encoding/binary"
	"encoding/json"
	"sync"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
)

// Kinds of changes in an entry of the journal.
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

// A change is one change of an entity. Which fields it has depends on its kind.
type change struct {
	op      byte
	entity  uint64
	part    part
	flags   byte
	seq     int64
	count   uint32
	id      string // of a session or a message
	at      int64
	data    []byte
	message *message
}

// fields passes over the fields in the order of the journal, to append or to read them.
func (c *change) fields(en *entry) {
	en.byte(&c.op)
	number(en, &c.entity)
	switch c.op {
	case opEntity:
		en.bytes(&c.data)
	case opDelete:
	case opStore:
		c.storedFields(en)
	case opRemove:
		en.part(&c.part)
		number(en, &c.seq)
	case opCount:
		en.part(&c.part)
		en.byte(&c.flags)
		number(en, &c.seq)
		number(en, &c.count)
	case opSession:
		en.text(&c.id)
		number(en, &c.at)
		en.byte(&c.flags)
		if c.flags == 1 { // it has a state
			en.bytes(&c.data)
		}
	case opSeen:
		en.text(&c.id)
		number(en, &c.at)
	case opSequence:
		number(en, &c.seq)
	default:
		en.err = errRecord
	}
}

// Flags of a stored message.
const (
	flagScheduled = 1 << iota
	flagParked
	flagExtra
	flagDelivery // of the extra
	flagAgain    // versions that do not know it pass over it
)

// flags returns the flags of a stored message.
func (m *message) flags() (flags byte) {
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
	return flags
}

func (c *change) storedFields(en *entry) {
	en.part(&c.part)
	en.byte(&c.flags)
	if en.reading {
		c.message = &message{wasDeferred: c.flags&flagParked != 0, skipDedup: c.flags&flagAgain != 0}
		if c.flags&flagScheduled != 0 {
			c.message.state = scheduled
		}
		if c.flags&flagExtra != 0 {
			c.message.extra = &extra{}
		}
	}
	m := c.message
	en.byte(&m.header)
	en.byte(&m.hops)
	for _, n := range []*int64{&m.seq, &m.enqueueSeq, &m.enqueued, &m.expires} {
		number(en, n)
	}
	number(en, &m.ttl)
	number(en, &m.count)
	if m.state == scheduled {
		number(en, &m.due)
	}
	if x := m.extra; x != nil {
		en.bytes(&x.annotations)
		number(en, &x.pairs)
		en.text(&x.source)
		number(en, &x.scheduled)
		if c.flags&flagDelivery != 0 {
			en.bytes(&x.delivery)
			number(en, &x.deliveryPairs)
		}
	}
	en.bytes(&m.payload)
}

// An entry has the changes of one operation, which are written together.
type entry struct {
	buf     []byte // written, or not read yet
	reading bool
	err     error // of reading; what follows it is zero
}

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

// take returns the next n bytes.
func (en *entry) take(n uint64) []byte {
	if en.err != nil || n > uint64(len(en.buf)) {
		en.err = errRecord
		return nil
	}
	taken := en.buf[:n]
	en.buf = en.buf[n:]
	return taken
}

func (en *entry) byte(v *byte) {
	if !en.reading {
		en.buf = append(en.buf, *v)
	} else if b := en.take(1); b != nil {
		*v = b[0]
	}
}

func (en *entry) part(p *part) {
	en.byte((*byte)(p))
	if *p >= parts {
		en.err, *p = errRecord, mainPart
	}
}

func number[T int | int64 | uint32 | uint64](en *entry, v *T) {
	if !en.reading {
		en.buf = binary.AppendUvarint(en.buf, uint64(*v))
		return
	}
	n, size := binary.Uvarint(en.buf)
	if size <= 0 || en.err != nil {
		en.err = errRecord
		return
	}
	en.buf = en.buf[size:]
	*v = T(n)
}

func (en *entry) bytes(v *[]byte) {
	n := len(*v)
	number(en, &n)
	if !en.reading {
		en.buf = append(en.buf, *v...)
		return
	}
	*v = append([]byte(nil), en.take(uint64(n))...) // the journal keeps its own
}

func (en *entry) text(v *string) {
	n := len(*v)
	number(en, &n)
	if !en.reading {
		en.buf = append(en.buf, *v...)
		return
	}
	*v = string(en.take(uint64(n)))
}

// add appends a change of an entity. Like the methods below, it does nothing without a journal, when en is nil.
func (en *entry) add(e *entity, c change) {
	if en != nil {
		c.entity = e.id
		c.fields(en)
	}
}

func (en *entry) store(m *message) {
	en.add(m.queue.entity, change{op: opStore, part: m.queue.part, flags: m.flags(), message: m})
}

func (en *entry) remove(m *message) {
	en.add(m.queue.entity, change{op: opRemove, part: m.queue.part, seq: m.seq})
}

func (en *entry) count(m *message) {
	en.add(m.queue.entity, change{op: opCount, part: m.queue.part, flags: m.flags() & flagParked, seq: m.seq, count: m.count})
}

func (en *entry) session(e *entity, s *session) {
	c := change{op: opSession, id: s.id, at: s.updated, data: s.data}
	if s.hasData {
		c.flags = 1
	}
	en.add(e, c)
}

func (en *entry) seen(e *entity, id string, at int64) { en.add(e, change{op: opSeen, id: id, at: at}) }

func (en *entry) sequence(e *entity) { en.add(e, change{op: opSequence, seq: e.seq}) }

func (en *entry) remain(e *entity) {
	if en == nil {
		return
	}
	definition, err := json.Marshal(e.definition()) //nolint:musttag // options have their names in Go; no one else reads them
	if err != nil {
		panic(err) // there is nothing in it that cannot be
	}
	en.add(e, change{op: opEntity, data: definition})
}

func (en *entry) forget(e *entity) { en.add(e, change{op: opDelete}) }

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
