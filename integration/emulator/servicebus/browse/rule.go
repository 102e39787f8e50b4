package browse

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

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

// Rules are those of a subscription, by name.
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

// A Trial is what a rule makes of a message.
type Trial struct {
	Rule    Rule
	Passes  bool
	Err     string // why that cannot be told
	Reasons []Question
	Changes []Change
}

// A Question is a part of a filter with its answer: true, false, unknown or fails.
type Question struct {
	Text, Answer, Why string
	Found             []Property // of type "" when there is none
}

// A Change is what an action does to a property.
type Change struct {
	Property, Before, After string
	Removed                 bool
}

// Try tells what each rule of a subscription makes of a draft.
func (n *Namespace) Try(path string, d Draft) ([]Trial, error) {
	raw, err := d.encode(plainHeader, nil)
	if err != nil {
		return nil, err
	}
	return n.try(path, raw, time.Now(), 0)
}

// TryMessage does so with a message that is somewhere.
func (n *Namespace) TryMessage(path, from string, part Part, sequence int64) ([]Trial, error) {
	w, _, err := n.window(from, part)
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
	t.Passes = outcome.Match
	if outcome.Err != nil {
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

// changes are those of application properties.
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

// systemChanges are those of the message's own properties.
func systemChanges(before, after amqp.Properties) []Change {
	var all []Change
	for _, field := range filter.Fields {
		if was, is := field.Get(&before), field.Get(&after); was != is {
			all = append(all, Change{Property: systemPrefix + field.Name, Before: was, After: is, Removed: is == ""})
		}
	}
	return all
}
