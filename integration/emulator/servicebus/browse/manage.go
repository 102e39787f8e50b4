package browse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// Create makes an entity of the kind, name, topic and settings that e has; what it holds is passed over. A new subscription takes
// every message.
func (n *Namespace) Create(e Entity) (err error) {
	switch options := e.options(Options{}); e.Kind {
	case Topic:
		_, err = n.broker.CreateTopic(e.Name, options)
	case Subscription:
		_, err = n.broker.CreateSubscription(e.Topic, e.Name, options, nil)
	default:
		_, err = n.broker.CreateQueue(e.Name, options)
	}
	return err
}

// Update changes the settings of an entity. MaxMessageSize and settings that forms do not show stay as they are.
func (n *Namespace) Update(e Entity) error {
	info, err := n.broker.Entity(e.Path)
	if err == nil {
		_, err = n.broker.Update(info.Kind, e.Path, e.options(info.Options))
	}
	return err
}

// Remove deletes an entity with its messages, and of a topic the subscriptions.
func (n *Namespace) Remove(path string) error { return n.broker.Delete(path) }

// options returns the new options of an entity. Settings that forms do not show stay as they are now.
func (e *Entity) options(now Options) Options {
	o := e.Options
	o.DuplicateDetection = o.DuplicateWindow > 0
	o.ForwardTo, o.ForwardDeadLettersTo = same(now.ForwardTo, o.ForwardTo), same(now.ForwardDeadLettersTo, o.ForwardDeadLettersTo)
	o.MaxMessageSize, o.AuthorizationRules, o.SupportOrdering = now.MaxMessageSize, now.AuthorizationRules, now.SupportOrdering
	o.Partitioning, o.Express, o.NoBatching = now.Partitioning, now.Express, now.NoBatching
	return o
}

// same keeps an address that leads to an entity which is known by its name.
func same(address, name string) string {
	if broker.TargetName(address) == name {
		return address
	}
	return name
}

// A RuleError says which part of a rule is wrong: filter, action, parameters or fields.
type RuleError struct {
	Part string
	Err  error
}

// Error says what is wrong.
func (e *RuleError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *RuleError) Unwrap() error { return e.Err }

// PutRule adds a rule to a subscription, or with replace puts it in the place of the one of its name. Its parameters are those of
// the filter and of the action. It fails with a [*RuleError] when it is wrong.
func (n *Namespace) PutRule(path string, r Rule, replace bool) error {
	topic, name, _ := broker.CutSubscription(path)
	rule, err := r.compile()
	if err != nil {
		return err
	}
	if replace {
		_, err = n.broker.UpdateRule(topic, name, rule)
	} else {
		_, err = n.broker.CreateRule(topic, name, rule)
	}
	return err
}

// DeleteRule removes a rule of a subscription.
func (n *Namespace) DeleteRule(path, rule string) error {
	topic, name, _ := broker.CutSubscription(path)
	return n.broker.DeleteRule(topic, name, rule)
}

func (r Rule) compile() (broker.Rule, error) {
	rule := broker.Rule{Name: r.Name}
	parameters, err := Draft{Properties: r.Parameters}.application(nil)
	if err != nil {
		return rule, &RuleError{"parameters", err}
	}
	switch r.Kind {
	case filterKinds[filter.True]:
	case filterKinds[filter.False]:
		rule.Filter = filter.FalseFilter()
	case filterKinds[filter.Correlation]:
		if rule.Filter, err = r.correlation(); err != nil {
			return rule, &RuleError{"fields", err}
		}
	default:
		if rule.Filter, err = filter.ParseSQL(r.Expression, parameters); err != nil {
			return rule, &RuleError{"filter", err}
		}
	}
	if r.Action == "" {
		return rule, nil
	}
	if rule.Action, err = filter.ParseAction(r.Action, parameters); err != nil {
		return rule, &RuleError{"action", err}
	}
	return rule, nil
}

// systemPrefix begins the names of properties that are not the application's.
const systemPrefix = "sys."

// correlation is the filter of the rule's fields: those whose names begin with "sys." are of the message itself.
func (r Rule) correlation() (filter.Filter, error) {
	var f filter.CorrelationFilter
	var own Draft
	for _, field := range r.Fields {
		name, ok := strings.CutPrefix(field.Name, systemPrefix)
		if !ok {
			own.Properties = append(own.Properties, field)
			continue
		}
		known := slices.IndexFunc(filter.Fields[:], func(f filter.Field) bool { return f.Name == name })
		if known < 0 {
			return filter.Filter{}, fmt.Errorf("%s is none of the properties that a correlation filter may ask about", field.Name)
		}
		*filter.Fields[known].Of(&f) = field.Value
	}
	properties, err := own.application(amqp.Map{})
	if err != nil {
		return filter.Filter{}, err
	}
	if len(properties) > 0 {
		f.Properties = properties
	}
	return filter.NewCorrelation(f)
}
