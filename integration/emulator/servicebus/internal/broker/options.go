package broker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// A Status limits the operations on an entity.
type Status string

// The statuses. The empty status is Active.
const (
	Active          Status = "Active"
	Disabled        Status = "Disabled"
	SendDisabled    Status = "SendDisabled"
	ReceiveDisabled Status = "ReceiveDisabled"
)

// MaxLockDuration is the longest lock there is.
const MaxLockDuration = 5 * time.Minute

// Options are the settings of an entity. The zero value is valid. Fields that a kind of entity lacks have no effect. The journal
// stores the fields in this order.
type Options struct {
	// LockDuration is the duration of a receiver's lock on a message or session, at most [MaxLockDuration]. Default:
	// a minute.
	LockDuration time.Duration
	// MaxDeliveryCount is the number of deliveries after which a message becomes a dead letter. Default: 10.
	MaxDeliveryCount int
	// RequiresSession has every message belong to a session. It cannot be changed.
	RequiresSession bool
	// DefaultTTL is the time to live of messages that set none, and the maximum for those that do. Default: for ever.
	DefaultTTL time.Duration
	// DeadLetterOnExpiration keeps messages that have expired as dead letters.
	DeadLetterOnExpiration bool
	// DuplicateDetection drops messages with an id that was seen within DuplicateWindow (default: 10 minutes). It cannot be changed.
	DuplicateDetection bool
	DuplicateWindow    time.Duration
	// ForwardTo is the queue or topic that receives all messages; ForwardDeadLettersTo receives the dead letters.
	// Either is a name or an address, see [TargetName], and stored unchanged.
	ForwardTo            string
	ForwardDeadLettersTo string
	// AutoDeleteOnIdle is after which time without use the entity deletes itself. Default: never.
	AutoDeleteOnIdle time.Duration
	// MaxSize limits the bytes of all messages of the entity. Default: no limit.
	MaxSize int64
	// MaxMessageSize limits the bytes of one message. Default: the broker's limit.
	MaxMessageSize int64
	Status         Status
	UserMetadata   string
	// Partitioning, Express and NoBatching are stored and have no effect. AuthorizationRules are keys that give access to the entity.
	Partitioning       bool
	Express            bool
	NoBatching         bool
	AuthorizationRules []AuthorizationRule
	// DropOnFilterError drops messages on which a filter of a subscription fails. Default: they become dead letters of
	// the subscription.
	DropOnFilterError bool
	// SupportOrdering of a topic is stored and has no effect.
	SupportOrdering bool
}

// of returns the options without those that a kind of entity lacks.
func (o Options) of(k Kind) Options {
	if k != SubscriptionKind {
		o.DropOnFilterError = false
	}
	if k != TopicKind {
		o.SupportOrdering = false
	}
	switch k {
	case QueueKind:
	case TopicKind:
		o.LockDuration, o.MaxDeliveryCount, o.RequiresSession, o.DeadLetterOnExpiration = 0, 0, false, false
		o.ForwardTo, o.ForwardDeadLettersTo = "", ""
	case SubscriptionKind:
		o.DuplicateDetection, o.DuplicateWindow, o.MaxSize, o.MaxMessageSize = false, 0, 0, 0
		o.Partitioning, o.Express, o.AuthorizationRules = false, false, nil
	}
	return o
}

// An AuthorizationRule is a key of an entity as administration clients write it. The broker stores it; the server authorizes with it.
type AuthorizationRule struct {
	Type         string   `json:"Type" xml:"-"`                     // "SharedAccessAuthorizationRule", say
	ClaimType    string   `json:"ClaimType" xml:"ClaimType"`        // "SharedAccessKey", say
	ClaimValue   string   `json:"ClaimValue" xml:"ClaimValue"`      // "None", say
	Rights       []string `json:"Rights" xml:"Rights>AccessRights"` // of Manage, Send and Listen
	KeyName      string   `json:"KeyName" xml:"KeyName"`
	PrimaryKey   string   `json:"PrimaryKey" xml:"PrimaryKey"`     // in base64
	SecondaryKey string   `json:"SecondaryKey" xml:"SecondaryKey"` // in base64
}

// A Rule selects messages for a subscription and may change them.
type Rule struct {
	Name    string
	Filter  filter.Filter
	Action  *filter.Action // nil for none
	Created time.Time      // set by the broker
}

// DefaultRule is the name of the rule that a new subscription has: it takes every message.
const DefaultRule = "$Default"

// Counts are the messages of an entity.
type Counts struct {
	Active             int64 `json:"active"`
	DeadLetter         int64 `json:"deadLetter"`
	Scheduled          int64 `json:"scheduled"`
	Transfer           int64 `json:"transfer"`
	TransferDeadLetter int64 `json:"transferDeadLetter"`
}

// Total is the number of all messages.
func (c Counts) Total() int64 {
	return c.Active + c.DeadLetter + c.Scheduled + c.Transfer + c.TransferDeadLetter
}

// Usage is the content of an entity and its last use.
type Usage struct {
	Counts

	Deferred int64 // of those that are active, and not with a receiver at this moment
	Size     int64 // bytes of all messages
	// Receivers is the number of open receivers, including receivers of dead letters.
	Receivers int
	Created   time.Time
	Updated   time.Time
	Accessed  time.Time // last send or receive since the broker was loaded; else zero, or when a subscription was created
}

// An Info describes an entity. The active messages of a topic are in its subscriptions, so its Active is 0.
type Info struct {
	Kind    Kind
	Path    string // "orders", "events/Subscriptions/all"
	Name    string
	Topic   string // of a subscription
	Options Options
	Usage   Usage

	Subscriptions int // of a topic

	// Undecided reports that sending created the queue, and that a first subscription would make it a topic.
	Undecided bool
	// Rules of the topic's subscriptions, by kind. Rules that match all messages, or none, count as SQL.
	SQLFilters         int
	CorrelationFilters int
}

// SubscriptionPath returns the path of a subscription.
func SubscriptionPath(topic, name string) string { return topic + "/Subscriptions/" + name }

// CreateQueue makes a queue. It fails with EntityExists if there is a queue or topic of the name, or ArgumentError.
func (b *Broker) CreateQueue(name string, options Options) (Info, error) {
	return describe(b.create(QueueKind, "", name, settings{Options: options}, []Rule{}))
}

// CreateTopic makes a topic. It fails as CreateQueue does.
func (b *Broker) CreateTopic(name string, options Options) (Info, error) {
	return describe(b.create(TopicKind, "", name, settings{Options: options}, []Rule{}))
}

// CreateSubscription makes a subscription with the given rule, or one named [DefaultRule] that takes every message. A rule
// without a name gets that name.
func (b *Broker) CreateSubscription(topic, name string, options Options, rule *Rule) (Info, error) {
	first := Rule{}
	if rule != nil {
		first = *rule
	}
	first.Name = cmp.Or(first.Name, DefaultRule)
	if err := checkRuleName(first.Name); err != nil {
		return Info{}, err
	}
	return describe(b.create(SubscriptionKind, topic, name, settings{Options: options}, []Rule{first}))
}

// Update changes the options of an entity. It fails with NotFound unless the path has an entity of the kind.
func (b *Broker) Update(k Kind, path string, options Options) (Info, error) {
	return describe(b.update(k, path, settings{Options: options}))
}

// Delete deletes an entity with its messages and subscriptions.
func (b *Broker) Delete(path string) error {
	e := b.entity(path)
	if e == nil {
		return ErrNotFound(path)
	}
	return b.remove(e, nil)
}

// Entity describes the entity at a path. It fails with NotFound if the path has no entity, or one of another kind than those given.
func (b *Broker) Entity(path string, kinds ...Kind) (Info, error) {
	e := b.entity(path)
	if e == nil || len(kinds) > 0 && !slices.ContainsFunc(kinds, e.is) {
		return Info{}, ErrNotFound(path)
	}
	return describe(e, nil)
}

// Entities describes all entities by kind and name: queues, then topics, each followed by its subscriptions.
func (b *Broker) Entities() []Info {
	all := infos(b.ofKind(QueueKind))
	for _, topic := range infos(b.ofKind(TopicKind)) {
		subscriptions, err := b.Subscriptions(topic.Path)
		if err == nil { // else it was deleted meanwhile
			all = append(append(all, topic), subscriptions...)
		}
	}
	return all
}

// Subscriptions describes all subscriptions of a topic, by name.
func (b *Broker) Subscriptions(topic string) ([]Info, error) {
	e, err := b.find(TopicKind, topic)
	if err != nil {
		return nil, err
	}
	return infos(slices.Clone(*e.subscriptions.Load())), nil
}

// infos describes entities, by name.
func infos(entities []*entity) []Info {
	slices.SortFunc(entities, func(a, b *entity) int { return strings.Compare(lower(a.name), lower(b.name)) })
	described := make([]Info, 0, len(entities))
	for _, e := range entities {
		e.mu.Lock()
		if !e.deleted {
			described = append(described, e.info())
		}
		e.mu.Unlock()
	}
	return described
}

// describe describes one entity, or passes the error on.
func describe(e *entity, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.info(), nil
}

func (b *Broker) ofKind(k Kind) []*entity {
	return slices.DeleteFunc(b.all(), func(e *entity) bool { return !e.is(k) })
}

// info describes the entity, whose mu is held.
func (e *entity) info() Info {
	k := Kind(e.kind.Load())
	info := Info{Kind: k, Path: e.path, Name: e.name, Options: e.settings.of(k), Usage: e.usage()}
	info.Undecided = k == QueueKind && e.undecided()
	if e.topic != nil {
		info.Topic = e.topic.name
	}
	for _, subscription := range *e.subscriptions.Load() {
		info.Subscriptions++
		for _, rule := range *subscription.rules.Load() {
			if rule.Filter.Kind() == filter.Correlation {
				info.CorrelationFilters++
			} else {
				info.SQLFilters++
			}
		}
	}
	return info
}

// AuthorizationRules returns the keys of all queues and topics, by their paths.
func (b *Broker) AuthorizationRules() map[string][]AuthorizationRule {
	rules := map[string][]AuthorizationRule{}
	for _, e := range b.all() {
		e.mu.Lock()
		if of := e.settings.AuthorizationRules; len(of) > 0 {
			rules[e.path] = of
		}
		e.mu.Unlock()
	}
	return rules
}
