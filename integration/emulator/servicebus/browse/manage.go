package browse

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// Create creates an entity with the kind, name, topic and settings of e, without its content. A new subscription
// accepts every message.
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

// Update changes the settings of an entity. MaxMessageSize and settings that forms do not show are unchanged.
func (n *Namespace) Update(e Entity) error {
	info, err := n.broker.Entity(e.Path)
	if err == nil {
		_, err = n.broker.Update(info.Kind, e.Path, e.options(info.Options))
	}
	return err
}

// Remove deletes an entity with its messages, and of a topic the subscriptions.
func (n *Namespace) Remove(path string) error { return n.broker.Delete(path) }

// options returns the new options of an entity. Settings that forms do not show are unchanged.
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

// A Rule is one of a subscription.
type Rule struct {
	Name       string
	Kind       string // true, false, sql or correlation
	Expression string // of SQL
	Parameters []Property
	Fields     []Property // of a correlation filter
	Action     string
	Created    time.Time
}

// filterKinds names the kinds of filters.
var filterKinds = [...]string{filter.True: "true", filter.False: "false", filter.SQL: "sql", filter.Correlation: "correlation"}

// Rules returns the rules of a subscription, by name.
func (n *Namespace) Rules(path string) ([]Rule, error) {
	rules, err := n.rules(path)
	if err != nil {
		return nil, err
	}
	shown := make([]Rule, len(rules))
	for i, r := range rules {
		shown[i] = describe(r)
	}
	return shown, nil
}

func (n *Namespace) rules(path string) ([]broker.Rule, error) {
	topic, name, _ := broker.CutSubscription(path)
	return n.broker.Rules(topic, name)
}

func describe(r broker.Rule) Rule {
	shown := Rule{Name: r.Name, Expression: r.Filter.Expression(), Action: r.Action.Expression(), Created: r.Created}
	shown.Parameters = properties(r.Filter.Parameters())
	for _, p := range properties(r.Action.Parameters()) {
		if !slices.Contains(shown.Parameters, p) {
			shown.Parameters = append(shown.Parameters, p)
		}
	}
	shown.Kind = filterKinds[r.Filter.Kind()]
	if r.Filter.Kind() != filter.Correlation {
		return shown
	}
	f := r.Filter.Correlation()
	for _, field := range filter.Fields {
		if value := *field.Of(&f); value != "" {
			shown.Fields = append(shown.Fields, Property{systemPrefix + field.Name, "string", value})
		}
	}
	shown.Fields = append(shown.Fields, properties(f.Properties)...)
	return shown
}

// A Trial is the result of applying a rule to a message.
type Trial struct {
	Rule    Rule
	Passes  bool
	Err     string // why the filter or the action failed
	Reasons []Question
	Changes []Change
}

// A Question is a part of a filter with its answer: true, false, unknown or fails.
type Question struct {
	Text, Answer, Why string
	Found             []Property // of type "" if the message lacks it
}

// A Change is the effect of an action on a property.
type Change struct {
	Property, Before, After string
	Removed                 bool
}

// Try applies each rule of a subscription to a draft, without sending it.
func (n *Namespace) Try(path string, d Draft) ([]Trial, error) {
	raw, err := d.encode(plainHeader, nil)
	if err != nil {
		return nil, err
	}
	return n.try(path, raw, time.Now(), 0)
}

// TryMessage does so with a message that is somewhere.
func (n *Namespace) TryMessage(path, from string, part Part, sequence int64) ([]Trial, error) {
	w, _, err := n.inspector(from, part)
	if err != nil {
		return nil, err
	}
	g, err := w.Message(sequence)
	if err != nil {
		return nil, err
	}
	return n.try(path, g.Payload(), g.Enqueued, sequence)
}

func (n *Namespace) try(path string, raw []byte, enqueued time.Time, sequence int64) ([]Trial, error) {
	rules, err := n.rules(path)
	if err != nil {
		return nil, err
	}
	m, err := amqp.ParseMessage(raw)
	if err != nil {
		return nil, err
	}
	trials := make([]Trial, len(rules))
	for i, r := range rules {
		trials[i] = try(r, filter.NewMessage(m, enqueued, sequence))
	}
	return trials, nil
}

func try(r broker.Rule, m *filter.Message) Trial {
	t := Trial{Rule: describe(r)}
	outcome := filter.Try(r.Filter, r.Action, m)
	t.Passes = outcome.Match && outcome.Err == nil
	switch {
	case outcome.Err != nil && outcome.Match:
		t.Err = "the filter matches, and the action cannot be carried out: " + outcome.Err.Error()
	case outcome.Err != nil:
		t.Err = outcome.Err.Error()
	}
	for _, reason := range r.Filter.Explain(m) {
		q := Question{Text: reason.Question, Answer: string(reason.Verdict), Why: reason.Why}
		for _, f := range reason.Found {
			found := Property{Name: f.Property}
			if f.Value != nil {
				found.Type, found.Value = amqp.TypeOf(f.Value), text(f.Value)
			}
			q.Found = append(q.Found, found)
		}
		t.Reasons = append(t.Reasons, q)
	}
	if edit := outcome.Edit; edit.Properties != nil {
		t.Changes = append(t.Changes, systemChanges(*m.Properties(), *edit.Properties)...)
	}
	if edit := outcome.Edit; edit.ApplicationProperties != nil {
		t.Changes = append(t.Changes, changes(m.Application(), *edit.ApplicationProperties)...)
	}
	return t
}

// changes returns the changes of application properties.
func changes(before, after amqp.Map) []Change {
	var all []Change
	for _, pair := range before {
		if name := text(pair.Key); !after.Has(name) {
			all = append(all, Change{Property: name, Before: typed(pair.Value), Removed: true})
		}
	}
	for _, pair := range after {
		name := text(pair.Key)
		old, fresh := before.Get(name), typed(pair.Value)
		if !before.Has(name) {
			all = append(all, Change{Property: name, After: fresh})
		} else if was := typed(old); was != fresh || !bytes.Equal(amqp.Append(nil, old), amqp.Append(nil, pair.Value)) {
			all = append(all, Change{Property: name, Before: was, After: fresh})
		}
	}
	return all
}

// typed is a value with its type.
func typed(value any) string {
	if s, ok := value.(string); ok {
		return strconv.Quote(s)
	}
	return text(value) + " (" + amqp.TypeOf(value) + ")"
}

// systemChanges returns the changes of system properties.
func systemChanges(before, after amqp.Properties) []Change {
	var all []Change
	for _, field := range filter.Fields {
		if was, is := field.Get(&before), field.Get(&after); was != is {
			all = append(all, Change{Property: systemPrefix + field.Name, Before: was, After: is, Removed: is == ""})
		}
	}
	return all
}

// A RuleError names the invalid part of a rule: filter, action, parameters or fields.
type RuleError struct {
	Part string
	Err  error
}

// Error returns the problem.
func (e *RuleError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RuleError) Unwrap() error { return e.Err }

// PutRule adds a rule to a subscription, or with replace replaces the rule of the same name. The parameters are those
// of the filter and of the action. It fails with a [*RuleError] for an invalid rule.
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
