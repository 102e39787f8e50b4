package filter

import (
	"fmt"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A CorrelationFilter matches messages whose properties are equal to all of its own that are not empty. Text is compared byte
// by byte, numbers by value.
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

// A correlation is a compiled CorrelationFilter.
type correlation struct {
	fields     CorrelationFilter
	properties []expectation
}

// An expectation is a property and its value.
type expectation struct {
	name  string
	value value
}

// NewCorrelation makes a correlation filter. It fails on a property whose key is not text or whose value is a list or map.
func NewCorrelation(fields CorrelationFilter) (Filter, error) {
	c := &correlation{fields: fields}
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

func (c *correlation) match(m *Message) bool {
	p, want := m.Properties(), &c.fields
	same := func(want, got string) bool { return want == "" || want == got }
	sameID := func(want string, got any) bool { return want == "" || want == amqp.IDString(got) }
	if !sameID(want.CorrelationID, p.CorrelationID) || !sameID(want.MessageID, p.MessageID) || !same(want.To, p.To) ||
		!same(want.ReplyTo, p.ReplyTo) || !same(want.Label, p.Subject) || !same(want.SessionID, p.GroupID) ||
		!same(want.ReplyToSessionID, p.ReplyToGroupID) || !same(want.ContentType, p.ContentType) {
		return false
	}
	for _, expected := range c.properties {
		if order, ordered := compare(expected.value, m.user(expected.name)); !ordered || order != 0 {
			return false
		}
	}
	return true
}
