package servicebus

import (
	"fmt"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// QueueOptions are the settings of a queue. The zero value is valid. Fields that queues lack have no effect.
type QueueOptions = broker.Options

// TopicOptions are the settings of a topic. The zero value is valid. Fields that topics lack have no effect.
type TopicOptions = broker.Options

// SubscriptionOptions are the settings of a subscription. The zero value is valid. Fields that subscriptions lack have no effect.
type SubscriptionOptions = broker.Options

// Entities are queues and topics that a config names.
type Entities struct {
	Queues []Queue
	Topics []Topic
}

// A Queue is a queue to be made.
type Queue struct {
	Name    string
	Options QueueOptions
}

// A Topic is a topic to be made, with its subscriptions.
type Topic struct {
	Name          string
	Options       TopicOptions
	Subscriptions []Subscription
}

// A Subscription is a subscription to be made. Without rules it takes every message.
type Subscription struct {
	Name    string
	Options SubscriptionOptions
	Rules   []Rule
}

// install creates the entities. Existing ones are updated; other existing entities are unchanged.
//
// Forwarding is set after all entities exist, because they may forward to one another.
func (e Entities) install(b *broker.Broker) error {
	for _, queue := range e.Queues {
		options := queue.Options
		options.ForwardTo, options.ForwardDeadLettersTo = "", ""
		_, err := b.CreateQueue(queue.Name, options)
		if err != nil && broker.Condition(err) != broker.EntityExists {
			return &EntityError{fmt.Sprintf("queue %q", queue.Name), err}
		}
	}
	for _, topic := range e.Topics {
		_, err := b.CreateTopic(topic.Name, topic.Options)
		if broker.Condition(err) == broker.EntityExists {
			_, err = b.Update(broker.TopicKind, topic.Name, topic.Options)
		}
		if err != nil {
			return &EntityError{fmt.Sprintf("topic %q", topic.Name), err}
		}
	}
	for _, queue := range e.Queues {
		if _, err := b.Update(broker.QueueKind, queue.Name, queue.Options); err != nil {
			return &EntityError{fmt.Sprintf("queue %q", queue.Name), err}
		}
	}
	for _, topic := range e.Topics {
		for _, subscription := range topic.Subscriptions {
			if err := subscription.install(b, topic.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Subscription) install(b *broker.Broker, topic string) error {
	var first *Rule
	if len(s.Rules) > 0 {
		first = &s.Rules[0]
	}
	_, err := b.CreateSubscription(topic, s.Name, s.Options, first)
	if broker.Condition(err) == broker.EntityExists {
		_, err = b.Update(broker.SubscriptionKind, broker.SubscriptionPath(topic, s.Name), s.Options)
	}
	place := fmt.Sprintf("topic %q: subscription %q", topic, s.Name)
	if err != nil {
		return &EntityError{place, err}
	}
	for _, rule := range s.Rules {
		_, err := b.CreateRule(topic, s.Name, rule)
		if broker.Condition(err) == broker.EntityExists {
			_, err = b.UpdateRule(topic, s.Name, rule)
		}
		if err != nil {
			return &EntityError{fmt.Sprintf("%s: rule %q", place, rule.Name), err}
		}
	}
	return nil
}

// A Rule selects messages for a subscription and may change them.
type Rule = broker.Rule
