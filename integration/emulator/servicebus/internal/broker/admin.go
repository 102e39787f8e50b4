package broker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

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
		return errNotFound(path)
	}
	return b.remove(e, nil)
}

// Entity describes the entity at a path. It fails with NotFound if the path has no entity, or one of another kind than those given.
func (b *Broker) Entity(path string, kinds ...Kind) (Info, error) {
	e := b.entity(path)
	if e == nil || len(kinds) > 0 && !slices.ContainsFunc(kinds, e.is) {
		return Info{}, errNotFound(path)
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

// AuthorizationRules returns the keys of the queue or topic at a path, or none.
func (b *Broker) AuthorizationRules(path string) []AuthorizationRule {
	e := b.entity(path)
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.settings.AuthorizationRules
}

// AllAuthorizationRules returns the keys of all queues and topics, by their paths.
func (b *Broker) AllAuthorizationRules() map[string][]AuthorizationRule {
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
