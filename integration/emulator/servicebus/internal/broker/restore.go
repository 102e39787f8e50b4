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
	en := &entry{buf: part[n:], reading: true}
	for len(en.buf) > 0 {
		id, err := r.change(en, -1)
		if err != nil {
			return err
		}
		r.asOf[id] = wal.Position(position)
	}
	return nil
}

// Replay takes a record.
func (r *restorer) Replay(position wal.Position, record []byte) error {
	en := &entry{buf: record, reading: true}
	for len(en.buf) > 0 {
		if _, err := r.change(en, position); err != nil {
			return err
		}
	}
	return nil
}

// change reads one change of an entity, and applies it unless the snapshot contains it. It returns the entity's id. A
// negative position belongs to the snapshot.
func (r *restorer) change(en *entry, position wal.Position) (uint64, error) {
	var c change
	c.fields(en)
	if en.err != nil {
		return c.entity, en.err
	}
	asOf, ok := r.asOf[c.entity]
	e := r.byID[c.entity]
	switch {
	case ok && position >= 0 && position <= asOf: // it is known
		return c.entity, nil
	case c.op == opEntity:
		return c.entity, r.define(c.entity, c.data)
	case e == nil:
		if c.op == opStore {
			r.orphans[c.entity]++
		}
		return c.entity, nil
	case c.op == opDelete:
		delete(r.byID, c.entity)
		r.broker.drop(e)
		return c.entity, nil
	default:
		return c.entity, e.replay(c)
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

// replay applies a change. The messages are queued at the end, by revive.
func (e *entity) replay(c change) error {
	q := &e.queues[c.part]
	switch c.op {
	case opStore:
		m := c.message
		if m.seq <= 0 {
			return errRecord
		}
		if _, err := amqp.ParseMessage(m.payload); err != nil {
			return fmt.Errorf("%w: message %d of %s: %w", errRecord, m.seq, e.path, err)
		}
		q.discard(m.seq)
		q.add(m, nil)
		e.seq = max(e.seq, m.seq)
	case opRemove:
		q.discard(c.seq)
	case opCount:
		if m := q.shelf.Get(c.seq); m != nil {
			m.count, m.wasDeferred = c.count, c.flags&flagParked != 0
		}
	case opSession:
		s := e.session(c.id)
		s.data, s.hasData, s.updated = c.data, c.flags == 1, c.at
		e.tidySession(s)
	case opSeen:
		e.seen.Remember(c.id, c.at)
	case opSequence:
		e.seq = max(e.seq, c.seq)
	}
	return nil
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
