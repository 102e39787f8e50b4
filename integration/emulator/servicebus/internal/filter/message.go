package filter

import (
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A Message is a message as filters see it. It decodes each requested part once, and is for one goroutine.
type Message struct {
	message  amqp.Message
	enqueued time.Time
	sequence int64

	hasProperties  bool
	properties     amqp.Properties
	hasApplication bool
	application    amqp.Map
	hasAnnotations bool
	annotations    amqp.Map
}

// NewMessage returns the view of a message that was enqueued at a time with a sequence number.
func NewMessage(m amqp.Message, enqueued time.Time, sequence int64) *Message {
	return &Message{message: m, enqueued: enqueued, sequence: sequence}
}

// Properties returns the decoded properties.
func (m *Message) Properties() *amqp.Properties {
	if !m.hasProperties {
		m.properties, m.hasProperties = m.message.Properties(), true
	}
	return &m.properties
}

// Application returns the decoded application properties, which the caller must not change.
func (m *Message) Application() amqp.Map {
	if !m.hasApplication {
		m.application, m.hasApplication = m.message.ApplicationProperties(), true
	}
	return m.application
}

// Annotations returns the decoded message annotations, which the caller must not change.
func (m *Message) Annotations() amqp.Map {
	if !m.hasAnnotations {
		m.annotations, m.hasAnnotations = m.message.MessageAnnotations(), true
	}
	return m.annotations
}

// user returns an application property.
func (m *Message) user(name string) value { return valueOf(m.written(name)) }

// written returns it as its sender wrote it, or nil.
func (m *Message) written(name string) any {
	properties := m.Application()
	for _, pair := range properties {
		if key, ok := pair.Key.(string); ok && key == name {
			return pair.Value
		}
	}
	for _, pair := range properties {
		if key, ok := pair.Key.(string); ok && strings.EqualFold(key, name) {
			return pair.Value
		}
	}
	return nil
}

// A systemProperty is what "sys." leads to.
type systemProperty struct {
	get func(m *Message) value
	set func(p *amqp.Properties, text string) // nil if it cannot be set
}

// system has the system properties by their names in lower case.
var system = map[string]systemProperty{
	"messageid": {
		func(m *Message) value { return valueOf(m.Properties().MessageID) },
		func(p *amqp.Properties, text string) { p.MessageID = text },
	},
	"correlationid": {
		func(m *Message) value { return valueOf(m.Properties().CorrelationID) },
		func(p *amqp.Properties, text string) { p.CorrelationID = text },
	},
	"to":      textProperty(func(p *amqp.Properties) *string { return &p.To }),
	"replyto": textProperty(func(p *amqp.Properties) *string { return &p.ReplyTo }),
	"label":   textProperty(func(p *amqp.Properties) *string { return &p.Subject }),
	"subject": textProperty(func(p *amqp.Properties) *string { return &p.Subject }),
	"sessionid": {
		func(m *Message) value { return optionalText(m.Properties().GroupID) },
		func(p *amqp.Properties, text string) { p.GroupID, p.HasGroupID = text, text != "" },
	},
	"replytosessionid": textProperty(func(p *amqp.Properties) *string { return &p.ReplyToGroupID }),
	"contenttype":      textProperty(func(p *amqp.Properties) *string { return &p.ContentType }),
	"timetolive":       {get: func(m *Message) value { return integerOf(m.message.Header().TTL.Milliseconds()) }},
	"expiresatutc": {get: func(m *Message) value {
		ttl := m.message.Header().TTL
		if ttl == 0 {
			return value{}
		}
		return instantOf(m.enqueued.Add(ttl))
	}},
	"enqueuedtimeutc":         {get: func(m *Message) value { return instantOf(m.enqueued) }},
	"sequencenumber":          {get: func(m *Message) value { return integerOf(m.sequence) }},
	"enqueuedsequencenumber":  {get: func(m *Message) value { return integerOf(m.sequence) }},
	"deliverycount":           {get: func(m *Message) value { return integerOf(int64(m.message.Header().DeliveryCount)) }},
	"forcepersistence":        {get: func(m *Message) value { return boolOf(m.message.Header().Durable) }},
	"size":                    {get: func(m *Message) value { return integerOf(int64(m.message.Len())) }},
	"partitionkey":            {get: annotation("x-opt-partition-key")},
	"viapartitionkey":         {get: annotation("x-opt-via-partition-key")},
	"scheduledenqueuetimeutc": {get: annotation("x-opt-scheduled-enqueue-time")},
	"deadlettersource":        {get: annotation("x-opt-deadletter-source")},
	"lockeduntilutc":          {get: absent},
	"locktoken":               {get: absent},
}

// textProperty is a system property that is a text of the message's properties.
func textProperty(field func(*amqp.Properties) *string) systemProperty {
	return systemProperty{
		func(m *Message) value { return optionalText(*field(m.Properties())) },
		func(p *amqp.Properties, text string) { *field(p) = text },
	}
}

func annotation(name string) func(*Message) value {
	return func(m *Message) value { return valueOf(m.Annotations().Get(name)) }
}

func absent(*Message) value { return value{} }

// A property is the property that a name refers to.
type property struct {
	system bool
	name   string
}

// node returns what evaluates the property.
func (p property) node() node {
	if !p.system {
		return userNode{p.name}
	}
	if known, ok := system[strings.ToLower(p.name)]; ok {
		return sysNode{known.get}
	}
	return badNode{"there is no system property " + p.name}
}

// name parses a property, or a function if a parenthesis follows.
func (p *parser) name() node {
	first := p.token
	target := p.property()
	if !p.isSymbol("(") || first.kind != tokenName {
		return p.mention(first.position, target.node())
	}
	end := first.position + len(first.text)
	if target.system || strings.TrimSpace(p.lexer.input[end:p.token.position]) != "" {
		p.failf("a system property is not a function")
	}
	return p.call(first)
}

// call parses the arguments of a function.
func (p *parser) call(name token) node {
	p.advance()
	switch strings.ToLower(name.text) {
	case "newid":
		return p.expect(tokenSymbol, ")", newIDNode{})
	case "p", "property":
	default:
		p.failAtf(name.position, "there is no function %q", name.text)
	}
	argument := p.token
	if argument.kind != tokenText && argument.kind != tokenName && argument.kind != tokenQuotedName {
		p.failf("the name of a property is due, not %v", argument)
	}
	p.advance()
	return p.mention(name.position, p.expect(tokenSymbol, ")", userNode{argument.text}))
}

// property parses a name with its scope.
func (p *parser) property() property {
	first := p.token
	if first.kind != tokenName && first.kind != tokenQuotedName {
		p.failf("the name of a property is due, not %v", first)
	}
	p.advance()
	if !p.isSymbol(".") {
		return property{name: first.text}
	}
	scope := strings.ToLower(first.text)
	if scope != "sys" && scope != "user" {
		p.failAtf(first.position, "scope %q is neither sys nor user", first.text)
	}
	p.advance()
	if p.token.kind != tokenName && p.token.kind != tokenQuotedName && p.token.kind != tokenKeyword {
		p.failf("the name of a property is due, not %v", p.token)
	}
	name := p.lexer.input[p.token.position : p.token.position+len(p.token.text)]
	if p.token.kind == tokenQuotedName {
		name = p.token.text
	}
	p.advance()
	return property{system: scope == "sys", name: name}
}
