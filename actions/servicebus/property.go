package servicebus

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// maxID limits the characters of an id or key of a message, in UTF-16 as .NET counts them (limit of Service Bus).
const maxID = 128

// properties are the members of brokeredMessageProperties; nil and zero values
// are not given (Azure Scheduler REST API 2016-03-01,
// ServiceBusBrokeredMessageProperties).
type properties struct {
	contentType, correlationID, label, messageID *string
	replyTo, replyToSessionID, sessionID, to     *string
	partitionKey, viaPartitionKey                *string
	timeToLive                                   document.Duration
	scheduledEnqueueTime                         time.Time
}

// readProperties reads brokeredMessageProperties.
func readProperties(o *document.Object) properties {
	var p properties
	po, ok := o.Object("brokeredMessageProperties")
	if !ok {
		return p
	}
	defer po.Done()
	p.contentType = readText(po, "contentType", 0)
	p.correlationID = readText(po, "correlationId", 0)
	po.Bool("forcePersistence")
	p.label = readText(po, "label", 0)
	p.messageID = readText(po, "messageId", maxID)
	p.partitionKey = readText(po, "partitionKey", maxID)
	p.replyTo = readText(po, "replyTo", 0)
	p.replyToSessionID = readText(po, "replyToSessionId", maxID)
	p.scheduledEnqueueTime, _ = po.Time("scheduledEnqueueTimeUtc")
	p.sessionID = readText(po, "sessionId", maxID)
	p.timeToLive, ok = po.Duration("timeToLive")
	if ok && p.timeToLive.Approx() < time.Millisecond {
		po.Problem("timeToLive", "must be longer than zero, at least a millisecond")
	}
	p.to = readText(po, "to", 0)
	p.viaPartitionKey = readText(po, "viaPartitionKey", maxID)
	if p.sessionID != nil && p.partitionKey != nil && *p.sessionID != *p.partitionKey {
		po.Problem("partitionKey", "must be the same as sessionId when both are given")
	}
	return p
}

// readText reads a string of at most limit characters, 0: any number. An empty
// one counts as not given.
func readText(o *document.Object, name string, limit int) *string {
	text, ok := o.String(name)
	if !ok || text == "" {
		return nil
	}
	if n := len(utf16.Encode([]rune(text))); limit > 0 && n > limit {
		o.Problem(name, "is %d characters long, at most %d are allowed", n, limit)
	}
	return &text
}

// secretProperty is an application property whose value is written and never
// shown.
type secretProperty struct {
	name  string
	value document.Secret
}

// readCustom reads customMessageProperties: strings as in Azure Scheduler, and
// numbers and booleans, which become AMQP's long or double and boolean. Strings
// that are named like credentials are secrets, and any value may be a shared
// one.
func readCustom(o *document.Object) (custom map[string]any, secrets []secretProperty) {
	co, ok := o.Object("customMessageProperties")
	if !ok {
		return nil, nil
	}
	co.IgnoreRest()
	v, _ := o.Sample("customMessageProperties", document.ObjectValue(
		document.Member{Name: "*", Value: document.BoolValue(true)}, document.Member{Name: "*", Value: document.NumberValue("1")},
		document.Member{Name: "*", Value: document.StringValue("")}, document.Member{Name: "*", Value: document.ObjectValue()},
	))
	custom = make(map[string]any, len(v.Members()))
	for _, m := range v.Members() {
		value, wrong := customValue(co, m)
		switch {
		case m.Name == "":
			co.Problem("", `"" cannot be the name of a property`)
		case isSecret(m):
			if s, ok := co.Secret(m.Name); ok {
				secrets = append(secrets, secretProperty{m.Name, s})
			}
		case wrong != "" && (value == nil || !o.Reader().Stored):
			o.Reader().Problem(co.Path(m.Name), "%s", wrong)
		case value != nil:
			custom[m.Name] = value
		}
	}
	return custom, secrets
}

// isSecret reports whether the property m is a secret.
func isSecret(m document.Member) bool {
	switch m.Value.Kind() {
	case document.KindObject: // the name of a shared one
		return true
	case document.KindString:
		return document.IsCredential(m.Name) || m.Value.IsSecret()
	default:
		return false
	}
}

// customValue returns the value to send for the field m of o, or nil for null. wrong says why the value is not
// allowed; if a value is returned with it, stored jobs may have it.
func customValue(o *document.Object, m document.Member) (value any, wrong string) {
	switch m.Value.Kind() {
	case document.KindString:
		value, _ = o.String(m.Name)
	case document.KindBool:
		value, _ = o.Bool(m.Name)
	case document.KindNumber:
		text, _ := o.Number(m.Name)
		return customNumber(text)
	case document.KindNull:
	default:
		return nil, "must be a string, number or boolean, not " + m.Value.Kind().String()
	}
	return value, ""
}

// customNumber returns a long, or a double for numbers with a fraction or exponent. It refuses a number that
// neither type can represent exactly.
func customNumber(text string) (value any, wrong string) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, ""
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return nil, "is larger than a double can be; give it as a string"
	case !strings.ContainsAny(text, ".eE"):
		return f, "is a whole number of more than 64 bits; give it as a string"
	}
	return f, ""
}
