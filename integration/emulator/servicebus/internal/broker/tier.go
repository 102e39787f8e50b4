package broker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// A Tier is the tier of a namespace, which determines its limits. The empty tier has only technical limits.
type Tier string

// The tiers, as the service calls them.
const (
	Basic    Tier = "Basic"
	Standard Tier = "Standard"
	Premium  Tier = "Premium"
)

// ParseTier returns the tier with a name, in any case; the empty name returns the empty tier.
func ParseTier(name string) (Tier, error) {
	for tier := range tiers {
		if strings.EqualFold(name, string(tier)) {
			return tier, nil
		}
	}
	return "", fmt.Errorf("tier %q is not basic, standard or premium", name)
}

// Sizes in bytes.
const (
	kilobyte = 1 << 10
	megabyte = 1 << 20
)

// The limits of all tiers, from the page of the service on quotas.
const (
	maxEntitySizes   = 5 // megabytes in units of 1024
	partitionedSize  = 80 << 10 * megabyte
	maxSubscriptions = 2000
	maxSQLFilters    = 2000 // of a topic
	maxCorrelations  = 100_000
	maxProperty      = 32 * kilobyte
	maxProperties    = 64 * kilobyte
	maxTxnMessages   = 100
	basicTTL         = 14 * 24 * time.Hour
	smallMessage     = 256 * kilobyte
	premiumMessage   = 100 * megabyte
)

// limits are the limits of a tier.
type limits struct {
	message  int64 // default maximum size of a message in bytes
	entity   int64 // default size of entities; 0: no limit
	entities int   // queues and topics
}

var tiers = map[Tier]limits{
	"":       {megabyte, 0, 1 << 30},
	Basic:    {smallMessage, 1024 * megabyte, 10_000},
	Standard: {smallMessage, 1024 * megabyte, 10_000},
	Premium:  {megabyte, 1024 * megabyte, 1000},
}

// allows returns an error, in the service's words, if the tier lacks a feature of the entity.
func (t Tier) allows(k Kind, s *settings) error {
	if t == "" {
		return nil
	}
	if t == Basic && k != QueueKind {
		return fail(ArgumentError, "Cannot operate on type %v because the namespace '%s' is using '%s' tier.", k, NamespaceName, t)
	}
	for _, property := range []struct {
		name  string
		set   bool
		lacks []Tier
	}{
		{"RequiresSession", s.RequiresSession, []Tier{Basic}},
		{"RequiresDuplicateDetection", s.DuplicateDetection, []Tier{Basic}},
		{"ForwardTo", s.ForwardTo != "", []Tier{Basic}},
		{"ForwardDeadLetteredMessagesTo", s.ForwardDeadLettersTo != "", []Tier{Basic}},
		{"AutoDeleteOnIdle", s.AutoDeleteOnIdle > 0, []Tier{Basic}},
		{"EnableExpress", s.Express, []Tier{Premium}},
		{"EnablePartitioning", s.Partitioning, []Tier{Premium}},
		{"MaxMessageSizeInKilobytes", s.MaxMessageSize > 0 && s.MaxMessageSize != smallMessage, []Tier{Basic, Standard}},
	} {
		if property.set && slices.Contains(property.lacks, t) {
			return fail(ArgumentError, "The property '%s' cannot be set when creating a %v because the namespace '%s' is using '%s' tier.",
				property.name, k, NamespaceName, t)
		}
	}
	switch {
	case s.MaxMessageSize > premiumMessage:
		return fail(ArgumentError, "The value of MaxMessageSizeInKilobytes is more than %d.", premiumMessage/kilobyte)
	case t == Basic && s.DefaultTTL > basicTTL:
		return fail(ArgumentError, "The value of DefaultMessageTimeToLive is more than 14 days, the most of '%s' tier.", t)
	default:
		return t.allowsSize(s)
	}
}

// NamespaceName is the name of the only namespace, as in Microsoft's emulator.
const NamespaceName = "sbemulatorns"

// allowsSize returns an error for a size that the tier does not offer.
func (t Tier) allowsSize(s *settings) error {
	units := s.MaxSize / (1024 * megabyte)
	chosen := s.MaxSize%(1024*megabyte) == 0 && units <= maxEntitySizes
	large := s.MaxSize == partitionedSize && (t == Premium || s.Partitioning)
	if chosen || large {
		return nil
	}
	return fail(ArgumentError, "The value of MaxSizeInMegabytes should be one of the following values: 1024;2048;3072;4096;5120.")
}

// allowsMore returns an error if the namespace is full. b.mu is held; topic is the topic of a new subscription.
func (b *Broker) allowsMore(k Kind, topic *entity) error {
	t := b.config.Tier
	if t == "" {
		return nil
	}
	if k == SubscriptionKind {
		if len(*topic.subscriptions.Load()) >= maxSubscriptions {
			return fail(ResourceLimitExceeded, "The maximum number of subscriptions of the topic '%s', %d, has been reached.",
				topic.path, maxSubscriptions)
		}
		return nil
	}
	n := 0
	for _, e := range b.entities {
		if e.topic == nil {
			n++
		}
	}
	if n >= b.limits.entities {
		return fail(ResourceLimitExceeded, "The maximum number of queues and topics of the namespace '%s', %d, has been reached.",
			NamespaceName, b.limits.entities)
	}
	return nil
}

// allowsRule returns an error if the tier allows no further rule in a topic.
func (t Tier) allowsRule(rule Rule, topic Info) error {
	if t == "" {
		return nil
	}
	n, most, what := topic.SQLFilters, maxSQLFilters, "SQL"
	if rule.Filter.Kind() == filter.Correlation {
		n, most, what = topic.CorrelationFilters, maxCorrelations, "correlation"
	}
	if n >= most {
		return fail(ResourceLimitExceeded, "The maximum number of %s filters of the topic '%s', %d, has been reached.",
			what, topic.Name, most)
	}
	return nil
}

// propertiesOf returns the size of a message without its body, and of its largest property if that may exceed the limit.
func propertiesOf(m amqp.Message) (all, largest int) {
	all = m.Len() - len(m.Body())
	if all <= maxProperty {
		return all, 0
	}
	for _, pair := range m.ApplicationProperties() {
		largest = max(largest, len(amqp.Append(nil, pair.Value)))
	}
	return all, largest
}

// allowsProperties returns an error for properties that are too large.
func (t Tier) allowsProperties(in *intake) error {
	switch {
	case t == "":
		return nil
	case in.properties > maxProperties:
		return fail(MessageSizeExceeded, "The properties of the message have %d bytes, which exceeds the limit of %d bytes.",
			in.properties, maxProperties)
	case in.largest > maxProperty:
		return fail(MessageSizeExceeded, "A property of the message has %d bytes, which exceeds the limit of %d bytes.",
			in.largest, maxProperty)
	default:
		return nil
	}
}
