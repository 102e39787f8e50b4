package browse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// Resubmit moves a dead letter back into its entity, or for a subscription into its topic, without the reason of its
// death; unchanged or, with a draft, edited. Fields that the draft lacks stay. If it fails, the dead letter stays.
func (n *Namespace) Resubmit(path string, part Part, sequence int64, edited *Draft, toTopic bool) error {
	w, _, err := n.inspector(path, part)
	if err != nil {
		return err
	}
	return broker.Written(resubmit(w, sequence, edited, toTopic))
}

func resubmit(w *broker.Inspector, sequence int64, edited *Draft, toTopic bool) (broker.Receipt, error) {
	g, err := w.Message(sequence)
	if err != nil {
		return broker.Receipt{}, err
	}
	raw, err := revived(g, edited)
	if err != nil {
		return broker.Receipt{}, err
	}
	m, err := amqp.ParseMessage(raw)
	if err != nil {
		return broker.Receipt{}, err
	}
	return w.Resubmit(sequence, m, toTopic)
}

// A Tally is what became of many messages.
type Tally struct {
	Done    int
	Held    int   // by receivers, which keep them
	Refused int   // they stay
	Why     error // of the first that was refused
}

// A Batch selects the messages of an operation.
type Batch struct {
	Path    string
	Part    Part
	Only    []int64     // their sequence numbers; none: all that there are when it begins
	ToTopic bool        // dead letters of a subscription go to its topic
	Note    func(Tally) // is called now and then, unless it is nil
}

// noteEvery is the number of messages between calls of [Batch.Note], which also wait for the writes.
const noteEvery = 256

// ResubmitAll moves dead letters back, each in a separate step. It continues after refused and missing messages. It
// ends early, with the error of the context, when that is done.
func (n *Namespace) ResubmitAll(ctx context.Context, b Batch) (Tally, error) {
	w, _, err := n.inspector(b.Path, b.Part)
	if err != nil {
		return Tally{}, err
	}
	if len(b.Only) == 0 {
		if b.Only, err = sequences(w); err != nil {
			return Tally{}, err
		}
	}
	return b.each(ctx, func(sequence int64) (broker.Receipt, error) { return resubmit(w, sequence, nil, b.ToTopic) })
}

// each does something to each message of the batch.
func (b Batch) each(ctx context.Context, do func(sequence int64) (broker.Receipt, error)) (t Tally, err error) {
	var last broker.Receipt
	for i, sequence := range b.Only {
		if i%noteEvery == noteEvery-1 {
			if err := last.Wait(); err != nil {
				return t, err
			}
			b.note(t)
		}
		if err := ctx.Err(); err != nil {
			return t, errors.Join(err, last.Wait())
		}
		receipt, err := do(sequence)
		switch {
		case err == nil:
			last = receipt
			t.Done++
		case IsHeld(err):
			t.Held++
		case broker.Condition(err) == broker.MessageNotFound: // another user was faster
		default:
			t.Refused++
			if t.Why == nil {
				t.Why = err
			}
		}
	}
	return t, last.Wait()
}

func (b Batch) note(t Tally) {
	if b.Note != nil {
		b.Note(t)
	}
}

// Purge deletes messages, but those that receivers hold. It ends early, with the error of the context, when that is done.
func (n *Namespace) Purge(ctx context.Context, b Batch) (Tally, error) {
	var t Tally
	w, stages, err := n.inspector(b.Path, b.Part)
	if err != nil {
		return t, err
	}
	if len(b.Only) > 0 {
		return b.each(ctx, w.Remove)
	}
	last, err := w.Last()
	if err != nil {
		return t, err
	}
	for from, more := int64(0), true; more; more = from != 0 {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		p, receipt, err := w.Purge(from, last, stages)
		if err := broker.Written(receipt, err); err != nil {
			return t, err
		}
		t.Done, t.Held, from = t.Done+p.Removed, t.Held+p.Held, p.Next
		b.note(t)
	}
	return t, nil
}

// sequences are the numbers of all messages that there are.
func sequences(w *broker.Inspector) ([]int64, error) {
	var all []int64
	for from, more := int64(0), true; more; more = from != 0 {
		found, next, err := w.Browse(from, 4096, anyStage)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			all = append(all, g.Sequence)
		}
		from = next
	}
	return all, nil
}

// A Draft is a message to be sent.
type Draft struct {
	MessageID, SessionID, CorrelationID, Subject, ContentType, To, ReplyTo, ReplyToSessionID, PartitionKey string

	TTL        time.Duration // 0: the entity's default
	Scheduled  time.Time     // zero: now
	Properties []Property

	Body     []byte
	KeepBody bool // of the message that is resubmitted
}

// Draft returns the message for a form: everything that the sender set except the body, and its scheduled time.
func (m Message) Draft() Draft {
	d := Draft{
		MessageID: m.MessageID, SessionID: m.SessionID, CorrelationID: m.CorrelationID, Subject: m.Subject, ContentType: m.ContentType,
		To: m.To, ReplyTo: m.ReplyTo, ReplyToSessionID: m.ReplyToSessionID, PartitionKey: m.PartitionKey, TTL: m.TTL,
	}
	for _, p := range m.Properties {
		if p.Name != broker.ReasonKey && p.Name != broker.DescriptionKey {
			d.Properties = append(d.Properties, p)
		}
	}
	return d
}

// application returns the properties. Unchanged ones keep their values, whose types may have no text form.
func (d Draft) application(before amqp.Map) (amqp.Map, error) {
	var all amqp.Map
	for _, p := range d.Properties {
		if old := before.Get(p.Name); before.Has(p.Name) && amqp.TypeOf(old) == p.Type && text(old) == p.Value {
			all = append(all, amqp.Pair{Key: p.Name, Value: old})
			continue
		}
		value, err := p.value()
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", p.Name, err)
		}
		all = append(all, amqp.Pair{Key: p.Name, Value: value})
	}
	return all, nil
}

// plainHeader is the header of new messages.
var plainHeader = amqp.Header{Durable: true, Priority: 4}

// encode writes the message, with what another has that a draft has not.
func (d Draft) encode(header amqp.Header, old *amqp.Message) ([]byte, error) {
	var p amqp.Properties
	var before amqp.Map
	if old != nil {
		p, before = old.Properties(), old.ApplicationProperties()
	}
	application, err := d.application(before)
	if err != nil {
		return nil, err
	}
	header.TTL = d.TTL
	p.MessageID, p.CorrelationID = sameID(p.MessageID, d.MessageID), sameID(p.CorrelationID, d.CorrelationID)
	p.Subject, p.ContentType, p.To, p.ReplyTo, p.ReplyToGroupID = d.Subject, d.ContentType, d.To, d.ReplyTo, d.ReplyToSessionID
	if p.GroupID != d.SessionID {
		p.GroupID, p.HasGroupID = d.SessionID, d.SessionID != ""
	}
	var annotations amqp.Map
	if !d.Scheduled.IsZero() {
		annotations = append(annotations, amqp.Pair{Key: amqp.Symbol("x-opt-scheduled-enqueue-time"), Value: d.Scheduled})
	}
	if d.PartitionKey != "" {
		annotations = append(annotations, amqp.Pair{Key: amqp.Symbol("x-opt-partition-key"), Value: d.PartitionKey})
	}
	if old != nil && d.KeepBody {
		return old.Edit(nil, amqp.Edit{
			Header: &header, DeliveryAnnotations: &amqp.Map{}, MessageAnnotations: &annotations, Properties: &p,
			ApplicationProperties: &application,
		}), nil
	}
	raw := amqp.AppendHeader(nil, header)
	raw = amqp.AppendMessageAnnotations(raw, annotations)
	raw = amqp.AppendProperties(raw, p)
	raw = amqp.AppendApplicationProperties(raw, application)
	return amqp.AppendData(raw, d.Body), nil
}

// sameID retains an id, which may not be a string, if its text is unchanged.
func sameID(old any, text string) any {
	switch {
	case text == "":
		return nil
	case amqp.IDString(old) == text:
		return old
	default:
		return text
	}
}

// revived returns the message that resubmits a dead letter.
func revived(g broker.Snapshot, edited *Draft) ([]byte, error) {
	m := g.Message()
	header := amqp.Header{Durable: g.Durable, Priority: uint8(g.Priority), TTL: g.TTL}
	if edited != nil {
		return edited.encode(header, &m)
	}
	application := m.ApplicationProperties().Without(broker.ReasonKey).Without(broker.DescriptionKey)
	var annotations amqp.Map
	for _, pair := range g.Annotations() {
		switch pair.Key {
		case amqp.Symbol("x-opt-partition-key"), amqp.Symbol("x-opt-via-partition-key"):
			annotations = append(annotations, pair)
		}
	}
	return m.Edit(nil, amqp.Edit{
		Header: &header, DeliveryAnnotations: &amqp.Map{}, MessageAnnotations: &annotations, ApplicationProperties: &application,
	}), nil
}
