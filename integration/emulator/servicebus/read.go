package servicebus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/duration"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// maxConfig limits the size of a config.
const maxConfig = 16 << 20

// ReadConfig reads the config.json of Microsoft's emulator. It ignores comments and keys without a meaning here. It
// returns all problems together, each with its path.
func ReadConfig(r io.Reader) (Entities, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxConfig))
	if err != nil {
		return Entities{}, err
	}
	var file configFile
	if err := json.Unmarshal(withoutComments(raw), &file); err != nil {
		return Entities{}, err
	}
	if file.UserConfig == nil {
		return Entities{}, errors.New("UserConfig is missing: this is not a config.json of Microsoft's emulator")
	}
	d, taken := decoding{}, names{}
	var entities Entities
	for i, namespace := range file.UserConfig.Namespaces {
		path := fmt.Sprintf("UserConfig.Namespaces[%d]", i)
		for j, queue := range namespace.Queues {
			at := fmt.Sprintf("%s.Queues[%d]", path, j)
			entities.Queues = append(entities.Queues, d.queue(at, queue))
			taken.take(&d, at, queue.Name)
		}
		for j, topic := range namespace.Topics {
			at := fmt.Sprintf("%s.Topics[%d]", path, j)
			entities.Topics = append(entities.Topics, d.topic(at, topic))
			taken.take(&d, at, topic.Name)
		}
	}
	d.checkForwardings(taken)
	return entities, errors.Join(d.problems...)
}

type (
	configFile struct {
		UserConfig *struct {
			Namespaces []struct {
				Name   string        `json:"Name"`
				Queues []configQueue `json:"Queues"`
				Topics []configTopic `json:"Topics"`
			} `json:"Namespaces"`
		} `json:"UserConfig"`
	}
	configQueue struct {
		Name       string           `json:"Name"`
		Properties configProperties `json:"Properties"`
	}
	configTopic struct {
		Name          string               `json:"Name"`
		Properties    configProperties     `json:"Properties"`
		Subscriptions []configSubscription `json:"Subscriptions"`
	}
	configSubscription struct {
		Name       string           `json:"Name"`
		Properties configProperties `json:"Properties"`
		Rules      []configRule     `json:"Rules"`
	}
	configProperties struct {
		DeadLetteringOnMessageExpiration    bool   `json:"DeadLetteringOnMessageExpiration"`
		DefaultMessageTimeToLive            string `json:"DefaultMessageTimeToLive"`
		DuplicateDetectionHistoryTimeWindow string `json:"DuplicateDetectionHistoryTimeWindow"`
		ForwardDeadLetteredMessagesTo       string `json:"ForwardDeadLetteredMessagesTo"`
		ForwardTo                           string `json:"ForwardTo"`
		LockDuration                        string `json:"LockDuration"`
		MaxDeliveryCount                    int    `json:"MaxDeliveryCount"`
		RequiresDuplicateDetection          bool   `json:"RequiresDuplicateDetection"`
		RequiresSession                     bool   `json:"RequiresSession"`
		AutoDeleteOnIdle                    string `json:"AutoDeleteOnIdle"`

		// AuthorizationRules are keys. Microsoft's emulator has none; the names are from the service's documents.
		AuthorizationRules []broker.AuthorizationRule `json:"AuthorizationRules"`
	}
	configRule struct {
		Name       string `json:"Name"`
		Properties struct {
			FilterType        string            `json:"FilterType"`
			CorrelationFilter configCorrelation `json:"CorrelationFilter"`
			SQLFilter         *configSQL        `json:"SqlFilter"`
			Action            *configSQL        `json:"Action"`
		} `json:"Properties"`
	}
	configSQL struct {
		SQLExpression string `json:"SqlExpression"`
	}
	// configCorrelation has the fields of [filter.Fields] by their names, and Properties.
	configCorrelation map[string]json.RawMessage
)

// decoding collects the problems of a config.
type decoding struct {
	problems    []error
	forwardings []forwarding
}

func (d *decoding) problem(path string, err error) {
	d.problems = append(d.problems, fmt.Errorf("%s: %w", path, err))
}

func (d *decoding) name(path, name string) string {
	if name == "" {
		d.problem(path+".Name", errors.New("is missing"))
	}
	return name
}

func (d *decoding) duration(path, text string) time.Duration {
	if text == "" {
		return 0
	}
	length, err := duration.Parse(text)
	if err != nil {
		d.problem(path, fmt.Errorf("%q is %w", text, err))
	}
	return length
}

// options reads the properties of an entity. Properties that its kind lacks have no effect.
func (d *decoding) options(at, name string, p configProperties) broker.Options {
	d.forward(at, name, p)
	return broker.Options{
		LockDuration:           d.lock(at+"LockDuration", p.LockDuration),
		MaxDeliveryCount:       p.MaxDeliveryCount,
		RequiresSession:        p.RequiresSession,
		DefaultTTL:             d.duration(at+"DefaultMessageTimeToLive", p.DefaultMessageTimeToLive),
		DeadLetterOnExpiration: p.DeadLetteringOnMessageExpiration,
		DuplicateDetection:     p.RequiresDuplicateDetection,
		DuplicateWindow:        d.duration(at+"DuplicateDetectionHistoryTimeWindow", p.DuplicateDetectionHistoryTimeWindow),
		ForwardTo:              p.ForwardTo,
		ForwardDeadLettersTo:   p.ForwardDeadLetteredMessagesTo,
		AutoDeleteOnIdle:       d.duration(at+"AutoDeleteOnIdle", p.AutoDeleteOnIdle),
		AuthorizationRules:     d.keys(at+"AuthorizationRules", p.AuthorizationRules),
	}
}

func (d *decoding) queue(path string, c configQueue) Queue {
	return Queue{Name: d.name(path, c.Name), Options: d.options(path+".Properties.", c.Name, c.Properties)}
}

// keys checks and completes the keys of a queue or topic.
func (d *decoding) keys(path string, rules []broker.AuthorizationRule) []broker.AuthorizationRule {
	for i := range rules {
		key, at := &rules[i], fmt.Sprintf("%s[%d].", path, i)
		if key.KeyName == "" {
			d.problem(at+"KeyName", errors.New("is missing"))
		}
		if key.PrimaryKey == "" {
			d.problem(at+"PrimaryKey", errors.New("is missing"))
		}
		if len(key.Rights) == 0 {
			d.problem(at+"Rights", errors.New("is missing: some of Send, Listen and Manage"))
		} else if _, err := auth.ParseRights(key.Rights); err != nil {
			d.problem(at+"Rights", err)
		}
		key.Type, key.ClaimType, key.ClaimValue = "SharedAccessAuthorizationRule", "SharedAccessKey", "None"
	}
	return rules
}

func (d *decoding) topic(path string, c configTopic) Topic {
	p := c.Properties // without those that only queues and subscriptions have
	p.LockDuration, p.ForwardTo, p.ForwardDeadLetteredMessagesTo, p.MaxDeliveryCount = "", "", "", 0
	topic := Topic{Name: d.name(path, c.Name), Options: d.options(path+".Properties.", "", p)}
	taken := names{}
	for i, subscription := range c.Subscriptions {
		at := fmt.Sprintf("%s.Subscriptions[%d]", path, i)
		topic.Subscriptions = append(topic.Subscriptions, d.subscription(at, subscription))
		taken.take(d, at, subscription.Name)
	}
	return topic
}

func (d *decoding) subscription(path string, c configSubscription) Subscription {
	p := c.Properties // without those that only queues and topics have
	p.DuplicateDetectionHistoryTimeWindow, p.RequiresDuplicateDetection, p.AuthorizationRules = "", false, nil
	subscription := Subscription{Name: d.name(path, c.Name), Options: d.options(path+".Properties.", "", p)}
	taken := names{}
	for i, rule := range c.Rules {
		at := fmt.Sprintf("%s.Rules[%d]", path, i)
		subscription.Rules = append(subscription.Rules, d.rule(at, rule))
		taken.take(d, at, rule.Name)
	}
	return subscription
}

// The types of filters in a config.
const (
	correlationType = "Correlation"
	sqlType         = "Sql"
)

func (d *decoding) rule(path string, c configRule) Rule {
	rule := Rule{Name: d.name(path, c.Name)}
	p, at := c.Properties, path+".Properties."
	var err error
	switch kind := p.FilterType; {
	case kind != "" && kind != correlationType && kind != sqlType:
		d.problem(at+"FilterType", fmt.Errorf("%q is neither Correlation nor Sql", kind))
	case kind == correlationType || kind == "" && p.CorrelationFilter != nil:
		rule.Filter = d.correlation(at+"CorrelationFilter", p.CorrelationFilter)
	case p.SQLFilter != nil:
		if rule.Filter, err = filter.ParseSQL(p.SQLFilter.SQLExpression, nil); err != nil {
			d.problem(at+"SqlFilter.SqlExpression", err)
		}
	case kind == sqlType:
		d.problem(at+"SqlFilter", errors.New("is missing"))
	}
	if p.Action != nil && p.Action.SQLExpression != "" {
		if rule.Action, err = filter.ParseAction(p.Action.SQLExpression, nil); err != nil {
			d.problem(at+"Action.SqlExpression", err)
		}
	}
	return rule
}

// correlation reads the fields of a correlation filter.
func (d *decoding) correlation(at string, c configCorrelation) filter.Filter {
	var fields filter.CorrelationFilter
	var properties map[string]any
	for _, name := range slices.Sorted(maps.Keys(c)) {
		var into any
		wanted := "a string"
		if i := slices.IndexFunc(filter.Fields[:], func(f filter.Field) bool { return strings.EqualFold(f.Name, name) }); i >= 0 {
			into = filter.Fields[i].Of(&fields)
		} else if strings.EqualFold(name, "Properties") {
			into, wanted = &properties, "an object"
		} else {
			continue // keys without a meaning are passed over
		}
		// The offset in an error of json is that in the field, not that in the file.
		if e, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(c[name], into)); ok {
			if e.Type.Kind() == reflect.Float64 {
				wanted = "a number in the range of a double"
			}
			d.problem(at+"."+name, fmt.Errorf("%s is not %s", e.Value, wanted))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		switch value := properties[key].(type) {
		case string, bool, float64:
			fields.Properties = append(fields.Properties, amqp.Pair{Key: key, Value: value})
		default:
			d.problem(at+".Properties", fmt.Errorf("property %q is neither text, number nor boolean", key))
		}
	}
	correlation, err := filter.NewCorrelation(fields)
	if err != nil {
		d.problem(at, err)
	}
	return correlation
}

// names are the names in use, in lower case, with the path of their owner.
type names map[string]string

// take claims a name, or reports its owner.
func (n names) take(d *decoding, path, name string) {
	if name == "" {
		return // reported already
	}
	if first, ok := n[strings.ToLower(name)]; ok {
		d.problem(path+".Name", fmt.Errorf("%q exists: %s", name, first))
		return
	}
	n[strings.ToLower(name)] = path
}

// A forwarding is from one entity to another.
type forwarding struct {
	path string // of the field
	from string // the queue's name, or ""
	to   string
}

// lock reads a lock duration.
func (d *decoding) lock(path, text string) time.Duration {
	length := d.duration(path, text)
	if length > broker.MaxLockDuration {
		d.problem(path, fmt.Errorf("%q is longer than PT5M", text))
	}
	return length
}

// forward notes where an entity forwards to.
func (d *decoding) forward(at, from string, p configProperties) {
	for _, f := range []forwarding{
		{at + "ForwardTo", from, p.ForwardTo},
		{at + "ForwardDeadLetteredMessagesTo", from, p.ForwardDeadLetteredMessagesTo},
	} {
		if f.to != "" {
			d.forwardings = append(d.forwardings, f)
		}
	}
}

// checkForwardings reports forwarding to missing entities and direct cycles.
func (d *decoding) checkForwardings(taken names) {
	for _, f := range d.forwardings {
		name := broker.TargetName(f.to)
		switch _, ok := taken[strings.ToLower(name)]; {
		case strings.EqualFold(name, f.from):
			d.problem(f.path, errors.New("an entity cannot forward to itself"))
		case !ok:
			d.problem(f.path, fmt.Errorf("there is no queue or topic %q", name))
		}
	}
}

// commented matches comments, and strings, which can contain the same characters. Unterminated ones reach to the end of the text.
var commented = regexp.MustCompile(`"(?:\\[\s\S]|[^"\\])*(?:"|\\?$)|//[^\n]*|/\*[\s\S]*?(?:\*/|$)`)

// withoutComments replaces the comments of a JSON text by spaces, so that offsets in error messages stay correct.
func withoutComments(raw []byte) []byte {
	return commented.ReplaceAllFunc(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		blank := bytes.Repeat([]byte(" "), len(found))
		for i, c := range found {
			if c == '\n' {
				blank[i] = c
			}
		}
		return blank
	})
}
