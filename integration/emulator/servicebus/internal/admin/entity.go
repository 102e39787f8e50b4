package admin

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// Defaults of entities.
const (
	defaultLock       = time.Minute
	defaultWindow     = 10 * time.Minute
	defaultDeliveries = 10
)

// list answers with the entities of a kind.
func (q *query) list(title string, kind broker.Kind) {
	q.feed(title, slices.DeleteFunc(q.broker.Entities(), func(info broker.Info) bool { return info.Kind != kind }))
}

func (q *query) listSubscriptions(topic string) {
	subscriptions, err := q.broker.Subscriptions(topic)
	if !q.failed(err) {
		q.feed("Subscriptions", subscriptions)
	}
}

func (q *query) feed(title string, all []broker.Info) {
	q.writeFeed(title, len(all), func(i int) entry { return q.entry(all[i]) })
}

// entity acts on one queue or topic, or on a subscription of a topic.
func (q *query) entity(topic, name string) {
	path := name
	if topic != "" {
		path = broker.SubscriptionPath(topic, name)
	}
	q.act(func() (entry, error) {
		info, err := q.broker.Entity(path)
		return q.entry(info), err
	}, func() error {
		return q.broker.Delete(path)
	}, func(c content) (entry, error) {
		switch {
		case topic != "" && c.Subscription != nil:
			return q.put(broker.SubscriptionKind, path, c.Subscription, func(o broker.Options) (broker.Info, error) {
				return q.createSubscription(topic, name, o, c.Subscription.first)
			})
		case topic != "":
			return entry{}, badBody("The body has no SubscriptionDescription.")
		case c.Queue != nil:
			return q.put(broker.QueueKind, path, c.Queue, func(o broker.Options) (broker.Info, error) {
				return q.broker.CreateQueue(name, o)
			})
		case c.Topic != nil:
			return q.put(broker.TopicKind, path, c.Topic, func(o broker.Options) (broker.Info, error) {
				return q.broker.CreateTopic(name, o)
			})
		default:
			return entry{}, badBody("The body has neither a QueueDescription nor a TopicDescription.")
		}
	})
}

// put changes an entity, or creates it.
func (q *query) put(
	kind broker.Kind, path string, d *description, create func(broker.Options) (broker.Info, error),
) (_ entry, err error) {
	info := broker.Info{Kind: kind}
	if q.updating() {
		if info, err = q.broker.Entity(path, kind); err != nil {
			return entry{}, err
		}
	}
	if err := d.apply(q.members(&info)); err != nil {
		return entry{}, err
	}
	setRules(&info.Options.AuthorizationRules, d.rules)
	if q.updating() {
		info, err = q.broker.Update(kind, path, info.Options)
	} else {
		info, err = create(info.Options)
	}
	return q.entry(info), err
}

func (q *query) createSubscription(topic, name string, o broker.Options, first *ruleDescription) (broker.Info, error) {
	if first == nil {
		return q.broker.CreateSubscription(topic, name, o, nil)
	}
	rule, err := first.rule(first.Name)
	if err != nil {
		return broker.Info{}, err
	}
	return q.broker.CreateSubscription(topic, name, o, &rule)
}

func (q *query) entry(info broker.Info) entry {
	var c content
	switch d := (&description{members: q.members(&info)}); info.Kind {
	case broker.QueueKind:
		c.Queue = d
	case broker.TopicKind:
		c.Topic = d
	case broker.SubscriptionKind:
		c.Subscription = d
	}
	return q.newEntry(info.Path, info.Name, info.Usage.Created, info.Usage.Updated, c)
}

// members returns the elements of an entity in the order of the service.
func (q *query) members(info *broker.Info) []member {
	o, u := &info.Options, info.Usage
	switch info.Kind {
	case broker.TopicKind:
		return []member{
			span("DefaultMessageTimeToLive", &o.DefaultTTL, 0),
			size("MaxSizeInMegabytes", &o.MaxSize, megabyte, unlimitedMegabytes),
			flag("RequiresDuplicateDetection", &o.DuplicateDetection),
			span("DuplicateDetectionHistoryTimeWindow", &o.DuplicateWindow, defaultWindow),
			inverse("EnableBatchedOperations", &o.NoBatching),
			shown("SizeInBytes", u.Size),
			shown("FilteringMessagesBeforePublishing", false),
			shown("IsAnonymousAccessible", false),
			shown("AuthorizationRules", newAuthorizationRules(o.AuthorizationRules)),
			status("Status", &o.Status),
			metadata(&o.UserMetadata),
			shown("CreatedAt", stamp(u.Created)), shown("UpdatedAt", stamp(u.Updated)), shown("AccessedAt", stamp(u.Accessed)),
			flag("SupportOrdering", &o.SupportOrdering),
			shown("CountDetails", counts(u.Counts)),
			shown("SubscriptionCount", info.Subscriptions),
			shown("SqlFilterCount", info.SQLFilters),
			shown("CorrelationFilterCount", info.CorrelationFilters),
			span("AutoDeleteOnIdle", &o.AutoDeleteOnIdle, 0),
			q.partitioning(&o.Partitioning, "Topic"),
			shown("EntityAvailabilityStatus", "Available"),
			flag("EnableExpress", &o.Express),
			size("MaxMessageSizeInKilobytes", &o.MaxMessageSize, kilobyte, q.broker.MaxMessageSize()/kilobyte),
		}
	case broker.SubscriptionKind:
		return []member{
			span("LockDuration", &o.LockDuration, defaultLock),
			flag("RequiresSession", &o.RequiresSession),
			span("DefaultMessageTimeToLive", &o.DefaultTTL, 0),
			flag("DeadLetteringOnMessageExpiration", &o.DeadLetterOnExpiration),
			inverse("DeadLetteringOnFilterEvaluationExceptions", &o.DropOnFilterError),
			shown("MessageCount", u.Total()),
			deliveries(&o.MaxDeliveryCount),
			inverse("EnableBatchedOperations", &o.NoBatching),
			status("Status", &o.Status),
			q.address("ForwardTo", &o.ForwardTo),
			shown("CreatedAt", stamp(u.Created)),
			shown("UpdatedAt", stamp(u.Updated)),
			shown("AccessedAt", stamp(u.Accessed)),
			shown("CountDetails", counts(u.Counts)),
			metadata(&o.UserMetadata),
			q.address("ForwardDeadLetteredMessagesTo", &o.ForwardDeadLettersTo),
			span("AutoDeleteOnIdle", &o.AutoDeleteOnIdle, 0),
			shown("EntityAvailabilityStatus", "Available"),
		}
	case broker.QueueKind:
	}
	return []member{
		span("LockDuration", &o.LockDuration, defaultLock),
		size("MaxSizeInMegabytes", &o.MaxSize, megabyte, unlimitedMegabytes),
		flag("RequiresDuplicateDetection", &o.DuplicateDetection),
		flag("RequiresSession", &o.RequiresSession),
		span("DefaultMessageTimeToLive", &o.DefaultTTL, 0),
		flag("DeadLetteringOnMessageExpiration", &o.DeadLetterOnExpiration),
		span("DuplicateDetectionHistoryTimeWindow", &o.DuplicateWindow, defaultWindow),
		deliveries(&o.MaxDeliveryCount),
		inverse("EnableBatchedOperations", &o.NoBatching),
		shown("SizeInBytes", u.Size),
		shown("MessageCount", u.Total()),
		shown("IsAnonymousAccessible", false),
		shown("AuthorizationRules", newAuthorizationRules(o.AuthorizationRules)),
		status("Status", &o.Status),
		q.address("ForwardTo", &o.ForwardTo),
		metadata(&o.UserMetadata),
		shown("CreatedAt", stamp(u.Created)), shown("UpdatedAt", stamp(u.Updated)), shown("AccessedAt", stamp(u.Accessed)),
		shown("SupportOrdering", true),
		shown("CountDetails", counts(u.Counts)),
		span("AutoDeleteOnIdle", &o.AutoDeleteOnIdle, 0),
		q.partitioning(&o.Partitioning, "Queue"),
		shown("EntityAvailabilityStatus", "Available"),
		flag("EnableExpress", &o.Express),
		q.address("ForwardDeadLetteredMessagesTo", &o.ForwardDeadLettersTo),
		size("MaxMessageSizeInKilobytes", &o.MaxMessageSize, kilobyte, q.broker.MaxMessageSize()/kilobyte),
	}
}
