package broker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// fanOut puts a copy of a message into every matching subscription: one for all rules without an action, and one for
// each rule with one. The subscriptions are locked.
func (e *entity) fanOut(m *message, now int64, en *entry) {
	var parsed amqp.Message
	var view *filter.Message
	for _, s := range *e.subscriptions.Load() {
		if s.deleted {
			continue
		}
		plain := false
		for _, rule := range *s.rules.Load() {
			if rule.Filter.Kind() == filter.True && rule.Action == nil {
				plain = true
				continue
			}
			if view == nil {
				parsed, _ = amqp.ParseMessage(m.appendDelivery(nil, ready)) // the broker writes valid messages
				view = filter.NewMessage(parsed, time.UnixMilli(now).UTC(), m.seq)
			}
			switch outcome := filter.Try(rule.Filter, rule.Action, view); {
			case outcome.Err != nil:
				s.filterFailed(m, rule, outcome.Err, now, en)
			case !outcome.Match:
			case rule.Action == nil:
				plain = true
			default:
				changed := m.clone()
				changed.payload = reparse(parsed.Edit(nil, outcome.Edit)).Bare()
				s.receive(changed, now, en)
			}
		}
		if plain {
			s.receive(m.clone(), now, en)
		}
	}
}

// finds reports whether a message of the topic would arrive anywhere: in a subscription, or among the dead letters of
// one whose rule fails on it. The subscriptions are locked.
func (e *entity) finds(m *message, now int64) bool {
	sent := m.clone()
	sent.seq, sent.enqueued = e.seq+1, now
	view := filter.NewMessage(reparse(sent.appendDelivery(nil, ready)), time.UnixMilli(now).UTC(), sent.seq)
	for _, s := range *e.subscriptions.Load() {
		if s.deleted {
			continue
		}
		for _, rule := range *s.rules.Load() {
			outcome := filter.Try(rule.Filter, rule.Action, view)
			if outcome.Err != nil && !s.settings.DropOnFilterError || outcome.Err == nil && outcome.Match {
				return true
			}
		}
	}
	return false
}

// reparse parses a message that the broker has encoded.
func reparse(raw []byte) amqp.Message {
	m, _ := amqp.ParseMessage(raw)
	return m
}

// filterFailed dead-letters or drops a message on which a rule has failed, as the subscription is configured.
func (e *entity) filterFailed(m *message, rule Rule, err error, now int64, en *entry) {
	if e.settings.DropOnFilterError {
		return
	}
	dead := m.clone()
	dead.expires = 0
	dead.mark(cause{reason: "FilterEvaluationException", description: "Rule '" + rule.Name + "': " + err.Error()})
	e.queues[deadPart].enqueue(dead, now, en)
}

// receive puts a message of the topic into the subscription.
func (e *entity) receive(m *message, now int64, en *entry) {
	if e.settings.RequiresSession {
		id, ok := groupOf(m.payload)
		if !ok {
			m.expires = 0
			m.mark(causeSession)
			e.queues[deadPart].enqueue(m, now, en)
			return
		}
		m.session = e.session(id)
		m.session.messages++
	}
	m.live(ttlOf(m), e.settings.DefaultTTL, now)
	e.queues[mainPart].enqueue(m, now, en)
}

// groupOf returns the session of a message.
func groupOf(bare []byte) (string, bool) {
	properties := reparse(bare).Properties()
	return properties.GroupID, properties.HasGroupID
}

// lockTargets locks entities and, of topics, the subscriptions.
func (b *Broker) lockTargets(entities []*entity) []*entity {
	for {
		all := make([]*entity, 0, len(entities)+8)
		for _, e := range entities {
			all = append(append(all, e), *e.subscriptions.Load()...)
		}
		all = lockAll(all)
		if covers(all, entities) {
			return all
		}
		unlockAll(all) // a subscription was added
	}
}

// covers reports whether the locked entities include all subscriptions.
func covers(locked, entities []*entity) bool {
	for _, e := range entities {
		for _, s := range *e.subscriptions.Load() {
			if !slices.Contains(locked, s) {
				return false
			}
		}
	}
	return true
}

// checkRuleName checks the name of a rule.
func checkRuleName(name string) error {
	if name == DefaultRule {
		return nil
	}
	return checkName(name, maxSubscriptionName)
}

// ruleAt returns the position of a rule, or its insert position.
func ruleAt(rules []Rule, name string) (int, bool) {
	return slices.BinarySearchFunc(rules, name, func(rule Rule, name string) int {
		return strings.Compare(lower(rule.Name), lower(name))
	})
}

func errNoRule(name string) error {
	return fail(RuleNotFound, "The rule '%s' could not be found.", name)
}

// changeRules passes a copy of a subscription's rules to change, and stores the result.
func (b *Broker) changeRules(topic, subscription string, change func([]Rule) ([]Rule, error)) error {
	e, err := b.find(SubscriptionKind, SubscriptionPath(topic, subscription))
	if err != nil {
		return err
	}
	return Written(e.changeRules(change))
}

func (e *entity) changeRules(change func([]Rule) ([]Rule, error)) (Receipt, error) {
	if err := e.lock(); err != nil {
		return Receipt{}, err
	}
	defer e.unlock()
	rules, err := change(slices.Clone(*e.rules.Load()))
	if err != nil {
		return Receipt{}, err
	}
	e.rules.Store(&rules)
	e.updated = nowMilli()
	en := e.broker.entry()
	en.remain(e)
	return e.broker.commit(en), nil
}

// CreateRule adds a rule to a subscription. It fails with EntityExists.
func (b *Broker) CreateRule(topic, subscription string, rule Rule) (Rule, error) {
	if err := checkRuleName(rule.Name); err != nil {
		return Rule{}, err
	}
	if err := b.allowsRule(topic, rule); err != nil {
		return Rule{}, err
	}
	rule.Created = time.UnixMilli(nowMilli()).UTC()
	return rule, b.changeRules(topic, subscription, func(rules []Rule) ([]Rule, error) {
		i, ok := ruleAt(rules, rule.Name)
		if ok {
			return nil, fail(EntityExists, "The rule '%s' already exists.", rule.Name)
		}
		return slices.Insert(rules, i, rule), nil
	})
}

// allowsRule returns an error if the tier allows no further rule in a topic.
func (b *Broker) allowsRule(topic string, rule Rule) error {
	if b.config.Tier == "" {
		return nil
	}
	info, err := b.Entity(topic)
	if err != nil {
		return err
	}
	return b.config.Tier.allowsRule(rule, info)
}

// UpdateRule replaces a rule. It fails with RuleNotFound.
func (b *Broker) UpdateRule(topic, subscription string, rule Rule) (Rule, error) {
	err := b.changeRules(topic, subscription, func(rules []Rule) ([]Rule, error) {
		i, ok := ruleAt(rules, rule.Name)
		if !ok {
			return nil, errNoRule(rule.Name)
		}
		rule.Created = rules[i].Created
		rules[i] = rule
		return rules, nil
	})
	return rule, err
}

// DeleteRule removes a rule. It fails with RuleNotFound.
func (b *Broker) DeleteRule(topic, subscription, name string) error {
	return b.changeRules(topic, subscription, func(rules []Rule) ([]Rule, error) {
		i, ok := ruleAt(rules, name)
		if !ok {
			return nil, errNoRule(name)
		}
		return slices.Delete(rules, i, i+1), nil
	})
}

// Rule returns one rule. It fails with RuleNotFound.
func (b *Broker) Rule(topic, subscription, name string) (Rule, error) {
	rules, err := b.Rules(topic, subscription)
	if err != nil {
		return Rule{}, err
	}
	if i, ok := ruleAt(rules, name); ok {
		return rules[i], nil
	}
	return Rule{}, errNoRule(name)
}

// Rules returns all rules of a subscription, by name.
func (b *Broker) Rules(topic, subscription string) ([]Rule, error) {
	e, err := b.find(SubscriptionKind, SubscriptionPath(topic, subscription))
	if err != nil {
		return nil, err
	}
	return slices.Clone(*e.rules.Load()), nil
}

// A definition describes an entity in the journal.
type definition struct {
	Kind     Kind             `json:"kind"`
	Topic    uint64           `json:"topic,omitempty"`
	Name     string           `json:"name"`
	Created  int64            `json:"created"`
	Updated  int64            `json:"updated"`
	Settings settings         `json:"settings"`
	Rules    []ruleDefinition `json:"rules,omitempty"`
}

// A ruleDefinition describes a rule in the journal. Maps have their AMQP encoding, which keeps types.
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

// unzoned describes a time without a zone, see [filter.Unzoned]. AMQP has no such type.
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
