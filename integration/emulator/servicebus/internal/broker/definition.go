package broker

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// A definition is what the journal has of an entity.
type definition struct {
	Kind     Kind             `json:"kind"`
	Topic    uint64           `json:"topic,omitempty"`
	Name     string           `json:"name"`
	Created  int64            `json:"created"`
	Updated  int64            `json:"updated"`
	Settings settings         `json:"settings"`
	Rules    []ruleDefinition `json:"rules,omitempty"`
}

// A ruleDefinition is what the journal has of a rule. Maps are in their AMQP encoding, which keeps types.
type ruleDefinition struct {
	Name             string                    `json:"name"`
	Created          time.Time                 `json:"created"`
	Kind             filter.Kind               `json:"kind"`
	Expression       string                    `json:"expression,omitempty"`
	Parameters       []byte                    `json:"parameters,omitempty"`
	Correlation      *filter.CorrelationFilter `json:"correlation,omitempty"`
	Properties       []byte                    `json:"properties,omitempty"`
	Action           string                    `json:"action,omitempty"`
	ActionParameters []byte                    `json:"actionParameters,omitempty"`
}

func (e *entity) definition() definition {
	d := definition{Kind: Kind(e.kind.Load()), Name: e.name, Created: e.created, Updated: e.updated, Settings: e.settings}
	if e.topic != nil {
		d.Topic = e.topic.id
	}
	for _, rule := range *e.rules.Load() {
		d.Rules = append(d.Rules, defineRule(rule))
	}
	return d
}

func defineRule(rule Rule) ruleDefinition {
	d := ruleDefinition{
		Name: rule.Name, Created: rule.Created, Kind: rule.Filter.Kind(), Expression: rule.Filter.Expression(),
		Parameters: encodeMap(rule.Filter.Parameters()), Action: rule.Action.Expression(),
		ActionParameters: encodeMap(rule.Action.Parameters()),
	}
	if d.Kind == filter.Correlation {
		correlation := rule.Filter.Correlation()
		d.Properties = encodeMap(correlation.Properties)
		correlation.Properties = nil
		d.Correlation = &correlation
	}
	return d
}

// rule compiles a rule again.
func (d ruleDefinition) rule() (Rule, error) {
	rule := Rule{Name: d.Name, Created: d.Created}
	var err error
	switch d.Kind {
	case filter.True:
	case filter.False:
		rule.Filter = filter.FalseFilter()
	case filter.SQL:
		rule.Filter, err = filter.ParseSQL(d.Expression, decodeMap(d.Parameters))
	case filter.Correlation:
		fields := filter.CorrelationFilter{}
		if d.Correlation != nil {
			fields = *d.Correlation
		}
		fields.Properties = decodeMap(d.Properties)
		rule.Filter, err = filter.NewCorrelation(fields)
	}
	if err == nil && d.Action != "" {
		rule.Action, err = filter.ParseAction(d.Action, decodeMap(d.ActionParameters))
	}
	if err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", d.Name, err)
	}
	return rule, nil
}

// unzoned describes a time without a zone, see [filter.Unzoned], of which AMQP knows nothing.
const unzoned amqp.Symbol = "carillon:unzoned"

func encodeMap(m amqp.Map) []byte {
	if len(m) == 0 {
		return nil
	}
	m = slices.Clone(m)
	for i, pair := range m {
		if t, ok := pair.Value.(time.Time); ok && t.Location() == filter.Unzoned {
			m[i].Value = amqp.Described{Descriptor: unzoned, Value: t}
		}
	}
	return amqp.Append(nil, m)
}

func decodeMap(b []byte) amqp.Map {
	value, _, err := amqp.Unmarshal(b)
	if err != nil {
		return nil
	}
	m, _ := value.(amqp.Map)
	for i, pair := range m {
		described, ok := pair.Value.(amqp.Described)
		if !ok || described.Descriptor != unzoned {
			continue
		}
		if t, ok := described.Value.(time.Time); ok {
			m[i].Value = t.In(filter.Unzoned)
		}
	}
	return m
}
