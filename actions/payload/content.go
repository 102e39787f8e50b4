// Package payload makes what an attempt sends of what its job gives: the text, a template filled in, an envelope around
// it.
package payload

import (
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Envelope is what is put around a payload.
type Envelope string

// The envelopes.
const (
	None              Envelope = "none"              // the payload as it is
	CloudEvents       Envelope = "cloudevents"       // CloudEvents 1.0, structured mode: a JSON object around the payload
	CloudEventsBinary Envelope = "cloudeventsBinary" // CloudEvents 1.0, binary mode: attributes beside the payload
	AzureScheduler    Envelope = "azureScheduler"    // the XML that Azure Scheduler put around queue messages
)

// Rules say what an action type allows.
type Rules struct {
	Member    string     // the member that holds the text, such as "message"
	MaxSize   int        // characters of the text; 0: no limit of its own
	Envelopes []Envelope // beside none
	Region    string     // for envelopes that tell it
}

// Content is the payload of an action, read and compiled. It is immutable and safe for concurrent use.
type Content struct {
	text string
}

// Message is what one attempt sends.
type Message struct {
	Body        string
	ContentType string      // of an envelope; "" when the payload is sent as it is
	Attributes  []Attribute // of CloudEvents in binary mode, without prefix; nil in every other mode
}

// Attribute is a context attribute of a CloudEvent.
type Attribute struct {
	Name, Value string
}

// Read reads the payload of an action: the text from the member of inner that rules name, and template and envelope from
// inner or from the action around it. Problems are reported to their readers.
func Read(action, inner *document.Object, rules Rules) Content {
	_ = action
	text, _ := inner.String(rules.Member)
	if n := utf8.RuneCountInString(text); rules.MaxSize > 0 && n > rules.MaxSize {
		inner.Problem(rules.Member, "is %d characters long, at most %d are allowed", n, rules.MaxSize)
	}
	return Content{text: text}
}

// Text returns the text as the job gives it.
func (c *Content) Text() string { return c.text }

// Render returns what the attempt a sends. An error is a failed attempt that no retry can help.
func (c *Content) Render(_ scheduler.Attempt) (Message, error) {
	return Message{Body: c.text}, nil
}

// Field is a name and a value that an errorAction tells its target about what failed.
type Field struct {
	Name, Value string
}

// FailureFields returns what an errorAction tells its target: x-carillon-failed-status, x-carillon-failed-attempts and
// x-carillon-failed-message, the last as one line of printable ASCII with at most 1,024 bytes. It returns nil for a main action.
func FailureFields(_ scheduler.Attempt) []Field { return nil }
