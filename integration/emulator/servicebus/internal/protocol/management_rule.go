package protocol

import (
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// Descriptors of rules and their parts. Filters have one zero less than rules and actions.
const (
	descRule        uint64 = 0x13700000004
	descNoAction    uint64 = 0x13700000005
	descSQLAction   uint64 = 0x13700000006
	descSQL         uint64 = 0x1370000006
	descTrue        uint64 = 0x1370000007
	descFalse       uint64 = 0x1370000008
	descCorrelation uint64 = 0x1370000009
)

// ofSubscription is an operation on the rules of a subscription.
func ofSubscription(do func(r *request, topic, name string) (response, error)) func(*request) (response, error) {
	return func(r *request) (response, error) {
		topic, name, ok := broker.CutSubscription(r.entity)
		if !ok {
			return response{}, amqp.Errorf(broker.NotAllowed, "'%s' is not a subscription and has no rules.", r.entity)
		}
		return do(r, topic, name)
	}
}

func (r *request) addRule(topic, name string) (response, error) {
	rule := broker.Rule{}
	rule.Name, _ = r.body.Get("rule-name").(string)
	description, isMap := r.body.Get("rule-description").(amqp.Map)
	if rule.Name == "" || !isMap {
		return response{}, invalid("rule-description")
	}
	var err error
	if rule.Filter, err = parseFilter(description); err == nil {
		rule.Action, err = parseAction(description)
	}
	if err != nil {
		return response{}, &amqp.Error{Condition: broker.ArgumentError, Description: err.Error()}
	}
	_, err = r.conn.server.config.Broker.CreateRule(topic, name, rule)
	return ok(amqp.Map{}), err
}

// parseAction returns the action in the description of a rule, or nil.
func parseAction(description amqp.Map) (*filter.Action, error) {
	action, _ := description.Get("sql-rule-action").(amqp.Map)
	expression, _ := action.Get("expression").(string)
	if expression == "" {
		return nil, nil //nolint:nilnil // no action
	}
	return filter.ParseAction(expression, nil)
}

// parseFilter returns the filter in the description of a rule.
func parseFilter(description amqp.Map) (filter.Filter, error) {
	if sql, ok := description.Get("sql-filter").(amqp.Map); ok {
		expression, _ := sql.Get("expression").(string)
		return filter.ParseSQL(expression, nil)
	}
	correlation, ok := description.Get("correlation-filter").(amqp.Map)
	if !ok {
		return filter.TrueFilter(), nil
	}
	properties, _ := correlation.Get("properties").(amqp.Map)
	fields := filter.CorrelationFilter{Properties: asProperties(properties)}
	for _, field := range filter.Fields {
		*field.Of(&fields), _ = correlation.Get(field.AMQPKey).(string)
	}
	return filter.NewCorrelation(fields)
}

func (r *request) removeRule(topic, name string) (response, error) {
	rule, _ := r.body.Get("rule-name").(string)
	return ok(amqp.Map{}), r.conn.server.config.Broker.DeleteRule(topic, name, rule)
}

func (r *request) enumerateRules(topic, name string) (response, error) {
	rules, err := r.conn.server.config.Broker.Rules(topic, name)
	skip := min(max(r.number("skip", 0), 0), int64(len(rules)))
	top := min(max(r.number("top", 100), 0), int64(len(rules))-skip)
	described := amqp.List{}
	for _, rule := range rules[skip : skip+top] {
		described = append(described, amqp.Map{{Key: "rule-description", Value: describeRule(rule)}})
	}
	return some("rules", described), err
}

// describeRule returns a rule as clients expect it, always with an action.
func describeRule(rule broker.Rule) amqp.Described {
	action := amqp.Described{Descriptor: descNoAction, Value: amqp.List{}}
	if rule.Action != nil {
		action = amqp.Described{Descriptor: descSQLAction, Value: amqp.List{rule.Action.Expression(), int32(20)}}
	}
	return amqp.Described{Descriptor: descRule, Value: amqp.List{describeFilter(rule.Filter), action, rule.Name, rule.Created}}
}

func describeFilter(f filter.Filter) amqp.Described {
	switch f.Kind() {
	case filter.True:
		return amqp.Described{Descriptor: descTrue, Value: amqp.List{}}
	case filter.False:
		return amqp.Described{Descriptor: descFalse, Value: amqp.List{}}
	case filter.SQL:
		return amqp.Described{Descriptor: descSQL, Value: amqp.List{f.Expression(), int32(20)}}
	default:
		c, list := f.Correlation(), amqp.List{}
		for _, field := range filter.Fields {
			list = append(list, optional(*field.Of(&c)))
		}
		return amqp.Described{Descriptor: descCorrelation, Value: append(list, c.Properties)}
	}
}

// optional returns null for an empty text.
func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}
