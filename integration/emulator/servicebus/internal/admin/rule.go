package admin

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// ruleDescription is a rule.
type ruleDescription struct {
	spaces

	Filter    *ruleFilter `xml:"Filter"`
	Action    *ruleAction `xml:"Action"`
	CreatedAt string      `xml:"CreatedAt,omitempty"`
	Name      string      `xml:"Name"`
}

type (
	// typed is the attribute with the type of an element. Clients write it with any prefix, and read it as "i:type".
	typed struct {
		Read  string `xml:"http://www.w3.org/2001/XMLSchema-instance type,attr,omitempty"`
		Write string `xml:"i:type,attr,omitempty"`
	}
	ruleFilter struct {
		typed

		Fields             []field    `xml:",any"` // of [filter.Fields]
		Properties         *keyValues `xml:"Properties"`
		SQLExpression      *string    `xml:"SqlExpression"`
		CompatibilityLevel *int       `xml:"CompatibilityLevel"`
		Parameters         *keyValues `xml:"Parameters"`
	}
	field struct {
		XMLName xml.Name `xml:""` // any name
		Text    string   `xml:",chardata"`
	}
	ruleAction struct {
		typed

		SQLExpression      *string    `xml:"SqlExpression"`
		CompatibilityLevel *int       `xml:"CompatibilityLevel"`
		Parameters         *keyValues `xml:"Parameters"`
	}
	keyValues struct {
		Items []keyValue `xml:"KeyValueOfstringanyType"`
	}
	keyValue struct {
		Key   string       `xml:"Key"`
		Value keyValueItem `xml:"Value"`
	}
)

// kind returns the type from the attribute, without its namespace.
func (t typed) kind() string {
	_, name := splitName(t.Read)
	return name[strings.LastIndexByte(name, ':')+1:]
}

// compatibility is the level of the SQL dialect.
const compatibility = 20

func (q *query) listRules(topic, subscription string) {
	rules, err := q.broker.Rules(topic, subscription)
	if q.failed(err) {
		return
	}
	q.writeFeed("Rules", len(rules), func(i int) entry {
		return q.ruleEntry(topic, subscription, rules[i])
	})
}

// rule acts on one rule.
func (q *query) rule(topic, subscription, name string) {
	q.act(func() (entry, error) {
		rule, err := q.broker.Rule(topic, subscription, name)
		return q.ruleEntry(topic, subscription, rule), err
	}, func() error {
		return q.broker.DeleteRule(topic, subscription, name)
	}, func(c content) (entry, error) {
		if c.Rule == nil {
			return entry{}, badBody("The body has no RuleDescription.")
		}
		rule, err := c.Rule.rule(name)
		if err != nil {
			return entry{}, err
		}
		put := q.broker.CreateRule
		if q.updating() {
			put = q.broker.UpdateRule
		}
		rule, err = put(topic, subscription, rule)
		return q.ruleEntry(topic, subscription, rule), err
	})
}

// rule returns the rule of the description.
func (d *ruleDescription) rule(name string) (broker.Rule, error) {
	rule := broker.Rule{Name: name}
	var err error
	if d.Filter != nil {
		if rule.Filter, err = d.Filter.filter(); err != nil {
			return broker.Rule{}, fmt.Errorf("%w: Filter: %w", errBadRequest, err)
		}
	}
	if d.Action == nil || d.Action.SQLExpression == nil || *d.Action.SQLExpression == "" {
		return rule, nil
	}
	parameters, err := d.Action.Parameters.values()
	if err != nil {
		return broker.Rule{}, err
	}
	if rule.Action, err = filter.ParseAction(*d.Action.SQLExpression, parameters); err != nil {
		return broker.Rule{}, fmt.Errorf("%w: Action: %w", errBadRequest, err)
	}
	return rule, nil
}

func (f *ruleFilter) filter() (filter.Filter, error) {
	switch kind := f.kind(); kind {
	case "TrueFilter":
		return filter.TrueFilter(), nil
	case "FalseFilter":
		return filter.FalseFilter(), nil
	case "CorrelationFilter":
		properties, err := f.Properties.values()
		if err != nil {
			return filter.Filter{}, err
		}
		c := filter.CorrelationFilter{Properties: properties}
		for _, given := range f.Fields {
			for _, known := range filter.Fields {
				if known.Name == given.XMLName.Local {
					*known.Of(&c) = given.Text
				}
			}
		}
		return filter.NewCorrelation(c)
	case "SqlFilter", "":
		parameters, err := f.Parameters.values()
		if err != nil {
			return filter.Filter{}, err
		}
		return filter.ParseSQL(value(f.SQLExpression), parameters)
	default:
		return filter.Filter{}, fmt.Errorf("%q is no kind of filter", kind)
	}
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// values returns typed values by their names.
func (k *keyValues) values() (amqp.Map, error) {
	if k == nil {
		return nil, nil
	}
	values := make(amqp.Map, 0, len(k.Items))
	for _, item := range k.Items {
		v, err := item.Value.parse()
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", errBadRequest, item.Key, err)
		}
		values = append(values, amqp.Pair{Key: item.Key, Value: v})
	}
	return values, nil
}

// newKeyValues writes typed values, or nil for none.
func newKeyValues(values amqp.Map) *keyValues {
	if len(values) == 0 {
		return nil
	}
	k := &keyValues{}
	for _, pair := range values {
		k.Items = append(k.Items, keyValue{Key: fmt.Sprint(pair.Key), Value: newValue(pair.Value)})
	}
	return k
}

func (q *query) ruleEntry(topic, subscription string, rule broker.Rule) entry {
	path := topic + "/Subscriptions/" + subscription + "/Rules/" + rule.Name
	action := &ruleAction{typed: typed{Write: "EmptyRuleAction"}}
	if rule.Action != nil {
		action = &ruleAction{
			typed: typed{Write: "SqlRuleAction"}, SQLExpression: new(rule.Action.Expression()), CompatibilityLevel: new(compatibility),
			Parameters: newKeyValues(rule.Action.Parameters()),
		}
	}
	return q.newEntry(path, rule.Name, rule.Created, rule.Created, content{Rule: &ruleDescription{
		spaces: newSpaces(), Filter: newRuleFilter(rule.Filter), Action: action, CreatedAt: stamp(rule.Created), Name: rule.Name,
	}})
}

func newRuleFilter(f filter.Filter) *ruleFilter {
	switch f.Kind() {
	case filter.Correlation:
		c := f.Correlation()
		shown := &ruleFilter{typed: typed{Write: "CorrelationFilter"}, Properties: newKeyValues(c.Properties)}
		for _, known := range filter.Fields {
			if text := *known.Of(&c); text != "" {
				shown.Fields = append(shown.Fields, field{xml.Name{Local: known.Name}, text})
			}
		}
		return shown
	case filter.SQL:
		return &ruleFilter{
			typed: typed{Write: "SqlFilter"}, SQLExpression: new(f.Expression()), CompatibilityLevel: new(compatibility),
			Parameters: newKeyValues(f.Parameters()),
		}
	case filter.False:
		return &ruleFilter{typed: typed{Write: "FalseFilter"}, SQLExpression: new("1=0"), CompatibilityLevel: new(compatibility)}
	default:
		return &ruleFilter{typed: typed{Write: "TrueFilter"}, SQLExpression: new("1=1"), CompatibilityLevel: new(compatibility)}
	}
}
