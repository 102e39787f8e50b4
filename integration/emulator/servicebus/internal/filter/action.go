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
	p, err := newParser(statements, parameters)
	if err != nil {
		return nil, err
	}
	a := &Action{expression: statements, parameters: parameters}
	for {
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		if a.statements = append(a.statements, s); len(a.statements) > MaxStatements {
			return nil, p.errorf("more than %d statements", MaxStatements)
		}
		if _, err := p.accept(tokenSymbol, ";"); err != nil { // which may be left out
			return nil, err
		}
		if p.token.kind == tokenEnd {
			return a, nil
		}
	}
}

// statement parses SET or REMOVE.
func (p *parser) statement() (statement, error) {
	remove := p.isKeyword("REMOVE")
	if !remove && !p.isKeyword("SET") {
		return statement{}, p.errorf("SET or REMOVE is due, not %v", p.token)
	}
	if err := p.advance(); err != nil {
		return statement{}, err
	}
	at := p.token.position
	target, err := p.property()
	if err != nil {
		return statement{}, err
	}
	if target.system {
		if known, ok := system[strings.ToLower(target.name)]; !ok || known.set == nil {
			return statement{}, p.lexer.errorf(at, "system property %s cannot be changed", target.name)
		}
	}
	if remove {
		return statement{target: target}, nil
	}
	if !p.isSymbol("=") {
		return statement{}, p.errorf("\"=\" is due, not %v", p.token)
	}
	n, err := p.operand()
	return statement{target, n}, err
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
