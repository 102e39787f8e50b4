package broker

// autoCreate makes a queue, or a topic and a subscription, or returns nil if that cannot be.
func (b *Broker) autoCreate(path string) *entity {
	topicName, name, ok := CutSubscription(path)
	if !ok {
		_, _ = b.create(QueueKind, "", path, settings{Auto: true}, []Rule{}) // another may be first, or the name is no name
		return b.entity(path)
	}
	topic := b.entity(topicName)
	if topic == nil {
		topic, _ = b.create(TopicKind, "", topicName, settings{Auto: true}, []Rule{}) // as above
	}
	became := topic != nil && topic.is(QueueKind) && b.becomeTopic(topic)
	_, _ = b.create(SubscriptionKind, topicName, name, settings{Auto: true}, []Rule{{Name: DefaultRule}}) // as above
	if became {
		topic.mu.Lock()
		topic.pending = true // what was sent to the queue goes on to the subscription
		topic.unlock()
	}
	return b.entity(path)
}

// becomeTopic makes a topic of a queue that was made because something was sent to it, and reports whether that could be: only a
// subscriber tells a topic from a queue. Nobody may have received from it.
func (b *Broker) becomeTopic(e *entity) bool {
	e.mu.Lock()
	defer e.unlock()
	main := &e.queues[mainPart]
	if e.deleted || !e.settings.Auto || len(e.receivers) > 0 || e.queues[deadPart].shelf.Len() > 0 ||
		main.shelf.Len() != main.ready.Len()+main.scheduled {
		return false
	}
	e.kind.Store(uint32(TopicKind))
	for _, m := range main.shelf.All() {
		if m.state == ready {
			m.due = 0
			e.messages.Fix(m)
		}
	}
	en := b.entry()
	en.remain(e)
	b.commit(en)
	return true
}
