package filter

import (
	"errors"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

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
		p.accept(tokenSymbol, ";") // which may be left out
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

// Parameters are those of the action.
func (a *Action) Parameters() amqp.Map {
	if a == nil {
		return nil
	}
	return a.parameters
}
