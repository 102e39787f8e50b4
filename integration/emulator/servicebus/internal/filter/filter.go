package filter

import (
	"errors"

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

// A Filter says which messages match. The zero value matches every message. Filters of the kinds SQL and Correlation are made
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

// Parameters are those of a SQL filter.
func (f Filter) Parameters() amqp.Map { return f.parameters }

// Correlation returns the fields of a correlation filter.
func (f Filter) Correlation() CorrelationFilter {
	if f.correlation == nil {
		return CorrelationFilter{}
	}
	return f.correlation.fields
}
