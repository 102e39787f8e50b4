package broker

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// fanOut puts a copy of a message into every subscription that wants it: one for all rules without an action, and one for each
// rule with one. The subscriptions are locked.
func (e *entity) fanOut(m *message, now int64, en *entry) {
	var parsed amqp.Message
	var view *filter.Message
	for _, s := range *e.subscriptions.Load() {
		if s.deleted {
			continue
		}
		plain := false
		for _, rule := range *s.rules.Load() {
			if rule.Filter.Kind() == filter.True && rule.Action == nil {
				plain = true
				continue
			}
			if view == nil {
				parsed, _ = amqp.ParseMessage(m.appendDelivery(nil, ready)) // what the broker writes is well-formed
				view = filter.NewMessage(parsed, time.UnixMilli(now).UTC(), m.seq)
			}
			match, err := rule.Filter.Match(view)
			var edit amqp.Edit
			if match && rule.Action != nil {
				edit, err = rule.Action.Apply(view)
			}
			switch {
			case err != nil:
				s.filterFailed(m, rule, err, now, en)
			case match && rule.Action == nil:
				plain = true
			case match:
				changed := m.clone()
				changed.bare = bareOf(reparse(parsed.Edit(nil, edit)))
				s.receive(changed, now, en)
			}
		}
		if plain {
			s.receive(m.clone(), now, en)
		}
	}
}

// finds reports whether a message of the topic would be anywhere: in a subscription, or among the dead letters of one whose rule
// fails on it. The subscriptions are locked.
func (e *entity) finds(m *message, now int64) bool {
	sent := m.clone()
	sent.seq, sent.enqueued = e.seq+1, now
	view := filter.NewMessage(reparse(sent.appendDelivery(nil, ready)), time.UnixMilli(now).UTC(), sent.seq)
	for _, s := range *e.subscriptions.Load() {
		if s.deleted {
			continue
		}
		for _, rule := range *s.rules.Load() {
			match, err := rule.Filter.Match(view)
			if match && err == nil && rule.Action != nil {
				_, err = rule.Action.Apply(view)
			}
			if err != nil && !s.settings.DropOnFilterError || err == nil && match {
				return true
			}
		}
	}
	return false
}

// reparse parses what was written from a message that could be parsed.
func reparse(raw []byte) amqp.Message {
	m, _ := amqp.ParseMessage(raw)
	return m
}

// filterFailed does with a message on which a rule has failed what the subscription wants.
func (e *entity) filterFailed(m *message, rule Rule, err error, now int64, en *entry) {
	if e.settings.DropOnFilterError {
		return
	}
	dead := m.clone()
	dead.expires = 0
	dead.mark(cause{reason: "FilterEvaluationException", description: "Rule '" + rule.Name + "': " + err.Error()})
	e.queues[deadPart].enqueue(dead, now, en)
}

// receive puts a message of the topic into the subscription.
func (e *entity) receive(m *message, now int64, en *entry) {
	if e.settings.RequiresSession {
		id, ok := groupOf(m.bare)
		if !ok {
			m.expires = 0
			m.mark(causeSession)
			e.queues[deadPart].enqueue(m, now, en)
			return
		}
		m.session = e.session(id)
		m.session.messages++
	}
	m.live(ttlOf(m), e.settings.DefaultTTL, now)
	e.queues[mainPart].enqueue(m, now, en)
}

// groupOf returns the session of a message.
func groupOf(bare []byte) (string, bool) {
	properties := reparse(bare).Properties()
	return properties.GroupID, properties.HasGroupID
}

// lockTargets locks entities and, of topics, the subscriptions.
func (b *Broker) lockTargets(entities []*entity) []*entity {
	for {
		all := make([]*entity, 0, len(entities)+8)
		for _, e := range entities {
			all = append(append(all, e), *e.subscriptions.Load()...)
		}
		all = lockAll(all)
		if covers(all, entities) {
			return all
		}
		unlockAll(all) // a subscription was added
	}
}

// covers reports whether all subscriptions of entities are among those that are locked.
func covers(locked, entities []*entity) bool {
	for _, e := range entities {
		for _, s := range *e.subscriptions.Load() {
			if !slices.Contains(locked, s) {
				return false
			}
		}
	}
	return true
}
