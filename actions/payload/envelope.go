package payload

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// DefaultEventType is the type of a CloudEvent whose job gives none.
const DefaultEventType = "io.github.carillon-sched.occurrence"

// maxEventText is the length in bytes of the longest attribute that a job may give.
const maxEventText = 2048

// Attribute is a context attribute of a CloudEvent with its raw value; a protocol binding encodes it. HTTP uses
// [Attribute.HTTPHeader]. AMQP (Service Bus) and NATS prefix the name with cloudEvents: and ce-; the NATS
// binding encodes values as HTTP does.
type Attribute struct {
	Name, Value string
}

// HTTPHeader returns the attribute as a header: its name with the prefix ce-, and its value in UTF-8, percent-encoded
// except for printable ASCII other than space, quotation mark and percent sign (CloudEvents 1.0, HTTP protocol
// binding, 3.1.3.2).
func (a Attribute) HTTPHeader() (name, value string) {
	const hex = "0123456789ABCDEF"
	plain := func(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '%' }
	var b strings.Builder
	for _, c := range []byte(a.Value) {
		if plain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&0xf])
	}
	return "ce-" + a.Name, b.String()
}

// cloudEvent holds the CloudEvents attributes that a job sets; the scheduler fills in empty ones.
type cloudEvent struct {
	kind, source, subject, schema string
}

// readEvent reads the member cloudEvent of o.
func readEvent(o *document.Object) cloudEvent {
	eo, ok := o.Object("cloudEvent")
	if !ok {
		return cloudEvent{}
	}
	defer eo.Done()
	e := cloudEvent{
		kind:    eventText(eo, "type"),
		source:  eventText(eo, "source"),
		subject: eventText(eo, "subject"),
		schema:  eventText(eo, "dataSchema"),
	}
	if _, ok := parseReference(e.source); !ok {
		eo.Problem("source", "is not a URI or a part of one, such as /orders/nightly")
	}
	if u, ok := parseReference(e.schema); !ok || e.schema != "" && !u.IsAbs() {
		eo.Problem("dataSchema", "is not a URI, such as https://example.com/order.json")
	}
	return e
}

// eventText reads a string that a CloudEvent can hold (CloudEvents 1.0, Type System: not empty where it is given, and no
// control characters or noncharacters).
func eventText(o *document.Object, name string) string {
	text, ok := o.String(name)
	if !ok {
		return ""
	}
	switch i := strings.IndexFunc(text, notEventText); {
	case text == "":
		o.Problem(name, "must not be empty")
	case len(text) > maxEventText:
		o.Problem(name, "is %d bytes long, at most %d are allowed", len(text), maxEventText)
	case i >= 0:
		o.Problem(name, "must not contain control characters, as it does at %s", position(text, i))
	}
	return text
}

func notEventText(r rune) bool {
	return r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0xFDD0 && r <= 0xFDEF || r&0xFFFE == 0xFFFE
}

// parseReference parses a URI reference (RFC 3986), which "" is.
func parseReference(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	plain := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }) < 0
	return u, err == nil && plain
}

// attributes returns the context attributes of the event of an attempt, all but datacontenttype.
func (e cloudEvent) attributes(a scheduler.Attempt) []Attribute {
	list := make([]Attribute, 0, 13)
	add := func(name, value, otherwise string) {
		if value = cmp.Or(value, otherwise); value != "" {
			list = append(list, Attribute{name, value})
		}
	}
	id := Identify(a)
	add("specversion", "1.0", "")
	add("id", a.Key, a.Occurrence)
	add("source", e.source, "/jobCollections/"+a.Job.Collection+"/jobs/"+a.Job.Job)
	add("type", e.kind, DefaultEventType)
	add("subject", e.subject, a.Occurrence)
	add("time", a.Nominal.UTC().Format(time.RFC3339Nano), "")
	add("dataschema", e.schema, "")
	add("attempt", id.Try, "")
	add("traceparent", id.Trace, "")
	add("tracestate", id.State, "")
	if a.Failure != nil {
		add("failedstatus", strconv.Itoa(a.Failure.Status), "")
		add("failedattempts", strconv.Itoa(a.Failure.Attempts), "")
		add("failedmessage", failureLine(a.Failure.Message), "")
	}
	return list
}

// isInteger reports whether the attribute of that name is a number in JSON.
func isInteger(name string) bool {
	return name == "attempt" || name == "failedstatus" || name == "failedattempts"
}

// structured returns the event as one JSON object (CloudEvents 1.0, JSON event format). JSON data is embedded
// unchanged, any other text as a string.
func (e cloudEvent) structured(a scheduler.Attempt, text string) Message {
	b := make([]byte, 0, 768+len(text))
	for i, attribute := range e.attributes(a) {
		b = append(b, "{,"[min(i, 1)], '"')
		b = append(append(b, attribute.Name...), `":`...)
		if isInteger(attribute.Name) {
			b = append(b, attribute.Value...)
		} else {
			b = appendJSON(b, attribute.Value)
		}
	}
	switch {
	case text == "":
	case json.Valid([]byte(text)):
		b = append(append(b, `,"datacontenttype":"application/json","data":`...), text...)
	default:
		b = appendJSON(append(b, `,"datacontenttype":"text/plain","data":`...), text)
	}
	return Message{Body: string(append(b, '}')), ContentType: "application/cloudevents+json; charset=utf-8"}
}

// binary returns the event as attributes next to the data. The protocol carries the data's type.
func (e cloudEvent) binary(a scheduler.Attempt, text string) Message {
	m := Message{Body: text, Attributes: e.attributes(a)}
	switch {
	case text == "":
	case json.Valid([]byte(text)):
		m.ContentType = "application/json"
	default:
		m.ContentType = "text/plain; charset=utf-8"
	}
	return m
}

// azureXML returns the text in the envelope that Azure Scheduler put around the messages of storage queues (Azure WebJobs
// SDK, issue 85, has one). The declaration says utf-16, as Azure's did, although the message travels as UTF-8: consumers
// read it from a string. The execution time has neither zone nor fraction.
func azureXML(a scheduler.Attempt, region, text string) string {
	id := Identify(a)
	var b strings.Builder
	b.Grow(640 + len(text))
	b.WriteString(`<?xml version="1.0" encoding="utf-16"?>` + "\n" +
		`<StorageQueueMessage xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` + "\n")
	for _, element := range [...][2]string{
		{"ExecutionTag", id.Tag},
		{"ClientRequestId", id.RequestID},
		{"ExpectedExecutionTime", a.Nominal.UTC().Format("2006-01-02T15:04:05")},
		{"SchedulerJobId", a.Job.Job},
		{"SchedulerJobCollectionId", scheduler.PlainName(a.Job.Collection)},
		{"Region", region},
		{"Message", text},
	} {
		b.WriteString("  <" + element[0] + ">")
		_, _ = xmlEscaper.WriteString(&b, element[1]) // a builder takes everything
		b.WriteString("</" + element[0] + ">\n")
	}
	b.WriteString("</StorageQueueMessage>")
	return b.String()
}

// xmlEscaper escapes the content of an element. A carriage return that is not escaped would be read as a line feed (XML
// 1.0, section 2.11).
var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#xD;")

// InXML reports whether XML 1.0 has a character (section 2.2 of its specification).
func InXML(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000
}

// checkXML reports the first character of text that no XML document can hold (XML 1.0, section 2.2).
func checkXML(text string) error {
	for i, r := range text {
		if !InXML(r) {
			return fmt.Errorf("the character %U at %s cannot be sent in the envelope %s: XML does not have it",
				r, position(text, i), AzureScheduler)
		}
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("is not valid UTF-8, which the envelope %s needs", AzureScheduler)
	}
	return nil
}
