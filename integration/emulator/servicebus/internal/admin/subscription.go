package admin

import "github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"

func (q *query) listSubscriptions(topic string) {
	subscriptions, err := q.broker.Subscriptions(topic)
	if q.failed(err) {
		return
	}
	q.writeFeed("Subscriptions", len(subscriptions), func(i int) entry {
		return q.subscriptionEntry(subscriptions[i])
	})
}

// subscription acts on one subscription.
func (q *query) subscription(topic, name string) {
	q.act(func() (entry, error) {
		info, err := q.broker.Subscription(topic, name)
		return q.subscriptionEntry(info), err
	}, func() error {
		return q.broker.DeleteSubscription(topic, name)
	}, func(c content) (entry, error) {
		if c.Subscription == nil {
			return entry{}, badBody("The body has no SubscriptionDescription.")
		}
		info, err := q.putSubscription(topic, name, c.Subscription)
		return q.subscriptionEntry(info), err
	})
}

// putSubscription makes or changes a subscription.
func (q *query) putSubscription(topic, name string, d *description) (info broker.SubscriptionInfo, err error) {
	if q.updating() {
		info, err = q.broker.Subscription(topic, name)
	}
	if err == nil {
		err = d.apply(q.subscriptionMembers(&info))
	}
	if err != nil {
		return info, err
	}
	if q.updating() {
		return q.broker.UpdateSubscription(topic, name, info.Options)
	}
	var first *broker.Rule
	if d.first != nil {
		rule, err := d.first.rule(d.first.Name)
		if err != nil {
			return info, err
		}
		first = &rule
	}
	return q.broker.CreateSubscription(topic, name, info.Options, first)
}

func (q *query) subscriptionEntry(info broker.SubscriptionInfo) entry {
	path := info.Topic + "/Subscriptions/" + info.Name
	d := &description{members: q.subscriptionMembers(&info)}
	return q.newEntry(path, info.Name, info.Usage.Created, info.Usage.Updated, content{Subscription: d})
}

func (q *query) subscriptionMembers(info *broker.SubscriptionInfo) []member {
	o, u := &info.Options, info.Usage
	return []member{
		span("LockDuration", &o.LockDuration, defaultLock),
		flag("RequiresSession", &o.RequiresSession),
		span("DefaultMessageTimeToLive", &o.DefaultTTL, 0),
		flag("DeadLetteringOnMessageExpiration", &o.DeadLetterOnExpiration),
		inverse("DeadLetteringOnFilterEvaluationExceptions", &o.DropOnFilterError),
		shown("MessageCount", u.Counts.Total()),
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
}
