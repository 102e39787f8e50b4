package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A Kind is a kind of filter.
type Kind uint8

// The kinds. The zero value is True.
const (
	True Kind = iota
	False
	SQL
	Correlation
)

// A Filter selects messages. The zero value matches every message. Filters of the kinds SQL and Correlation are made
// by [ParseSQL] and [NewCorrelation].
type Filter struct {
	kind        Kind
	expression  string
	parameters  amqp.Map
	root        node
	leaves      []leaf // of root, in the order of the text
	correlation *correlation
}

// TrueFilter matches every message.
func TrueFilter() Filter { return Filter{} }

// FalseFilter matches no message.
func FalseFilter() Filter { return Filter{kind: False} }

// ParseSQL compiles an expression such as "sys.Label = 'x' AND price > 10". The names of parameters have their "@". Errors are
// of type [*SyntaxError].
func ParseSQL(expression string, parameters amqp.Map) (Filter, error) {
	p := newParser(expression, parameters)
	root := p.or()
	if p.token.kind != tokenEnd {
		p.failf("an operator or the end is due, not %v", p.token)
	}
	if root = p.predicate(root, 0); p.err != nil {
		return Filter{}, p.err
	}
	return Filter{kind: SQL, expression: expression, parameters: parameters, root: root, leaves: p.leaves}, nil
}

// NewCorrelation makes a correlation filter. It fails on a property whose key is not text or whose value is a list or map.
func NewCorrelation(fields CorrelationFilter) (Filter, error) {
	c := &correlation{fields: fields}
	for i := range Fields {
		if *Fields[i].Of(&fields) != "" {
			c.system = append(c.system, &Fields[i])
		}
	}
	for _, pair := range fields.Properties {
		name, ok := pair.Key.(string)
		if symbol, isSymbol := pair.Key.(amqp.Symbol); isSymbol {
			name, ok = string(symbol), true
		}
		if !ok || name == "" {
			return Filter{}, fmt.Errorf("a property of a correlation filter needs a name, not %v", pair.Key)
		}
		v := valueOf(pair.Value)
		if v.kind == unknown {
			return Filter{}, fmt.Errorf("property %q of a correlation filter has a value of type %T", name, pair.Value)
		}
		c.properties = append(c.properties, expectation{name, v})
	}
	return Filter{kind: Correlation, correlation: c}, nil
}

// Match reports whether a message matches. An error means that the expression cannot be evaluated on it.
func (f Filter) Match(m *Message) (bool, error) {
	switch f.kind {
	case True:
		return true, nil
	case False:
		return false, nil
	case Correlation:
		return f.correlation.match(m), nil
	default:
		v := f.root.eval(m)
		if v.kind == failed {
			return false, errors.New(v.text)
		}
		return v.kind == boolean && v.number == 1, nil
	}
}

// Kind is the kind of the filter.
func (f Filter) Kind() Kind { return f.kind }

// Expression is the text of a SQL filter, "1=1" for True and "1=0" for False.
func (f Filter) Expression() string {
	switch f.kind {
	case True:
		return "1=1"
	case False:
		return "1=0"
	default:
		return f.expression
	}
}

// Parameters returns the parameters of a SQL filter.
func (f Filter) Parameters() amqp.Map { return f.parameters }

// Correlation returns the fields of a correlation filter.
func (f Filter) Correlation() CorrelationFilter {
	if f.correlation == nil {
		return CorrelationFilter{}
	}
	return f.correlation.fields
}

// A CorrelationFilter matches messages whose properties equal all of its non-empty properties. Text is compared byte by
// byte, numbers by value.
type CorrelationFilter struct {
	CorrelationID    string
	MessageID        string
	To               string
	ReplyTo          string
	Label            string
	SessionID        string
	ReplyToSessionID string
	ContentType      string
	Properties       amqp.Map // of application properties
}

// A Field is a system property that a correlation filter can compare.
type Field struct {
	Name    string // without "sys."
	AMQPKey string // in the description of a rule
	Of      func(*CorrelationFilter) *string
	Get     func(*amqp.Properties) string
}

// Fields are the system properties, in the order of the filter's AMQP description.
var Fields = [...]Field{
	{
		"CorrelationId", "correlation-id", func(f *CorrelationFilter) *string { return &f.CorrelationID },
		func(p *amqp.Properties) string { return amqp.IDString(p.CorrelationID) },
	},
	{
		"MessageId", "message-id", func(f *CorrelationFilter) *string { return &f.MessageID },
		func(p *amqp.Properties) string { return amqp.IDString(p.MessageID) },
	},
	{"To", "to", func(f *CorrelationFilter) *string { return &f.To }, func(p *amqp.Properties) string { return p.To }},
	{"ReplyTo", "reply-to", func(f *CorrelationFilter) *string { return &f.ReplyTo }, func(p *amqp.Properties) string { return p.ReplyTo }},
	{"Label", "label", func(f *CorrelationFilter) *string { return &f.Label }, func(p *amqp.Properties) string { return p.Subject }},
	{
		"SessionId", "session-id", func(f *CorrelationFilter) *string { return &f.SessionID },
		func(p *amqp.Properties) string { return p.GroupID },
	},
	{
		"ReplyToSessionId", "reply-to-session-id", func(f *CorrelationFilter) *string { return &f.ReplyToSessionID },
		func(p *amqp.Properties) string { return p.ReplyToGroupID },
	},
	{
		"ContentType", "content-type", func(f *CorrelationFilter) *string { return &f.ContentType },
		func(p *amqp.Properties) string { return p.ContentType },
	},
}

// A correlation is a compiled CorrelationFilter.
type correlation struct {
	fields     CorrelationFilter
	system     []*Field // compared by the filter
	properties []expectation
}

// An expectation is a property and its value.
type expectation struct {
	name  string
	value value
}

func (c *correlation) match(m *Message) bool {
	for _, field := range c.system {
		if *field.Of(&c.fields) != field.Get(m.Properties()) {
			return false
		}
	}
	for _, expected := range c.properties {
		if order, ordered := compare(expected.value, m.user(expected.name)); !ordered || order != 0 {
			return false
		}
	}
	return true
}

// An Action changes properties of messages.
type Action struct {
	expression string
	parameters amqp.Map
	statements []statement
}

// A statement sets a property or, without a node, removes it.
type statement struct {
	target property
	node   node
}

// ParseAction compiles statements such as "SET priority = 'high'; REMOVE color". Errors are of type [*SyntaxError].
func ParseAction(statements string, parameters amqp.Map) (*Action, error) {
	p := newParser(statements, parameters)
	a := &Action{expression: statements, parameters: parameters}
	for {
		if a.statements = append(a.statements, p.statement()); len(a.statements) > MaxStatements {
			p.failf("more than %d statements", MaxStatements)
		}
		p.accept(tokenSymbol, ";") // optional
		switch {
		case p.err != nil:
			return nil, p.err
		case p.token.kind == tokenEnd:
			return a, nil
		}
	}
}

// statement parses SET or REMOVE.
func (p *parser) statement() statement {
	remove := p.isKeyword("REMOVE")
	if !remove && !p.isKeyword("SET") {
		p.failf("SET or REMOVE is due, not %v", p.token)
	}
	p.advance()
	at := p.token.position
	target := p.property()
	if target.system {
		if known, ok := system[strings.ToLower(target.name)]; !ok || known.set == nil {
			p.failAtf(at, "system property %s cannot be changed", target.name)
		}
	}
	if remove {
		return statement{target: target}
	}
	if !p.isSymbol("=") {
		p.failf("\"=\" is due, not %v", p.token)
	}
	return statement{target, p.operand()}
}

// Apply returns the edit that an action makes on a message. Later statements see what earlier ones have changed.
func (a *Action) Apply(m *Message) (amqp.Edit, error) {
	properties, application := *m.Properties(), slices.Clone(m.Application())
	view := &Message{
		message: m.message, enqueued: m.enqueued, sequence: m.sequence, hasProperties: true, hasApplication: true,
		properties: properties, application: application, hasAnnotations: m.hasAnnotations, annotations: m.annotations,
	}
	edit := amqp.Edit{}
	for _, s := range a.statements {
		v := value{}
		if s.node != nil {
			if v = s.node.eval(view); v.kind == failed {
				return amqp.Edit{}, errors.New(v.text)
			}
		}
		if !s.target.system {
			view.application = view.application.Without(s.target.name)
			if s.node != nil {
				view.application = append(view.application, amqp.Pair{Key: s.target.name, Value: v.amqp()})
			}
			edit.ApplicationProperties = &view.application
			continue
		}
		if v.kind != text && v.kind != unknown {
			v = textOf(amqp.IDString(v.amqp()))
		}
		system[strings.ToLower(s.target.name)].set(&view.properties, v.text)
		edit.Properties = &view.properties
	}
	return edit, nil
}

// Expression is the text of the action; a nil action has none.
func (a *Action) Expression() string {
	if a == nil {
		return ""
	}
	return a.expression
}

// Parameters returns the parameters of the action.
func (a *Action) Parameters() amqp.Map {
	if a == nil {
		return nil
	}
	return a.parameters
}
