package admin

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/duration"
)

// A description is a queue, topic or subscription in XML: all fields in an answer, some in a request.
type description struct {
	members []member

	given map[string]string // the texts of elements by their names
	rules *authorizationRules
	first *ruleDescription // of a new subscription
}

// MarshalXML writes the members in their order, which some clients depend on.
func (d *description) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	start.Attr = []xml.Attr{
		{Name: xml.Name{Local: "xmlns"}, Value: busSpace},
		{Name: xml.Name{Local: "xmlns:i"}, Value: instanceSpace},
	}
	if err := e.EncodeToken(start); err != nil {
		return err
	}
	for _, m := range d.members {
		if err := e.EncodeElement(m.value, xml.StartElement{Name: xml.Name{Local: m.name}}); err != nil {
			return err
		}
	}
	return e.EncodeToken(start.End())
}

// UnmarshalXML reads the given fields.
func (d *description) UnmarshalXML(decoder *xml.Decoder, start xml.StartElement) error {
	var read struct {
		Rules    *authorizationRules `xml:"AuthorizationRules"`
		First    *ruleDescription    `xml:"DefaultRuleDescription"`
		Elements []field             `xml:",any"`
	}
	if err := decoder.DecodeElement(&read, &start); err != nil {
		return err
	}
	d.rules, d.first, d.given = read.Rules, read.First, map[string]string{}
	for _, element := range read.Elements {
		d.given[element.XMLName.Local] = element.Text
	}
	return nil
}

// apply sets the target of the fields from the description.
func (d *description) apply(members []member) error {
	var problems []error
	for _, m := range members {
		text, given := d.given[m.name]
		if m.set == nil || !given && !m.clears {
			continue
		}
		if err := m.set(text); err != nil {
			problems = append(problems, fmt.Errorf("%w: %w", errBadRequest, err))
		}
	}
	return errors.Join(problems...)
}

// A member is an element of a description.
type member struct {
	name   string
	value  any                     // in an answer; nil leaves it out
	set    func(text string) error // sets the value of a request; nil if read-only
	clears bool                    // a request without the field removes the value
}

// shown is a member that cannot be changed.
func shown(name string, value any) member { return member{name: name, value: value} }

func flag(name string, field *bool) member {
	return member{name: name, value: *field, set: func(text string) (err error) {
		*field, err = parseFlag(text)
		return err
	}}
}

// inverse is a flag whose field says the opposite.
func inverse(name string, field *bool) member {
	return member{name: name, value: !*field, set: func(text string) error {
		is, err := parseFlag(text)
		*field = !is
		return err
	}}
}

// parseFlag reads a flag, which is false if it is empty.
func parseFlag(text string) (bool, error) {
	return strconv.ParseBool(strings.TrimSpace(cmp.Or(text, "false")))
}

// partitioning is the flag that the service does not let a client change either.
func (q *query) partitioning(field *bool, kind string) member {
	m := flag("EnablePartitioning", field)
	was, set := *field, m.set
	m.set = func(text string) error {
		err := set(text)
		if err == nil && q.updating() && *field != was {
			return badBody("Partitioning cannot be changed for " + kind + ". ")
		}
		return err
	}
	return m
}

// largestSize bounds the sizes that a description may give, in their units, so that they fit into a field in bytes.
const largestSize = 1 << 40

// size is a member in units of its field. The size of an entity without a limit is byDefault.
func size(name string, field *int64, unit, byDefault int64) member {
	value := byDefault
	if *field != 0 {
		value = *field / unit
	}
	return member{name: name, value: value, set: func(text string) error {
		n, err := parseInteger(text)
		if err == nil && (n < 0 || n >= largestSize) {
			err = fmt.Errorf("%s: %d is not between 0 and %d", name, n, int64(largestSize)-1)
		}
		if err != nil {
			return err
		}
		*field = n * unit
		return nil
	}}
}

func deliveries(field *int) member {
	return member{name: "MaxDeliveryCount", value: cmp.Or(*field, defaultDeliveries), set: func(text string) error {
		n, err := parseInteger(text)
		*field = int(n)
		return err
	}}
}

// parseInteger reads a number, which is 0 if it is empty.
func parseInteger(text string) (int64, error) {
	return strconv.ParseInt(strings.TrimSpace(cmp.Or(text, "0")), 10, 64)
}

// span is a member that is a duration.
func span(name string, field *time.Duration, byDefault time.Duration) member {
	return member{name: name, value: duration.Format(cmp.Or(*field, byDefault)), set: func(text string) error {
		length, err := duration.Parse(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("%s: %q is %w", name, text, err)
		}
		*field = length
		return nil
	}}
}

func status(name string, field *broker.Status) member {
	return member{name: name, value: statusText(*field), set: func(text string) error {
		switch status := broker.Status(text); status {
		case broker.Active, broker.Disabled, broker.SendDisabled, broker.ReceiveDisabled:
			*field = status
		case "":
		default:
			return fmt.Errorf("%s: %q is unknown", name, text)
		}
		return nil
	}}
}

func statusText(status broker.Status) string { return string(cmp.Or(status, broker.Active)) }

// metadata is the text that users keep with an entity.
func metadata(field *string) member {
	return member{name: "UserMetadata", value: optionalText(*field), clears: true, set: func(text string) error {
		*field = text
		return nil
	}}
}

// address is the name or address of another entity, without the blanks of indented XML.
func (q *query) address(name string, field *string) member {
	return member{name: name, value: q.pathText(*field), clears: true, set: func(text string) error {
		*field = strings.TrimSpace(text)
		return nil
	}}
}

// pathText returns the address of another entity, as given by a client or derived from its name; nil for none.
func (q *query) pathText(path string) *string {
	if path == "" || strings.Contains(path, "://") {
		return optionalText(path)
	}
	return new("https://" + q.host() + "/" + path)
}

func optionalText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// The sizes that entities have for clients if they are not limited.
const (
	unlimitedMegabytes = 1024
	megabyte           = 1 << 20
	kilobyte           = 1 << 10
)

type (
	// authorizationRules are the keys of an entity, in addition to the emulator's keys.
	authorizationRules struct {
		Rules []authorizationRule `xml:"AuthorizationRule"`
	}
	authorizationRule struct {
		typed
		broker.AuthorizationRule
	}
)

// setRules replaces the authorization rules, which a description leaves out when there are none.
func setRules(field *[]broker.AuthorizationRule, value *authorizationRules) {
	*field = nil
	if value == nil {
		return
	}
	for _, r := range value.Rules {
		r.Type = r.kind()
		*field = append(*field, r.AuthorizationRule)
	}
}

func newAuthorizationRules(rules []broker.AuthorizationRule) *authorizationRules {
	a := &authorizationRules{}
	for _, r := range rules {
		a.Rules = append(a.Rules, authorizationRule{typed{Write: r.Type}, r})
	}
	return a
}

func counts(c broker.Counts) *countDetails {
	return &countDetails{
		Space: countSpace, Active: c.Active, DeadLetter: c.DeadLetter, Scheduled: c.Scheduled,
		Transfer: c.Transfer, TransferDeadLetter: c.TransferDeadLetter,
	}
}
