package browse

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// A Draft is a message to be sent.
type Draft struct {
	MessageID, SessionID, CorrelationID, Subject, ContentType, To, ReplyTo, ReplyToSessionID, PartitionKey string

	TTL        time.Duration // 0: that of the entity
	Scheduled  time.Time     // zero: now
	Properties []Property

	Body     []byte
	KeepBody bool // of the message that is resubmitted
}

// A DraftError says which part of a draft is wrong.
type DraftError struct {
	Property int // its place, from 0
	Name     string
	Err      error
}

// Error names the property.
func (e *DraftError) Error() string { return fmt.Sprintf("property %q: %v", e.Name, e.Err) }

// Unwrap returns what is wrong with it.
func (e *DraftError) Unwrap() error { return e.Err }

// application returns the properties. Those that are as they were keep their values, which may be of types that have no text.
func (d Draft) application(before amqp.Map) (amqp.Map, error) {
	var all amqp.Map
	for i, p := range d.Properties {
		if old := before.Get(p.Name); before.Has(p.Name) && typeOf(old) == p.Type && text(old) == p.Value {
			all = append(all, amqp.Pair{Key: p.Name, Value: old})
			continue
		}
		value, err := p.value()
		if err != nil {
			return nil, &DraftError{i, p.Name, err}
		}
		all = append(all, amqp.Pair{Key: p.Name, Value: value})
	}
	return all, nil
}

// plainHeader is that of new messages.
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

// sameID keeps an id, which may be no text, if its text is as it was.
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

// revived returns a dead letter as it is sent again.
func revived(g broker.Glimpse, edited *Draft) ([]byte, error) {
	m := g.Message()
	header := amqp.Header{Durable: g.Durable, Priority: g.Priority, TTL: g.TTL}
	if edited != nil {
		return edited.encode(header, &m)
	}
	application := m.ApplicationProperties().Without(reasonProperty).Without(descriptionProperty)
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
