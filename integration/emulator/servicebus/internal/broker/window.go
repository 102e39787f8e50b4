package broker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// An Inspector shows the messages of a queue, topic, subscription or sub-queue to people, and lets them change single
// messages. Reading through it does not count as use: it locks and counts nothing, and an idle entity still deletes
// itself.
type Inspector struct{ queue *queue }

// Inspect returns the window of a path, as in [Broker.Source], or of a topic, which contains only scheduled messages.
// Unlike a client's request, it creates no entity. It fails with NotFound.
func (b *Broker) Inspect(path string) (*Inspector, error) {
	at := parsePath(path)
	e := b.entity(at.entity)
	if e == nil || e.is(TopicKind) && at.part != mainPart {
		return nil, ErrNotFound(path)
	}
	return &Inspector{&e.queues[at.part]}, nil
}

// Path is the entity's path as it was created.
func (w *Inspector) Path() string { return w.queue.entity.pathOf(w.queue.part) }

// A Stage is the stage of a message's life, as shown to people. Stages can be combined.
type Stage uint8

// The stages.
const (
	Waiting   Stage = 1 << iota // for a receiver
	Held                        // locked by a receiver, or about to be fetched by one
	Deferred                    // until requested by number; not held in the meantime
	Scheduled                   // for later
)

// stage returns the stage of a message.
func (m *message) stage() Stage {
	switch m.state {
	case locked:
		return Held
	case deferred:
		return Deferred
	case scheduled:
		return Scheduled
	default:
		return Waiting
	}
}

// A Snapshot is a snapshot of a message. It shares its bytes with the broker, so many are cheap.
type Snapshot struct {
	Sequence         int64
	EnqueuedSequence int64 // of the entity it was sent to
	Stage            Stage
	WasDeferred      bool // also while a receiver holds it
	Size             int64
	Enqueued         time.Time
	Expires          time.Time // zero for never
	Due              time.Time // when it is enqueued; zero unless it is scheduled
	LockedUntil      time.Time // zero unless it is held
	TTL              time.Duration
	Deliveries       int // that failed
	Priority         int
	Durable          bool
	Source           string // the entity that dead-lettered it, if it was forwarded as a dead letter

	message message
}

func snapshotOf(m *message) Snapshot {
	g := Snapshot{
		Sequence: m.seq, EnqueuedSequence: m.enqueueSeq, Stage: m.stage(), WasDeferred: m.wasDeferred, Size: m.size(),
		Enqueued: instant(m.enqueued), Expires: instant(m.expires), LockedUntil: instant(m.lockedUntil), TTL: ttlOf(m),
		Deliveries: int(m.count), Priority: int(m.header &^ durable), Durable: m.header&durable != 0, message: *m,
	}
	if m.state == scheduled {
		g.Due = instant(m.due)
	}
	if m.extra != nil {
		g.Source = m.extra.source
	}
	return g
}

// instant returns a time in milliseconds since 1970; 0 is the zero one.
func instant(milli int64) time.Time {
	if milli == 0 {
		return time.Time{}
	}
	return time.UnixMilli(milli).UTC()
}

// Message returns the message as sent, without header and annotations. The bytes belong to the broker.
func (g Snapshot) Message() amqp.Message { return reparse(g.message.payload) }

// Payload returns a copy of the message as a receiver would get it, without a lock.
func (g Snapshot) Payload() []byte {
	shown := ready
	if g.Stage == Scheduled {
		shown = scheduled
	}
	return g.message.appendDelivery(nil, shown)
}

// Annotations are the sender's annotations.
func (g Snapshot) Annotations() amqp.Map {
	if g.message.extra == nil {
		return nil
	}
	var pairs amqp.Map
	for rest := g.message.extra.annotations; len(rest) > 0; {
		key, after, err := amqp.Unmarshal(rest)
		if err != nil {
			return pairs // it was checked when it came
		}
		value, after, err := amqp.Unmarshal(after)
		if err != nil {
			return pairs
		}
		pairs, rest = append(pairs, amqp.Pair{Key: key, Value: value}), after
	}
	return pairs
}

// maxBrowsed is the number of messages that [Inspector.Browse] examines per call, because the entity is locked meanwhile.
const maxBrowsed = 1 << 16

// Browse returns up to most messages of some stages from a sequence number on, and the number to continue with, 0 at
// the end. A call may find no messages before the end.
func (w *Inspector) Browse(from int64, most int, stages Stage) (found []Snapshot, next int64, err error) {
	return w.browse(w.queue.shelf.Ascend, max(from, 0), most, stages)
}

// BrowseBack is Browse in the other direction: the newest first.
func (w *Inspector) BrowseBack(from int64, most int, stages Stage) (found []Snapshot, next int64, err error) {
	return w.browse(w.queue.shelf.Descend, max(from, 0), most, stages)
}

func (w *Inspector) browse(
	along func(from int64, f func(*message) bool), from int64, most int, stages Stage,
) (found []Snapshot, next int64, err error) {
	e := w.queue.entity
	if err := e.lock(); err != nil {
		return nil, 0, err
	}
	defer e.mu.Unlock()
	now, seen := nowMilli(), 0
	along(from, func(m *message) bool {
		if len(found) >= most || seen >= maxBrowsed {
			next = m.seq
			return false
		}
		seen++
		if stages&m.stage() != 0 && (!m.expired(now) || m.state == locked) {
			found = append(found, snapshotOf(m))
		}
		return true
	})
	return found, next, nil
}

// Message returns one message. It fails with MessageNotFound.
func (w *Inspector) Message(sequence int64) (Snapshot, error) {
	e := w.queue.entity
	if err := e.lock(); err != nil {
		return Snapshot{}, err
	}
	defer e.mu.Unlock()
	m := w.queue.shelf.Get(max(sequence, 0))
	if m == nil || m.expired(nowMilli()) && m.state != locked {
		return Snapshot{}, errNoMessage(sequence, "messages")
	}
	return snapshotOf(m), nil
}

// free returns a message that no receiver holds.
func (q *queue) free(sequence int64) (*message, error) {
	m := q.shelf.Get(max(sequence, 0))
	switch {
	case m == nil || m.expired(nowMilli()) && m.state != locked:
		return nil, errNoMessage(sequence, "messages")
	case m.state == locked || m.txn != nil:
		return nil, fail(MessageLockLost, "The message with sequence number %d is with a receiver.", sequence)
	}
	return m, nil
}

// change changes a message that no receiver holds, and stores the result. It fails with MessageNotFound, or with
// MessageLockLost while a receiver has it.
func (w *Inspector) change(sequence int64, do func(*message, *entry) error) (Receipt, error) {
	e := w.queue.entity
	if err := e.lock(); err != nil {
		return Receipt{}, err
	}
	defer e.unlock()
	m, err := w.queue.free(sequence)
	if err != nil {
		return Receipt{}, err
	}
	en := e.broker.entry()
	if err := do(m, en); err != nil {
		return Receipt{}, err
	}
	e.accessed = nowMilli()
	return e.broker.commit(en), nil
}

// Remove deletes one message. It fails with MessageNotFound, or with MessageLockLost while a receiver has it.
func (w *Inspector) Remove(sequence int64) (Receipt, error) {
	return w.change(sequence, func(m *message, en *entry) error {
		m.remove(en)
		return nil
	})
}

// DeadLetter dead-letters a waiting or deferred message, as a receiver would. It fails with MessageNotFound, with
// MessageLockLost while a receiver has it, or with NotAllowed for a scheduled message or a dead letter.
func (w *Inspector) DeadLetter(sequence int64, reason, description string) (Receipt, error) {
	if err := w.queue.allows(Outcome{Kind: MoveDeadLetter}); err != nil {
		return Receipt{}, err
	}
	return w.change(sequence, func(m *message, en *entry) error {
		if m.stage() == Scheduled {
			return fail(NotAllowed, "The message with sequence number %d is scheduled for later.", sequence)
		}
		w.queue.entity.deadLetter(m, cause{reason: reason, description: description}, en)
		return nil
	})
}

// Last is the highest sequence number that a message of the entity has had.
func (w *Inspector) Last() (int64, error) {
	e := w.queue.entity
	if err := e.lock(); err != nil {
		return 0, err
	}
	defer e.mu.Unlock()
	return e.seq, nil
}

// maxPurged is the number of messages that [Inspector.Purge] examines per call, because the entity is locked meanwhile.
const maxPurged = 8192

// Purged is the result of a purge.
type Purged struct {
	Removed int
	Held    int   // by receivers
	Next    int64 // the sequence number to continue with, 0 at the end
}

// Purge deletes messages of some stages between two sequence numbers, both included, except messages held by receivers.
func (w *Inspector) Purge(from, to int64, stages Stage) (p Purged, receipt Receipt, err error) {
	e := w.queue.entity
	if err := e.lock(); err != nil {
		return p, receipt, err
	}
	defer e.unlock()
	var chosen []*message
	seen := 0
	w.queue.shelf.Ascend(max(from, 0), func(m *message) bool {
		if seen == maxPurged && m.seq <= to {
			p.Next = m.seq
		}
		if seen == maxPurged || m.seq > to {
			return false
		}
		seen++
		switch {
		case stages&m.stage() == 0:
		case m.state == locked || m.txn != nil:
			p.Held++
		default:
			chosen = append(chosen, m)
		}
		return true
	})
	p.Removed = len(chosen)
	return p, e.removeAll(chosen), nil
}

// Send accepts a message, as [Target.Send] does. It fails with NotAllowed unless the entity is a queue or topic.
func (w *Inspector) Send(message amqp.Message) (Receipt, error) {
	e := w.queue.entity
	if e.is(SubscriptionKind) || w.queue.part != mainPart {
		return Receipt{}, fail(NotAllowed, "'%s' cannot be sent to.", w.Path())
	}
	return (&Target{e}).Send([]amqp.Message{message}, nil)
}

// Resubmit replaces a dead letter by a message in its own entity, or for a subscription in its topic, in one step.
// Duplicate detection ignores the message, also where it is forwarded to. It fails with MessageNotFound, with
// MessageLockLost while a receiver has the dead letter, with NotAllowed if no subscription of the topic would accept
// the message, or as Send does.
func (w *Inspector) Resubmit(sequence int64, message amqp.Message, toTopic bool) (Receipt, error) {
	q := w.queue
	e := q.entity
	if q.part == mainPart {
		return Receipt{}, fail(NotAllowed, "'%s' has no dead letters.", w.Path())
	}
	in, err := newIntake(message, false)
	if err != nil {
		return Receipt{}, err
	}
	in.id, in.message.skipDedup = "", true
	target := e
	if toTopic && e.topic != nil {
		target = e.topic
	}
	all := e.broker.lockTargets([]*entity{e, target})
	defer unlockAll(all)
	if e.deleted {
		return Receipt{}, ErrNotFound(e.path)
	}
	dead, err := q.free(sequence)
	if err != nil {
		return Receipt{}, err
	}
	intakes := []intake{in}
	e.size -= dead.size() // frees space for the new message
	err = target.accepts(intakes, 0)
	e.size += dead.size()
	if err != nil {
		return Receipt{}, err
	}
	now := nowMilli()
	if target.is(TopicKind) && !target.finds(in.message, now) {
		return Receipt{}, fail(NotAllowed, "No subscription of '%s' takes the message with sequence number %d: its rules leave it out.",
			target.path, sequence)
	}
	en := e.broker.entry()
	e.accessed, target.accessed = now, now
	dead.remove(en)
	target.admit(&intakes[0], now, en)
	target.serve(now, en)
	return e.broker.commit(en), nil
}

// A SessionSnapshot is a snapshot of a session.
type SessionSnapshot struct {
	ID          string
	Messages    int       // not completed, in all stages
	LockedUntil time.Time // zero: no receiver has it
	State       []byte    // state set by receivers, at most its first [MaxSessionState] bytes; the broker's
	StateSize   int       // -1: none
	Updated     time.Time // of the state
}

// MaxSessionState is the maximum number of bytes of a session's state that is shown.
const MaxSessionState = 4096

// Sessions returns up to most sessions whose ids contain a text, in any case, by id, and the number of the remaining ones.
func (w *Inspector) Sessions(text string, most int) (found []SessionSnapshot, more int, err error) {
	e := w.queue.entity
	if err := e.lock(); err != nil {
		return nil, 0, err
	}
	defer e.mu.Unlock()
	wanted := lower(text)
	for _, s := range e.sessions {
		if !strings.Contains(lower(s.id), wanted) {
			continue
		}
		g := SessionSnapshot{ID: s.id, Messages: s.messages, StateSize: -1, Updated: instant(s.updated)}
		if s.holder != nil {
			g.LockedUntil = instant(s.lockedUntil)
		}
		if s.hasData {
			g.State, g.StateSize = s.data[:min(len(s.data), MaxSessionState)], len(s.data)
		}
		found = append(found, g)
	}
	slices.SortFunc(found, func(a, b SessionSnapshot) int { return cmp.Compare(a.ID, b.ID) })
	if more = len(found) - most; more > 0 {
		return found[:most], more, nil
	}
	return found, 0, nil
}
