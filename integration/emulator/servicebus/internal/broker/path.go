package broker

import "strings"

// A place is what a path leads to.
type place struct {
	entity string // the path of a queue, topic or subscription
	part   part
}

const subscriptionsInfix = "/subscriptions/"

func lower(path string) string { return strings.ToLower(path) }

// parsePath splits a path. Slashes around it and "/$management" after it are passed over.
func parsePath(path string) place {
	path = strings.Trim(path, "/")
	path, _ = cutSuffix(path, "/$management")
	if rest, ok := cutSuffix(path, "/$transfer/$deadletterqueue"); ok {
		return place{rest, transferPart}
	}
	if rest, ok := cutSuffix(path, "/$deadletterqueue"); ok {
		return place{rest, deadPart}
	}
	return place{path, mainPart}
}

// cutSuffix cuts a suffix in lower case off a path in any.
func cutSuffix(path, suffix string) (string, bool) {
	if n := len(path) - len(suffix); n > 0 && strings.EqualFold(path[n:], suffix) {
		return path[:n], true
	}
	return path, false
}

// CutSubscription splits the path of a subscription, in whatever case. Names that cannot be are none.
func CutSubscription(path string) (topic, name string, ok bool) {
	i := strings.LastIndex(lower(path), subscriptionsInfix)
	if i <= 0 || len(lower(path)) != len(path) {
		return path, "", false
	}
	return path[:i], path[i+len(subscriptionsInfix):], true
}

// entity returns the entity of a path, or nil.
func (b *Broker) entity(path string) *entity {
	if path == "" {
		return nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.entities[lower(path)]
}

// Exists reports whether a path leads to an entity, a sub-queue or, with AutoCreate, to what would become one. A trailing
// "/$management" is passed over. It is what a token is asked for.
func (b *Broker) Exists(path string) bool {
	at := parsePath(path)
	if b.entity(at.entity) != nil {
		return true
	}
	if !b.config.AutoCreate {
		return false
	}
	topic, name, ok := CutSubscription(at.entity)
	return checkName(topic, maxName) == nil && (!ok || checkName(name, maxSubscriptionName) == nil)
}

// Target returns the queue or topic at a path. It fails with NotFound; with AutoCreate it makes a queue instead.
func (b *Broker) Target(path string) (*Target, error) {
	at := parsePath(path)
	e := b.entity(at.entity)
	if e == nil && b.config.AutoCreate && at.part == mainPart {
		if _, _, ok := CutSubscription(at.entity); !ok {
			e = b.autoCreate(at.entity)
		}
	}
	if e == nil {
		return nil, errNotFound(path)
	}
	if e.is(SubscriptionKind) || at.part != mainPart {
		return nil, fail(NotAllowed, "'%s' cannot be sent to.", path)
	}
	return &Target{e}, nil
}

// Source returns the queue, subscription or sub-queue at a path: "queue", "topic/Subscriptions/name", and either with
// "/$DeadLetterQueue" or "/$Transfer/$DeadLetterQueue" after it. Upper and lower case are the same. It fails with NotFound;
// with AutoCreate it makes a queue, or a topic and a subscription, instead.
func (b *Broker) Source(path string) (*Source, error) {
	at := parsePath(path)
	e := b.entity(at.entity)
	if e == nil && b.config.AutoCreate {
		e = b.autoCreate(at.entity)
	}
	if e == nil {
		return nil, errNotFound(path)
	}
	if e.is(TopicKind) {
		return nil, fail(NotAllowed, "'%s' is a topic: receive from one of its subscriptions.", path)
	}
	return &Source{&e.queues[at.part]}, nil
}
