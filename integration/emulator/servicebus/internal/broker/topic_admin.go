package broker

import "github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"

func (o TopicOptions) settings() settings {
	return settings{
		QueueOptions: QueueOptions{
			DefaultTTL: o.DefaultTTL, DuplicateDetection: o.DuplicateDetection, DuplicateWindow: o.DuplicateWindow,
			AutoDeleteOnIdle: o.AutoDeleteOnIdle, MaxSize: o.MaxSize, MaxMessageSize: o.MaxMessageSize, Status: o.Status,
			UserMetadata: o.UserMetadata, Partitioning: o.Partitioning, Express: o.Express, NoBatching: o.NoBatching,
			AuthorizationRules: o.AuthorizationRules,
		},
		SupportOrdering: o.SupportOrdering,
	}
}

func topicInfo(e *entity) TopicInfo {
	s := e.settings
	info := TopicInfo{
		Name: e.name,
		Options: TopicOptions{
			DefaultTTL: s.DefaultTTL, DuplicateDetection: s.DuplicateDetection, DuplicateWindow: s.DuplicateWindow,
			AutoDeleteOnIdle: s.AutoDeleteOnIdle, MaxSize: s.MaxSize, MaxMessageSize: s.MaxMessageSize, Status: s.Status,
			UserMetadata: s.UserMetadata, SupportOrdering: s.SupportOrdering, Partitioning: s.Partitioning, Express: s.Express,
			NoBatching: s.NoBatching, AuthorizationRules: s.AuthorizationRules,
		},
		Usage:         e.usage(),
		Subscriptions: len(*e.subscriptions.Load()),
	}
	for _, subscription := range *e.subscriptions.Load() {
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

// CreateTopic makes a topic. It fails with EntityExists if there is a queue or topic of the name, or ArgumentError.
func (b *Broker) CreateTopic(name string, options TopicOptions) (TopicInfo, error) {
	e, err := b.create(topicKind, "", name, options.settings(), []Rule{})
	return describe(e, err, topicInfo)
}

// UpdateTopic changes a topic's options.
func (b *Broker) UpdateTopic(name string, options TopicOptions) (TopicInfo, error) {
	e, err := b.update(topicKind, name, options.settings())
	return describe(e, err, topicInfo)
}

// DeleteTopic deletes a topic and its subscriptions.
func (b *Broker) DeleteTopic(name string) error {
	return b.delete(topicKind, name)
}

// Topic describes a topic.
func (b *Broker) Topic(name string) (TopicInfo, error) {
	e, err := b.find(topicKind, name)
	return describe(e, err, topicInfo)
}

// Topics describes all topics, by name.
func (b *Broker) Topics() []TopicInfo { return infos(b.ofKind(topicKind), topicInfo) }

// PurgeTopic removes the scheduled messages of a topic, which has no others, and returns how many.
func (b *Broker) PurgeTopic(name string) (int, Receipt, error) {
	e, err := b.find(topicKind, name)
	if err != nil {
		return 0, Receipt{}, err
	}
	return (&Source{&e.queues[mainPart]}).Purge()
}
