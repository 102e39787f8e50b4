package broker

import "slices"

func (o SubscriptionOptions) settings() settings {
	return settings{
		QueueOptions: QueueOptions{
			LockDuration: o.LockDuration, MaxDeliveryCount: o.MaxDeliveryCount, RequiresSession: o.RequiresSession,
			DefaultTTL: o.DefaultTTL, DeadLetterOnExpiration: o.DeadLetterOnExpiration, ForwardTo: o.ForwardTo,
			ForwardDeadLettersTo: o.ForwardDeadLettersTo, AutoDeleteOnIdle: o.AutoDeleteOnIdle, Status: o.Status,
			UserMetadata: o.UserMetadata, NoBatching: o.NoBatching,
		},
		DropOnFilterError: o.DropOnFilterError,
	}
}

func subscriptionInfo(e *entity) SubscriptionInfo {
	s := e.settings
	return SubscriptionInfo{
		Topic: e.topic.name, Name: e.name,
		Options: SubscriptionOptions{
			LockDuration: s.LockDuration, MaxDeliveryCount: s.MaxDeliveryCount, RequiresSession: s.RequiresSession,
			DefaultTTL: s.DefaultTTL, DeadLetterOnExpiration: s.DeadLetterOnExpiration, DropOnFilterError: s.DropOnFilterError,
			ForwardTo: s.ForwardTo, ForwardDeadLettersTo: s.ForwardDeadLettersTo, AutoDeleteOnIdle: s.AutoDeleteOnIdle,
			Status: s.Status, UserMetadata: s.UserMetadata, NoBatching: s.NoBatching,
		},
		Usage: e.usage(),
	}
}

func subscriptionPath(topic, name string) string { return topic + "/Subscriptions/" + name }

// CreateSubscription makes a subscription with the given rule, or one named [DefaultRule] that takes every message. A rule
// without a name gets that name.
func (b *Broker) CreateSubscription(topic, name string, options SubscriptionOptions, rule *Rule) (SubscriptionInfo, error) {
	first := Rule{}
	if rule != nil {
		first = *rule
	}
	if first.Name == "" {
		first.Name = DefaultRule
	}
	if err := checkRuleName(first.Name); err != nil {
		return SubscriptionInfo{}, err
	}
	e, err := b.create(subscriptionKind, topic, name, options.settings(), []Rule{first})
	return describe(e, err, subscriptionInfo)
}

// UpdateSubscription changes a subscription's options.
func (b *Broker) UpdateSubscription(topic, name string, options SubscriptionOptions) (SubscriptionInfo, error) {
	e, err := b.update(subscriptionKind, subscriptionPath(topic, name), options.settings())
	return describe(e, err, subscriptionInfo)
}

// DeleteSubscription deletes a subscription and its messages.
func (b *Broker) DeleteSubscription(topic, name string) error {
	return b.delete(subscriptionKind, subscriptionPath(topic, name))
}

// Subscription describes a subscription.
func (b *Broker) Subscription(topic, name string) (SubscriptionInfo, error) {
	e, err := b.find(subscriptionKind, subscriptionPath(topic, name))
	return describe(e, err, subscriptionInfo)
}

// Subscriptions describes all subscriptions of a topic, by name.
func (b *Broker) Subscriptions(topic string) ([]SubscriptionInfo, error) {
	e, err := b.find(topicKind, topic)
	if err != nil {
		return nil, err
	}
	return infos(slices.Clone(*e.subscriptions.Load()), subscriptionInfo), nil
}
