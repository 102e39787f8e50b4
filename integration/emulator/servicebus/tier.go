package servicebus

import "github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"

// A Tier is what kind of namespace is emulated.
type Tier = broker.Tier

// The tiers, with what they refuse by the service's page on quotas. All of them: an entity beyond its size (1024 MB unless it
// says 1 to 5 times that), properties of more than 32 KB each or 64 KB together, more than 2,000 subscriptions or SQL filters of a
// topic, and more than 100 messages in a transaction.
const (
	// Basic has queues without sessions, duplicate detection, forwarding and deletion when idle. Messages have 256 KB and live 14
	// days.
	Basic = broker.Basic
	// Standard has messages of 256 KB, and 10,000 queues and topics.
	Standard = broker.Standard
	// Premium has messages of 1 MB, or up to 100 MB where an entity says so, 1,000 queues and topics, and neither express nor
	// partitioned ones.
	Premium = broker.Premium
)

// ParseTier returns the tier of a name, in any case; the empty name is none.
func ParseTier(name string) (Tier, error) { return broker.ParseTier(name) }
