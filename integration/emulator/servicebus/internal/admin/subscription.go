package admin

import (
	"errors"
	"net/http"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

func (q *query) listSubscriptions(topic string) {
	subscriptions, err := q.broker.Subscriptions(topic)
	if q.failed(err) {
		return
	}
	q.writeFeed(topic+"/Subscriptions", "Subscriptions", len(subscriptions), func(i int) entry {
		return q.subscriptionEntry(subscriptions[i])
	})
}

// subscription acts on one subscription.
func (q *query) subscription(topic, name string) {
	switch q.r.Method {
	case http.MethodGet, http.MethodHead:
		info, err := q.broker.Subscription(topic, name)
		if !q.failed(err) {
			writeEntry(q.w, http.StatusOK, q.subscriptionEntry(info))
		}
	case http.MethodDelete:
		if !q.failed(q.broker.DeleteSubscription(topic, name)) {
			q.w.WriteHeader(http.StatusOK)
		}
	case http.MethodPut:
		c, err := decodeEntry(q.r.Body)
		switch {
		case q.failed(err):
		case c.Subscription == nil:
			writeError(q.w, http.StatusBadRequest, "The body has no SubscriptionDescription.")
		case q.updating():
			q.updateSubscription(topic, name, c.Subscription)
		default:
			q.createSubscription(topic, name, c.Subscription)
		}
	default:
		q.notAllowed()
	}
}

func (q *query) createSubscription(topic, name string, d *subscriptionDescription) {
	var options broker.SubscriptionOptions
	if q.failed(d.apply(&options)) {
		return
	}
	var first *broker.Rule
	if d.DefaultRuleDescription != nil {
		rule, err := d.DefaultRuleDescription.rule(d.DefaultRuleDescription.Name)
		if q.failed(err) {
			return
		}
		first = &rule
	}
	info, err := q.broker.CreateSubscription(topic, name, options, first)
	if !q.failed(err) {
		writeEntry(q.w, q.status(), q.subscriptionEntry(info))
	}
}

func (q *query) updateSubscription(topic, name string, d *subscriptionDescription) {
	info, err := q.broker.Subscription(topic, name)
	if q.failed(err) || q.failed(d.apply(&info.Options)) {
		return
	}
	info, err = q.broker.UpdateSubscription(topic, name, info.Options)
	if !q.failed(err) {
		writeEntry(q.w, q.status(), q.subscriptionEntry(info))
	}
}

// apply changes options to what the description says.
func (d *subscriptionDescription) apply(o *broker.SubscriptionOptions) error {
	set(&o.MaxDeliveryCount, d.MaxDeliveryCount)
	set(&o.RequiresSession, d.RequiresSession)
	set(&o.DeadLetterOnExpiration, d.DeadLetteringOnMessageExpiration)
	setText(&o.UserMetadata, d.UserMetadata)
	if d.DeadLetteringOnFilterEvaluationExceptions != nil {
		o.DropOnFilterError = !*d.DeadLetteringOnFilterEvaluationExceptions
	}
	if d.EnableBatchedOperations != nil {
		o.NoBatching = !*d.EnableBatchedOperations
	}
	setAddress(&o.ForwardTo, d.ForwardTo)
	setAddress(&o.ForwardDeadLettersTo, d.ForwardDeadLetteredMessagesTo)
	return errors.Join(
		setDuration(&o.LockDuration, "LockDuration", d.LockDuration),
		setDuration(&o.DefaultTTL, "DefaultMessageTimeToLive", d.DefaultMessageTimeToLive),
		setDuration(&o.AutoDeleteOnIdle, "AutoDeleteOnIdle", d.AutoDeleteOnIdle),
		setStatus(&o.Status, d.Status),
	)
}

func (q *query) subscriptionEntry(info broker.SubscriptionInfo) entry {
	o, u := info.Options, info.Usage
	if o.MaxDeliveryCount == 0 {
		o.MaxDeliveryCount = defaultDeliveries
	}
	path := info.Topic + "/Subscriptions/" + info.Name
	return q.newEntry(path, info.Name, u.Created, u.Updated, content{Subscription: &subscriptionDescription{
		spaces:                           newSpaces(),
		LockDuration:                     durationText(o.LockDuration, defaultLock),
		RequiresSession:                  &o.RequiresSession,
		DefaultMessageTimeToLive:         durationText(o.DefaultTTL, 0),
		DeadLetteringOnMessageExpiration: &o.DeadLetterOnExpiration,
		DeadLetteringOnFilterEvaluationExceptions: new(!o.DropOnFilterError),
		MessageCount:                  new(u.Counts.Total()),
		MaxDeliveryCount:              &o.MaxDeliveryCount,
		EnableBatchedOperations:       new(!o.NoBatching),
		Status:                        statusText(o.Status),
		ForwardTo:                     q.pathText(o.ForwardTo),
		CreatedAt:                     stamp(u.Created),
		UpdatedAt:                     stamp(u.Updated),
		AccessedAt:                    stamp(u.Accessed),
		CountDetails:                  counts(u.Counts),
		UserMetadata:                  optionalText(o.UserMetadata),
		ForwardDeadLetteredMessagesTo: q.pathText(o.ForwardDeadLettersTo),
		AutoDeleteOnIdle:              durationText(o.AutoDeleteOnIdle, 0),
		EntityAvailabilityStatus:      "Available",
	}})
}
