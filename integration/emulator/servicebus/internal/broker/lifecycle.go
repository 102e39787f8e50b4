package broker

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/index"
)

// How long names may be.
const (
	maxName             = 260
	maxSubscriptionName = 50
)

var namePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._~/-]*[A-Za-z0-9_~-])?$`)

// checkName validates the name of an entity or rule.
func checkName(name string, longest int) error {
	switch {
	case name == "" || len(name) > longest:
		return fail(ArgumentError, "The entity name '%.300s' must have between 1 and %d characters.", name, longest)
	case !namePattern.MatchString(name) || strings.Contains(name, "//") || strings.Contains(lower(name)+"/", subscriptionsInfix):
		return fail(ArgumentError, "The entity name '%s' may have letters, digits, '.', '-', '_', '~' and '/', and must begin and end "+
			"with a letter or digit.", name)
	case longest == maxSubscriptionName && strings.Contains(name, "/"):
		return fail(ArgumentError, "The name '%s' may not have '/': only queues and topics have paths.", name)
	default:
		return nil
	}
}

// complete clears options that the kind does not have, sets defaults, and reports problems.
func (s *settings) complete(path string, k Kind) error {
	s.Options = s.of(k)
	s.LockDuration = cmp.Or(s.LockDuration, time.Minute)
	s.DuplicateWindow = cmp.Or(s.DuplicateWindow, 10*time.Minute)
	s.MaxDeliveryCount = cmp.Or(s.MaxDeliveryCount, 10)
	s.Status = cmp.Or(s.Status, Active)
	bad := func(what string) error { return fail(ArgumentError, "'%s': %s", path, what) }
	switch {
	case s.LockDuration < 0 || s.DuplicateWindow < 0 || s.DefaultTTL < 0 || s.AutoDeleteOnIdle < 0:
		return bad("a duration is negative.")
	case s.LockDuration > MaxLockDuration:
		return bad("LockDuration is longer than 5 minutes.")
	case s.MaxDeliveryCount < 0 || s.MaxSize < 0 || s.MaxMessageSize < 0:
		return bad("a limit is negative.")
	case !slices.Contains([]Status{Active, Disabled, SendDisabled, ReceiveDisabled}, s.Status):
		return bad("unknown status '" + string(s.Status) + "'.")
	case s.ForwardTo != "" && s.RequiresSession:
		return bad("an entity that requires sessions cannot forward messages.")
	case k == QueueKind && (leadsTo(s.ForwardTo, path) || leadsTo(s.ForwardDeadLettersTo, path)):
		return bad("an entity cannot forward to itself.")
	default:
		return nil
	}
}

// leadsTo reports whether a name or address belongs to a queue.
func leadsTo(address, name string) bool { return strings.EqualFold(TargetName(address), name) }

// TargetName returns the path of an entity that is given by path or as an address.
func TargetName(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		_, address, _ = strings.Cut(rest, "/")
	}
	return strings.Trim(address, "/")
}

// create makes an entity.
func (b *Broker) create(k Kind, topicName, name string, s settings, rules []Rule) (*entity, error) {
	longest := maxName
	if k == SubscriptionKind {
		longest = maxSubscriptionName
	}
	if err := checkName(name, longest); err != nil {
		return nil, err
	}
	path := name
	if k == SubscriptionKind {
		path = SubscriptionPath(topicName, name)
	}
	if err := s.complete(path, k); err != nil {
		return nil, err
	}
	if err := b.config.Tier.allows(k, &s); err != nil {
		return nil, err
	}
	e, receipt, err := b.register(k, topicName, name, s, rules)
	return e, Written(receipt, err)
}

// register makes an entity with checked settings.
func (b *Broker) register(k Kind, topicName, name string, s settings, rules []Rule) (*entity, Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var topic *entity
	path := name
	if k == SubscriptionKind {
		topic = b.entities[lower(topicName)]
		if topic == nil || !topic.is(TopicKind) {
			return nil, Receipt{}, ErrNotFound(topicName)
		}
		topic.mu.Lock() // nothing is sent meanwhile
		defer topic.mu.Unlock()
		path = SubscriptionPath(topic.name, name)
	}
	if b.entities[lower(path)] != nil {
		return nil, Receipt{}, fail(EntityExists, "The messaging entity '%s' already exists.", path)
	}
	if err := b.allowsMore(k, topic); err != nil {
		return nil, Receipt{}, err
	}
	b.lastID++
	e := newEntity(b, b.lastID, k, topic, name)
	e.settings = s
	e.seen.Window = s.DuplicateWindow
	for i := range rules {
		rules[i].Created = time.UnixMilli(e.created).UTC()
	}
	e.rules.Store(&rules)
	e.mu.Lock()
	defer e.unlock()
	b.insert(e)
	en := b.entry()
	en.remain(e)
	return e, b.commit(en), nil
}

// find returns the entity of a kind at a path.
func (b *Broker) find(k Kind, path string) (*entity, error) {
	e := b.entity(path)
	if e == nil || !e.is(k) {
		return nil, ErrNotFound(path)
	}
	return e, nil
}

// update gives an entity other settings.
func (b *Broker) update(k Kind, path string, s settings) (*entity, error) {
	e, err := b.find(k, path)
	if err != nil {
		return nil, err
	}
	if err := s.complete(e.path, k); err != nil {
		return nil, err
	}
	if err := b.config.Tier.allows(k, &s); err != nil {
		return nil, err
	}
	return e, Written(e.apply(s))
}

// apply gives the entity checked settings.
func (e *entity) apply(s settings) (Receipt, error) {
	if err := e.lock(); err != nil {
		return Receipt{}, err
	}
	defer e.unlock()
	if err := e.mayBecome(s); err != nil {
		return Receipt{}, err
	}
	e.settings = s
	e.seen.Window = s.DuplicateWindow
	now, en := nowMilli(), e.broker.entry()
	e.updated = now
	if err := e.may(ReceiveDisabled); err != nil {
		for len(e.receivers) > 0 {
			e.receivers[0].detach(err, en)
		}
	}
	for i := range e.queues {
		q := &e.queues[i]
		if q.goesOn() {
			e.pending = e.pending || q.ready.Len() > 0
			q.expel(fail(NotAllowed, "'%s' has auto-forwarding enabled.", e.path), en)
		}
	}
	e.dispatchAll(now, en)
	en.remain(e)
	return e.broker.commit(en), nil
}

// mayBecome reports which setting cannot be changed, if it would be, in the words of the service.
func (e *entity) mayBecome(s settings) error {
	kind := Kind(e.kind.Load())
	switch {
	case s.RequiresSession != e.settings.RequiresSession:
		return errFixed("RequiresSession", kind)
	case s.DuplicateDetection != e.settings.DuplicateDetection:
		return errFixed("RequiresDuplicateDetection", kind)
	default:
		return nil
	}
}

func errFixed(property string, k Kind) error {
	return fail(ArgumentError, "The value for the %s property of an existing %v cannot be changed. ", property, k)
}

// expel ends the receivers of a queue.
func (q *queue) expel(err error, en *entry) {
	for _, r := range slices.Clone(q.entity.receivers) {
		if r.source.queue == q {
			r.detach(err, en)
		}
	}
}

// remove deletes an entity, and the subscriptions of a topic, if condition is nil or returns true. It calls condition
// with the lock of the entity held.
func (b *Broker) remove(e *entity, condition func() bool) error {
	return Written(b.unregister(e, condition))
}

func (b *Broker) unregister(e *entity, condition func() bool) (Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doomed := append([]*entity{e}, *e.subscriptions.Load()...)
	all := lockAll(doomed)
	defer unlockAll(all)
	if e.deleted {
		return Receipt{}, ErrNotFound(e.path)
	}
	if condition != nil && !condition() {
		return Receipt{}, nil
	}
	en := b.entry()
	for _, gone := range slices.Backward(all) { // subscriptions before their topic
		gone.end()
		b.drop(gone)
		en.forget(gone)
	}
	return b.commit(en), nil
}

// end notifies receivers that the entity was deleted, and removes its messages.
func (e *entity) end() {
	e.deleted = true
	for _, a := range e.acceptors {
		close(a.got)
	}
	e.acceptors = nil
	for len(e.receivers) > 0 {
		e.receivers[0].detach(ErrNotFound(e.path), nil)
	}
	for _, s := range e.sessions {
		s.holder = nil // closing the receiver later releases nothing
	}
	for i := range e.queues {
		q := &e.queues[i]
		q.shelf, q.ready, q.hungry = index.Shelf[*message]{}, index.Heap[*turn]{}, nil
		q.scheduled, q.deferred = 0, 0
	}
	e.messages, e.locks, e.sessions, e.offers = index.Heap[*message]{}, index.Heap[*session]{}, nil, nil
	e.seen = index.Duplicates{}
	e.pending = false
}

// deleteIdle deletes an entity that has not been used for its time.
func (b *Broker) deleteIdle(e *entity, now int64) {
	err := b.remove(e, func() bool {
		idle := e.settings.AutoDeleteOnIdle.Milliseconds()
		return idle > 0 && e.lastUse()+idle <= now && len(e.receivers)+len(e.acceptors) == 0
	})
	if err != nil && Condition(err) != NotFound {
		b.config.Logger.Error("auto-delete on idle", "entity", e.path, "err", err)
	}
}

// autoCreate makes a queue, or a topic and a subscription, or returns nil if that cannot be.
func (b *Broker) autoCreate(path string) *entity {
	topicName, name, ok := CutSubscription(path)
	if !ok {
		_, _ = b.create(QueueKind, "", path, settings{Auto: true}, []Rule{}) // another may be first, or the name is no name
		return b.entity(path)
	}
	topic := b.entity(topicName)
	if topic == nil {
		topic, _ = b.create(TopicKind, "", topicName, settings{Auto: true}, []Rule{}) // as above
	}
	became := topic != nil && topic.is(QueueKind) && b.becomeTopic(topic)
	_, _ = b.create(SubscriptionKind, topicName, name, settings{Auto: true}, []Rule{{Name: DefaultRule}}) // as above
	if became {
		topic.mu.Lock()
		topic.pending = true // messages sent to the queue move to the subscription
		topic.unlock()
	}
	return b.entity(path)
}

// undecided reports whether a queue may be a topic: the first send created it, and before the first subscriber, a topic cannot
// be distinguished from a queue. A queue with receivers, dead letters, or locked or deferred messages is none. mu is held.
func (e *entity) undecided() bool {
	main := &e.queues[mainPart]
	return !e.deleted && e.settings.Auto && len(e.receivers) == 0 && e.queues[deadPart].shelf.Len() == 0 &&
		main.shelf.Len() == main.ready.Len()+main.scheduled
}

// becomeTopic turns an undecided queue into a topic, and reports whether it did.
func (b *Broker) becomeTopic(e *entity) bool {
	e.mu.Lock()
	defer e.unlock()
	if !e.undecided() {
		return false
	}
	e.kind.Store(uint32(TopicKind))
	for _, m := range e.queues[mainPart].shelf.All() {
		if m.state == ready {
			m.due = 0
			e.messages.Fix(m)
		}
	}
	en := b.entry()
	en.remain(e)
	b.commit(en)
	return true
}
