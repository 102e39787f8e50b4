package broker

import (
	"slices"
	"strings"
	"time"
)

// checkRuleName reports what is wrong with the name of a rule.
func checkRuleName(name string) error {
	if name == DefaultRule {
		return nil
	}
	return checkName(name, maxSubscriptionName)
}

// ruleAt returns where a rule is, or where it would be.
func ruleAt(rules []Rule, name string) (int, bool) {
	return slices.BinarySearchFunc(rules, name, func(rule Rule, name string) int {
		return strings.Compare(lower(rule.Name), lower(name))
	})
}

func errNoRule(name string) error {
	return fail(RuleNotFound, "The rule '%s' could not be found.", name)
}

// changeRules replaces the rules of a subscription by what change makes of a copy.
func (b *Broker) changeRules(topic, subscription string, change func([]Rule) ([]Rule, error)) error {
	e, err := b.find(SubscriptionKind, SubscriptionPath(topic, subscription))
	if err != nil {
		return err
	}
	receipt, err := e.changeRules(change)
	if err != nil {
		return err
	}
	return receipt.Wait()
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

// allowsRule reports why the tier does not let a topic have another rule, if so.
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
