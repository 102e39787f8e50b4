package broker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

var errRecord = errors.New("a record of the journal is not understood")

// A restorer rebuilds a broker from its journal. It has exclusive use of the broker.
type restorer struct {
	broker *Broker
	byID   map[uint64]*entity
	asOf   map[uint64]wal.Position // the part of each entity that the snapshot contains

	orphans map[uint64]int // messages of unknown entities, by entity id
}

func newRestorer(b *Broker) *restorer {
	return &restorer{broker: b, byID: map[uint64]*entity{}, asOf: map[uint64]wal.Position{}, orphans: map[uint64]int{}}
}

// Damaged logs a range of the journal that restoring omits.
func (r *restorer) Damaged(e *wal.CorruptError) {
	r.broker.config.Logger.Error("the journal is damaged; what is not is kept", slog.Any("err", e))
}

// tellOrphans logs the messages whose entities were lost.
func (r *restorer) tellOrphans() {
	for id, n := range r.orphans {
		r.broker.config.Logger.Error("messages are lost with the queue or subscription that they were in, as the journal is damaged",
			slog.Uint64("entity", id), slog.Int("messages", n))
	}
}

// Restore takes a part of a snapshot.
func (r *restorer) Restore(part []byte) error {
	position, n := binary.Uvarint(part)
	if n <= 0 {
		return errRecord
	}
	d := &decoder{b: part[n:]}
	first := wal.Position(position)
	for len(d.b) > 0 && d.err == nil {
		id, err := r.change(d, -1)
		if err != nil {
			return err
		}
		r.asOf[id] = first
	}
	return d.err
}

// Replay takes a record.
func (r *restorer) Replay(position wal.Position, record []byte) error {
	d := &decoder{b: record}
	for len(d.b) > 0 && d.err == nil {
		if _, err := r.change(d, position); err != nil {
			return err
		}
	}
	return d.err
}

// change reads one change of an entity, and applies it unless the snapshot contains it. It returns the entity's id. A
// negative position belongs to the snapshot.
func (r *restorer) change(d *decoder, position wal.Position) (uint64, error) {
	op, id := d.byte(), d.number()
	asOf, ok := r.asOf[id]
	known := ok && position >= 0 && position <= asOf
	if op == opEntity {
		definition := d.bytes()
		if d.err != nil || known {
			return id, d.err
		}
		return id, r.define(id, definition)
	}
	e := r.byID[id]
	if known {
		e = nil // read the change without effect
	}
	switch op {
	case opDelete:
		if e != nil {
			delete(r.byID, id)
			r.broker.drop(e)
		}
	case opStore:
		r.count(id, e == nil && !known)
		e.replayStore(d)
	case opRemove:
		e.replayRemove(d)
	case opCount:
		e.replayCount(d)
	case opSession:
		e.replaySession(d)
	case opSeen:
		message, at := string(d.bytes()), d.number()
		if e != nil && d.err == nil {
			e.seen.Remember(message, int64(at))
		}
	case opSequence:
		if seq := int64(d.number()); e != nil {
			e.seq = max(e.seq, seq)
		}
	default:
		return id, errRecord
	}
	return id, d.err
}

// count counts a message of an unknown entity.
func (r *restorer) count(id uint64, orphan bool) {
	if orphan {
		r.orphans[id]++
	}
}

// define creates an entity, or changes its settings.
func (r *restorer) define(id uint64, encoded []byte) error {
	var d definition
	if err := json.Unmarshal(encoded, &d); err != nil { //nolint:musttag // as they were written
		return fmt.Errorf("%w: %w", errRecord, err)
	}
	e := r.byID[id]
	if e == nil {
		var topic *entity
		if d.Kind == SubscriptionKind {
			if topic = r.byID[d.Topic]; topic == nil {
				return fmt.Errorf("%w: subscription %q has no topic", errRecord, d.Name)
			}
		}
		if err := checkName(d.Name, maxName); err != nil || d.Kind > SubscriptionKind {
			return fmt.Errorf("%w: entity %q of kind %d", errRecord, d.Name, d.Kind)
		}
		e = newEntity(r.broker, id, d.Kind, topic, d.Name)
		r.byID[id] = e
		r.broker.insert(e)
		r.broker.lastID = max(r.broker.lastID, id)
	}
	if e.is(QueueKind) && d.Kind == TopicKind {
		e.kind.Store(uint32(TopicKind))
	}
	e.created, e.updated, e.settings = d.Created, d.Updated, d.Settings
	e.seen.Window = d.Settings.DuplicateWindow
	rules := make([]Rule, 0, len(d.Rules))
	for _, definition := range d.Rules {
		rule, err := definition.rule()
		if err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
		rules = append(rules, rule)
	}
	e.rules.Store(&rules)
	return nil
}

// replayStore reads a message; revive queues it at the end. In all of these methods, the entity may be nil.
func (e *entity) replayStore(d *decoder) {
	p, flags := d.part(), d.byte()
	m := &message{header: d.byte(), hops: d.byte()}
	m.seq, m.enqueueSeq, m.enqueued, m.expires = int64(d.number()), int64(d.number()), int64(d.number()), int64(d.number())
	m.ttl, m.count = uint32(d.number()), uint32(d.number())
	if flags&flagScheduled != 0 {
		m.state, m.due = scheduled, int64(d.number())
	}
	m.wasDeferred, m.skipDedup = flags&flagParked != 0, flags&flagAgain != 0
	if flags&flagExtra != 0 {
		m.extra = &extra{annotations: clone(d.bytes()), pairs: int(d.number()), source: string(d.bytes()), scheduled: int64(d.number())}
		if flags&flagDelivery != 0 {
			m.extra.delivery, m.extra.deliveryPairs = clone(d.bytes()), int(d.number())
		}
	}
	m.payload = clone(d.bytes())
	q := e.queueOf(p)
	if d.err == nil && m.seq <= 0 {
		d.err = errRecord
	}
	if d.err != nil || q == nil {
		return
	}
	if _, err := amqp.ParseMessage(m.payload); err != nil {
		d.err = fmt.Errorf("%w: message %d of %s: %w", errRecord, m.seq, e.path, err)
		return
	}
	q.discard(m.seq)
	q.add(m, nil)
	e.seq = max(e.seq, m.seq)
}

func (e *entity) replayRemove(d *decoder) {
	p, seq := d.part(), d.number()
	if q := e.queueOf(p); q != nil {
		q.discard(int64(seq))
	}
}

func (e *entity) replayCount(d *decoder) {
	p, flags, seq, count := d.part(), d.byte(), d.number(), d.number()
	q := e.queueOf(p)
	if q == nil {
		return
	}
	if m := q.shelf.Get(int64(seq)); m != nil {
		m.count, m.wasDeferred = uint32(count), flags&flagParked != 0
	}
}

func (e *entity) replaySession(d *decoder) {
	id, updated := string(d.bytes()), int64(d.number())
	has := d.byte() == 1
	var data []byte
	if has {
		data = clone(d.bytes())
	}
	if e == nil || d.err != nil {
		return
	}
	s := e.session(id)
	s.data, s.hasData, s.updated = data, has, updated
	e.tidySession(s)
}

// clone copies bytes out of their record.
func clone(b []byte) []byte { return append([]byte(nil), b...) }

// queueOf returns one of the queues, or nil.
func (e *entity) queueOf(p part) *queue {
	if e == nil || p >= parts {
		return nil
	}
	return &e.queues[p]
}

// discard removes a message from the shelf.
func (q *queue) discard(seq int64) {
	if m := q.shelf.Get(seq); m != nil {
		q.shelf.Remove(m)
		q.entity.size -= m.size()
	}
}

// revive puts the restored messages into their queues.
func (e *entity) revive() {
	e.mu.Lock()
	for i := range e.queues {
		q := &e.queues[i]
		for _, m := range q.shelf.All() {
			if q.bySession() {
				id, _ := groupOf(m.payload)
				m.session = e.session(id)
				m.session.messages++
			}
			switch {
			case m.state == scheduled:
				q.scheduled++
				e.messages.Fix(m)
			case m.wasDeferred:
				m.park()
			default:
				q.stand(m, nil)
			}
		}
	}
	e.unlock()
}

// A decoder reads a record from the front. After an error all is zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) byte() byte {
	if d.err != nil || len(d.b) == 0 {
		d.err = errRecord
		return 0
	}
	b := d.b[0]
	d.b = d.b[1:]
	return b
}

func (d *decoder) part() part {
	p := part(d.byte())
	if p >= parts {
		d.err = errRecord
	}
	return p
}

func (d *decoder) number() uint64 {
	number, n := binary.Uvarint(d.b)
	if d.err != nil || n <= 0 {
		d.err = errRecord
		return 0
	}
	d.b = d.b[n:]
	return number
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if d.err != nil || n > uint64(len(d.b)) {
		d.err = errRecord
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}
