package broker

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/index"
)

// A Kind is a kind of entity.
type Kind uint8

// The kinds of entities.
const (
	QueueKind Kind = iota
	TopicKind
	SubscriptionKind
)

// String is the name of the kind in errors.
func (k Kind) String() string {
	return [...]string{"Queue", "Topic", "Subscription"}[k]
}

// settings are the options of an entity as the journal stores them.
type settings struct {
	Options

	// Auto reports that the first send or receive created the entity.
	Auto bool
}

// An entity is a queue, topic or subscription. The fields above mu do not change.
type entity struct {
	broker *Broker
	id     uint64
	name   string // as it was created
	path   string
	topic  *entity // of a subscription

	kind          atomic.Uint32             // a queue may become a topic with mu held; see [Broker.becomeTopic]
	subscriptions atomic.Pointer[[]*entity] // of a topic, by id; changed with the topic's mu held
	rules         atomic.Pointer[[]Rule]    // of a subscription, by name; changed with mu held

	mu        sync.Mutex
	settings  settings
	deleted   bool
	queues    [parts]queue
	seq       int64 // the last that was given
	nonce     uint64
	size      int64
	created   int64
	updated   int64
	loaded    int64 // when this process began to know the entity
	accessed  int64 // since then; 0 for never
	pending   bool  // messages wait to be forwarded to another entity
	messages  index.Heap[*message]
	seen      index.Duplicates
	receivers []*Receiver

	sessions  map[string]*session
	locks     index.Heap[*session]
	offers    []*session  // that may be free and have messages
	acceptors []*acceptor // that wait for one

	visit   index.Visit[*entity]
	visitAt int64 // when the timetable has the next visit; 0 for never
}

func newEntity(b *Broker, id uint64, k Kind, topic *entity, name string) *entity {
	now := time.Now().UnixMilli()
	e := &entity{
		broker: b, id: id, name: name, path: name, topic: topic,
		created: now, updated: now, loaded: now, nonce: newNonce(),
	}
	e.kind.Store(uint32(k))
	if topic != nil {
		e.path = topic.name + "/Subscriptions/" + name
	}
	for i := range e.queues {
		e.queues[i].entity, e.queues[i].part = e, part(i)
	}
	e.visit.Entity = e
	e.subscriptions.Store(&[]*entity{})
	e.rules.Store(&[]Rule{})
	return e
}

func (e *entity) is(k Kind) bool { return Kind(e.kind.Load()) == k }

// pathOf is the path of one of an entity's queues.
func (e *entity) pathOf(p part) string {
	switch p {
	case deadPart:
		return e.path + "/$DeadLetterQueue"
	case transferPart:
		return e.path + "/$Transfer/$DeadLetterQueue"
	default:
		return e.path
	}
}

// may returns an error if the entity's status forbids the operation.
func (e *entity) may(forbidden Status) error {
	switch {
	case e.deleted:
		return ErrNotFound(e.path)
	case e.settings.Status == Disabled || e.settings.Status == forbidden:
		return errDisabled(e.path)
	default:
		return nil
	}
}

// lock locks the entity and fails if it was deleted.
func (e *entity) lock() error {
	e.mu.Lock()
	if e.deleted {
		e.mu.Unlock()
		return ErrNotFound(e.path)
	}
	return nil
}

// unlock unlocks the entity and then runs the work that was deferred until the unlock.
func (e *entity) unlock() {
	pending := e.release()
	if pending {
		e.broker.pump(e)
	}
}

// release unlocks the entity and reports whether messages wait to be forwarded.
func (e *entity) release() bool {
	e.arrange()
	pending := e.pending
	e.pending = false
	e.mu.Unlock()
	return pending
}

// arrange schedules the entity's next visit in the timetable.
func (e *entity) arrange() {
	if due := e.nextDue(); due != 0 && (e.visitAt == 0 || due < e.visitAt) {
		e.visitAt = due
		e.broker.timetable.Set(&e.visit, due)
	}
}

// nextDue is the time of the entity's next timer; 0: never.
func (e *entity) nextDue() int64 {
	due := earlier(e.messages.Next(), e.locks.Next())
	if idle := e.settings.AutoDeleteOnIdle; idle > 0 && !e.deleted {
		due = earlier(due, e.lastUse()+idle.Milliseconds())
	}
	return earlier(due, e.seen.Due())
}

// earlier returns the earlier of two times; 0 means never.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// see runs the timers that are due.
func (e *entity) see(now int64) {
	e.mu.Lock()
	e.visitAt = 0
	if e.deleted {
		e.mu.Unlock()
		return
	}
	en := e.broker.entry()
	for m, ok := e.messages.First(now); ok; m, ok = e.messages.First(now) {
		e.overdue(m, now, en)
	}
	for s, ok := e.locks.First(now); ok; s, ok = e.locks.First(now) {
		e.endSession(s, true, en)
	}
	e.seen.Forget(now)
	idle := e.settings.AutoDeleteOnIdle.Milliseconds()
	if len(e.receivers)+len(e.acceptors) > 0 {
		e.accessed = now
	}
	unused := idle > 0 && e.lastUse()+idle <= now
	e.dispatchAll(now, en)
	e.broker.commit(en)
	e.unlock()
	if unused {
		e.broker.deleteIdle(e, now)
	}
}

// overdue handles a message whose timer is due.
func (e *entity) overdue(m *message, now int64, en *entry) {
	switch m.state {
	case locked:
		e.loseLock(m, now, en)
	case scheduled:
		e.activate(m, now, en)
	case ready, deferred:
		e.expire(m, en)
	default:
		m.due = 0
		e.messages.Fix(m)
	}
}

// counts are the messages of the entity.
func (e *entity) counts() Counts {
	queued := &e.queues[mainPart]
	counts := Counts{
		Active:             int64(queued.shelf.Len() - queued.scheduled),
		Scheduled:          int64(queued.scheduled),
		DeadLetter:         int64(e.queues[deadPart].shelf.Len()),
		TransferDeadLetter: int64(e.queues[transferPart].shelf.Len()),
	}
	if queued.goesOn() {
		counts.Active, counts.Transfer = 0, counts.Active
	}
	return counts
}

func (e *entity) usage() Usage {
	usage := Usage{
		Counts: e.counts(), Deferred: int64(e.queues[mainPart].deferred), Size: e.size, Receivers: len(e.receivers),
		Created: time.UnixMilli(e.created).UTC(), Updated: time.UnixMilli(e.updated).UTC(),
	}
	switch {
	case e.accessed != 0:
		usage.Accessed = time.UnixMilli(e.accessed).UTC()
	case e.is(SubscriptionKind): // the service takes their creation for an access
		usage.Accessed = usage.Created
	}
	return usage
}

// lastUse is since when the entity is idle.
func (e *entity) lastUse() int64 { return max(e.loaded, e.accessed) }

// dispatchAll delivers the ready messages of all queues.
func (e *entity) dispatchAll(now int64, en *entry) {
	for i := range e.queues {
		e.queues[i].dispatch(now, en)
	}
}

// lockAll locks entities in the order of their ids.
func lockAll(entities []*entity) []*entity {
	slices.SortFunc(entities, func(a, b *entity) int { return cmp.Compare(a.id, b.id) })
	entities = slices.Compact(entities)
	for _, e := range entities {
		e.mu.Lock()
	}
	return entities
}

// unlockAll unlocks entities and then runs the work that was deferred until the unlock.
func unlockAll(entities []*entity) {
	var pending []*entity
	for _, e := range entities {
		if e.release() {
			pending = append(pending, e)
		}
	}
	for _, e := range pending {
		e.broker.pump(e)
	}
}
