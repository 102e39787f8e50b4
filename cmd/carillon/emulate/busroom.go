package emulate

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/console/queues"
)

// busRoom is the Service Bus emulator, as the console shows it. It is the one that runs at the moment.
type busRoom struct{ servers *Servers }

func (b busRoom) namespace() *browse.Namespace {
	bus, _ := b.servers.running()
	return browse.New(bus.Broker())
}

// told returns an error as the console knows it.
func told(err error) error {
	switch {
	case err == nil:
		return nil
	case browse.IsMissing(err):
		return queues.ErrMissing
	case browse.IsHeld(err):
		return queues.ErrHeld
	}
	if reason := browse.Reason(err); reason != "" {
		return errors.New(reason) //nolint:err113 // a refusal of the emulator, for people
	}
	return err
}

// each converts all of a list.
func each[A, B any](all []A, one func(A) B) []B {
	var converted []B
	for _, a := range all {
		converted = append(converted, one(a))
	}
	return converted
}

func entityOf(e browse.Entity) queues.Entity       { return queues.Entity(e) }
func propertyOf(p browse.Property) queues.Property { return queues.Property(p) }
func changeOf(c browse.Change) queues.Change       { return queues.Change(c) }

// Entities returns all.
func (b busRoom) Entities() []queues.Entity { return each(b.namespace().Entities(), entityOf) }

// Entity returns one.
func (b busRoom) Entity(path string) (queues.Entity, error) {
	e, err := b.namespace().Entity(path)
	return entityOf(e), told(err)
}

// Sessions are those of an entity.
func (b busRoom) Sessions(path, text string, most int) ([]queues.Session, int, error) {
	found, more, err := b.namespace().Sessions(path, text, most)
	return each(found, func(s browse.Session) queues.Session { return queues.Session(s) }), more, told(err)
}

// Create makes an entity.
func (b busRoom) Create(e queues.Entity) error { return told(b.namespace().Create(browse.Entity(e))) }

// Update changes one.
func (b busRoom) Update(e queues.Entity) error { return told(b.namespace().Update(browse.Entity(e))) }

// Remove deletes one.
func (b busRoom) Remove(path string) error { return told(b.namespace().Remove(path)) }

// PutRule makes a rule, or changes one.
func (b busRoom) PutRule(path string, r queues.Rule, replace bool) error {
	given := func(p queues.Property) browse.Property { return browse.Property(p) }
	err := b.namespace().PutRule(path, browse.Rule{
		Name: r.Name, Kind: r.Kind, Expression: r.Expression, Action: r.Action,
		Parameters: each(r.Parameters, given), Fields: each(r.Fields, given),
	}, replace)
	if wrong, ok := errors.AsType[*browse.RuleError](err); ok {
		return &queues.RuleError{Part: wrong.Part, Text: wrong.Error()}
	}
	return told(err)
}

// DeleteRule removes a rule.
func (b busRoom) DeleteRule(path, name string) error {
	return told(b.namespace().DeleteRule(path, name))
}

// Peek returns messages.
func (b busRoom) Peek(q queues.Query) (queues.Page, error) {
	page, err := b.namespace().Peek(browse.Query{
		Path: q.Path, Part: browse.Part(q.Part), From: q.From, Most: q.Most, Text: q.Text, Session: q.Session,
		Newest: q.Newest,
	})
	return queues.Page{Messages: each(page.Messages, messageOf), Next: page.Next, Seen: page.Seen}, told(err)
}

// Message returns one.
func (b busRoom) Message(path string, part queues.Part, sequence int64) (queues.Message, error) {
	m, err := b.namespace().Message(path, browse.Part(part), sequence)
	return messageOf(m), told(err)
}

func messageOf(m browse.Message) queues.Message {
	return queues.Message{
		Sequence: m.Sequence, EnqueuedSequence: m.EnqueuedSequence, Part: queues.Part(m.Part), Held: m.Held, Size: m.Size,
		Enqueued: m.Enqueued, Expires: m.Expires, Due: m.Due, LockedUntil: m.LockedUntil, TTL: m.TTL,
		Deliveries: m.Deliveries, Priority: m.Priority, Durable: m.Durable,
		MessageID: m.MessageID, SessionID: m.SessionID, CorrelationID: m.CorrelationID, Subject: m.Subject,
		ContentType: m.ContentType, ContentEncoding: m.ContentEncoding, To: m.To, ReplyTo: m.ReplyTo,
		ReplyToSessionID: m.ReplyToSessionID, PartitionKey: m.PartitionKey, HasSession: m.HasSession, UserID: m.UserID,
		Creation: m.Creation, AbsoluteExpiry: m.AbsoluteExpiry,
		Reason: m.Reason, Description: m.Description, Source: m.Source,
		Properties: each(m.Properties, propertyOf), Annotations: each(m.Annotations, propertyOf), Body: queues.Body(m.Body),
	}
}

func draftOf(d queues.Draft) browse.Draft {
	return browse.Draft{
		MessageID: d.MessageID, SessionID: d.SessionID, CorrelationID: d.CorrelationID, Subject: d.Subject,
		ContentType: d.ContentType, To: d.To, ReplyTo: d.ReplyTo, ReplyToSessionID: d.ReplyToSessionID, PartitionKey: d.PartitionKey,
		TTL: d.TTL, Scheduled: d.Scheduled, Body: d.Body, KeepBody: d.KeepBody,
		Properties: each(d.Properties, func(p queues.Property) browse.Property { return browse.Property(p) }),
	}
}

// Send sends a message.
func (b busRoom) Send(path string, d queues.Draft) error {
	return told(b.namespace().Send(path, draftOf(d)))
}

// Delete deletes a message.
func (b busRoom) Delete(path string, part queues.Part, sequence int64) error {
	return told(b.namespace().Delete(path, browse.Part(part), sequence))
}

// Bury makes a dead letter of a message.
func (b busRoom) Bury(path string, sequence int64, reason, description string) error {
	return told(b.namespace().Bury(path, sequence, reason, description))
}

func tallyOf(t browse.Tally) queues.Tally {
	shown := queues.Tally{Done: t.Done, Held: t.Held, Refused: t.Refused}
	if t.Why != nil {
		shown.Why = told(t.Why).Error()
	}
	return shown
}

func batchOf(b queues.Batch, note func(queues.Tally)) browse.Batch {
	return browse.Batch{
		Path: b.Path, Part: browse.Part(b.Part), Only: b.Only, ToTopic: b.ToTopic, Note: func(t browse.Tally) { note(tallyOf(t)) },
	}
}

// Purge deletes messages.
func (b busRoom) Purge(ctx context.Context, batch queues.Batch, note func(queues.Tally)) (queues.Tally, error) {
	t, err := b.namespace().Purge(ctx, batchOf(batch, note))
	return tallyOf(t), told(err)
}

// Resubmit puts a dead letter back.
func (b busRoom) Resubmit(path string, part queues.Part, sequence int64, edited *queues.Draft, toTopic bool) error {
	var draft *browse.Draft
	if edited != nil {
		draft = new(draftOf(*edited))
	}
	return told(b.namespace().Resubmit(path, browse.Part(part), sequence, draft, toTopic))
}

// ResubmitAll puts dead letters back.
func (b busRoom) ResubmitAll(ctx context.Context, batch queues.Batch, note func(queues.Tally)) (queues.Tally, error) {
	t, err := b.namespace().ResubmitAll(ctx, batchOf(batch, note))
	return tallyOf(t), told(err)
}

// Rules are those of a subscription.
func (b busRoom) Rules(path string) ([]queues.Rule, error) {
	rules, err := b.namespace().Rules(path)
	return each(rules, ruleOf), told(err)
}

func ruleOf(r browse.Rule) queues.Rule {
	return queues.Rule{
		Name: r.Name, Kind: r.Kind, Expression: r.Expression, Action: r.Action, Created: r.Created,
		Parameters: each(r.Parameters, propertyOf), Fields: each(r.Fields, propertyOf),
	}
}

// Try asks the rules of a subscription about a message.
func (b busRoom) Try(path string, d queues.Draft) ([]queues.Trial, error) {
	trials, err := b.namespace().Try(path, draftOf(d))
	return each(trials, trialOf), told(err)
}

// TryMessage asks them about one that is there.
func (b busRoom) TryMessage(path, from string, part queues.Part, sequence int64) ([]queues.Trial, error) {
	trials, err := b.namespace().TryMessage(path, from, browse.Part(part), sequence)
	return each(trials, trialOf), told(err)
}

func trialOf(t browse.Trial) queues.Trial {
	return queues.Trial{
		Rule: ruleOf(t.Rule), Passes: t.Passes, Err: t.Err, Changes: each(t.Changes, changeOf),
		Reasons: each(t.Reasons, func(q browse.Question) queues.Question {
			return queues.Question{Text: q.Text, Answer: q.Answer, Why: q.Why, Found: each(q.Found, propertyOf)}
		}),
	}
}

// publicKey reports whether the keys of Service Bus are the one that everybody knows.
func publicKey(keys map[string]string) bool {
	return len(keys) == 0 || len(keys) == 1 && keys[servicebus.DefaultKeyName] == servicebus.DefaultKey
}
