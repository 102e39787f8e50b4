package payload

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Envelope is a format that wraps a payload.
type Envelope string

// The envelopes.
const (
	None              Envelope = "none"              // the unchanged payload
	CloudEvents       Envelope = "cloudevents"       // CloudEvents 1.0, structured mode: a JSON object around the payload
	CloudEventsBinary Envelope = "cloudeventsBinary" // CloudEvents 1.0, binary mode: attributes next to the payload
	AzureScheduler    Envelope = "azureScheduler"    // the XML that Azure Scheduler put around queue messages
)

// Rules configures the content of an action type.
type Rules struct {
	Member    string     // the member that holds the text, such as "message"
	MaxSize   int        // maximum characters of the text; 0: unlimited here
	Envelopes []Envelope // in addition to none
	Region    string     // for envelopes that contain it
}

// Content is the payload of an action, read and compiled. It is immutable and safe for concurrent use. The zero Content
// is an empty text.
type Content struct {
	text     string
	template *template.Template // nil: the text is sent unchanged
	data     values             // of the template
	envelope Envelope           // "" is none
	event    cloudEvent         // of the envelopes of CloudEvents
	member   string
	region   string
}

// Message is the content of one attempt.
type Message struct {
	Body        string
	ContentType string      // of an envelope; "" without one, or if the payload has no known type
	Attributes  []Attribute // of CloudEvents in binary mode, without prefix; nil in every other mode
}

// Read reads the payload of an action: the text from the member of inner that rules name, and template, data, envelope and
// cloudEvent from inner or from the action around it, which may be the same object. Problems are reported to their
// readers: of a template that cannot be parsed or rendered, of one of the four that is given in both objects, of a text
// that its envelope cannot hold. Whether the text may be absent is the caller's to say.
func Read(action, inner *document.Object, rules Rules) Content {
	c := Content{member: rules.Member, region: rules.Region}
	text, given := inner.String(rules.Member)
	c.text = text
	if n := utf8.RuneCountInString(c.text); rules.MaxSize > 0 && n > rules.MaxSize {
		inner.Problem(rules.Member, "is %d characters long, at most %d are allowed", n, rules.MaxSize)
		given = false
	}
	if action.Describes() {
		describe(action, rules.Envelopes)
		describe(inner, rules.Envelopes)
		return c
	}
	c.readEnvelope(action, inner, rules.Envelopes)
	if templated, _ := place(action, inner, "template").Bool("template"); templated {
		c.readTemplate(action, inner, given)
		return c
	}
	if o := place(action, inner, "data"); o.Has("data") {
		o.Problem("data", "goes with template: true only")
	}
	if c.envelope == AzureScheduler {
		if err := checkXML(c.text); err != nil {
			inner.Problem(rules.Member, "%v", err)
		}
	}
	return c
}

// describe requests all fields of the content, for a description.
func describe(o *document.Object, allowed []Envelope) {
	readKind(o, allowed)
	readEvent(o)
	_, _ = o.Bool("template")
	_, _ = o.Object("data")
}

// readKind reads the field envelope of o.
func readKind(o *document.Object, allowed []Envelope) (Envelope, bool) {
	words := []string{string(None)}
	for _, envelope := range allowed {
		words = append(words, string(envelope))
	}
	word, ok := o.Enum("envelope", words...)
	return Envelope(word), ok
}

// place returns the object that holds the member name: inner, which is its canonical place, or the action around it.
func place(action, inner *document.Object, name string) *document.Object {
	if action == inner {
		return inner
	}
	inside, outside := inner.Has(name), action.Has(name)
	if inside && outside {
		action.Problem(name, "is given twice: leave it out here, or at %s", inner.Path(name))
	}
	if outside && !inside {
		return action
	}
	return inner
}

func (c *Content) readEnvelope(action, inner *document.Object, allowed []Envelope) {
	o := place(action, inner, "envelope")
	ok := o.Has("envelope")
	if ok {
		c.envelope, ok = readKind(o, allowed)
	}
	if c.envelope == None {
		c.envelope = ""
	}
	eo := place(action, inner, "cloudEvent")
	switch {
	case c.envelope == CloudEvents, c.envelope == CloudEventsBinary:
		c.event = readEvent(eo)
	case !eo.Has("cloudEvent"):
	case ok || !o.Has("envelope"): // or the envelope is wrong, which was reported
		eo.Problem("cloudEvent", "goes with the envelopes %s and %s only", CloudEvents, CloudEventsBinary)
	default:
		eo.Ignore("cloudEvent")
	}
}

// readTemplate compiles the text, if any. The job's data take precedence over the data next to the text.
func (c *Content) readTemplate(action, inner *document.Object, given bool) {
	parent := place(action, inner, "data")
	_, _ = parent.Object("data")
	data, _ := parent.Value("data")
	if !given {
		return
	}
	c.data = merged(declared(inner.Reader().Input), data, inner.Reader().Data)
	t, uses, err := compile(c.text, c.data)
	inner.Reader().UseData(slices.Sorted(maps.Keys(uses))...)
	if err != nil {
		inner.Problem(c.member, "%v", err)
		return
	}
	c.template = t
}

// Text returns the text as the job gives it.
func (c *Content) Text() string { return c.text }

// Templated reports whether the text is a template, so that the payload differs from [Content.Text].
func (c *Content) Templated() bool { return c.template != nil }

// BreaksJSON reports whether a template renders invalid JSON from a sample with quotation marks in its failure.
func (c *Content) BreaksJSON() bool {
	if c.template == nil {
		return false
	}
	for _, d := range samples(c.data) {
		if made, err := execute(c.template, c.text, d); err == nil && made != "" && !json.Valid([]byte(made)) {
			return true
		}
	}
	return false
}

// Envelope returns the envelope of the text.
func (c *Content) Envelope() Envelope {
	if c.envelope == "" {
		return None
	}
	return c.envelope
}

// Render returns the message of the attempt a. An error fails the attempt permanently: the template's output is
// too long, or has a character that the envelope cannot carry.
func (c *Content) Render(a scheduler.Attempt) (Message, error) {
	text := c.text
	if c.template != nil {
		data, err := c.given(a)
		if err == nil {
			text, err = execute(c.template, c.text, newData(a, data))
		}
		if err != nil {
			return Message{}, fmt.Errorf("template in %s: %w", c.member, err)
		}
	}
	switch c.envelope {
	case None:
	case CloudEvents:
		return c.event.structured(a, text), nil
	case CloudEventsBinary:
		return c.event.binary(a, text), nil
	case AzureScheduler:
		if c.template != nil {
			if err := checkXML(text); err != nil {
				return Message{}, fmt.Errorf("%s: %w", c.member, err)
			}
		}
		return Message{Body: azureXML(a, c.region, text), ContentType: "application/xml; charset=utf-8"}, nil
	}
	return Message{Body: text}, nil
}

// given returns the template data of an attempt: the job's data, overridden by the data of its run.
func (c *Content) given(a scheduler.Attempt) (values, error) {
	if a.Data == nil {
		return c.data, nil
	}
	v, err := document.Parse(a.Data)
	if err != nil {
		return nil, fmt.Errorf("the data of the run: %w", err)
	}
	data := maps.Clone(c.data)
	maps.Copy(data, merged(v))
	return data, nil
}

// position returns the line and column of a byte in a text, for messages. Both count from 1; columns count characters.
func position(text string, offset int) string {
	before := text[:max(0, min(offset, len(text)))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// ReadMember calls read with the field of an action that belongs to its type, and reports the fields that read
// leaves unread. It returns false after any problem, such as a missing field, and in a description.
func ReadMember(action *document.Object, name string, read func(o *document.Object)) bool {
	if !action.Require(name) {
		return false
	}
	before := action.Reader().Problems()
	if o, ok := action.Object(name); ok {
		read(o)
		o.Done()
	}
	return action.Reader().Problems() == before && !action.Describes()
}

// Limits of an action's headers, for every protocol (Azure Scheduler Limits, Defaults, and Error Codes).
const (
	maxHeaders    = 50
	maxHeaderSize = 4096 // characters of all names and values together
)

// Headers receives the headers of an action.
type Headers interface {
	// CheckHeader returns a problem with a header, except in the characters of its name and value.
	CheckHeader(m document.Member) error

	// SetHeader adds a header and returns how many characters of its value count, or a problem with the value.
	SetHeader(name, value string) (int, error)

	// SetSecretHeader adds a header whose value is a secret.
	SetSecretHeader(SecretHeader)
}

// SecretHeader is a header whose value is written and never shown.
type SecretHeader struct {
	Name  string
	Value document.Secret
}

// Reveal returns the value for an attempt.
func (s SecretHeader) Reveal(at scheduler.Attempt) (string, error) {
	text, err := at.Reveal(s.Value)
	if err == nil && !IsHeaderValue(text) {
		err = fmt.Errorf("the secret for header %s has line breaks or control characters", s.Name)
	}
	return text, err
}

// ReadHeaders passes each header of the object headers in o that is not null to to, and checks the limits.
// Headers named like credentials are secrets, and any value can refer to a shared secret.
func ReadHeaders(o *document.Object, to Headers) {
	v, ok := o.Sample("headers", document.ObjectValue(document.Member{Name: "*", Value: document.ObjectValue()}))
	if !ok {
		return
	}
	ho := o.Inner("headers", v)
	count, size := 0, 0
	for _, m := range v.Members() {
		if m.Value.Kind() == document.KindNull {
			continue // absent
		}
		count++
		n, err := readHeader(ho, m, to)
		if err != nil {
			ho.Problem(m.Name, "%v", err)
		}
		size += utf8.RuneCountInString(m.Name) + n
	}
	if count > maxHeaders {
		ho.Problem("", "has %d headers, at most %d are allowed", count, maxHeaders)
	}
	if size > maxHeaderSize {
		ho.Problem("", "names and values are %d characters long together, at most %d are allowed", size, maxHeaderSize)
	}
}

// readHeader reads the header m of ho, and returns how many characters its value has, as far as that is known.
func readHeader(ho *document.Object, m document.Member, to Headers) (int, error) {
	if !isToken(m.Name) {
		return 0, errors.New("is not a header name: letters, digits and !#$%&'*+-.^_`|~ are allowed")
	}
	if err := to.CheckHeader(m); err != nil {
		return 0, err
	}
	value := m.Value.Text()
	switch {
	case document.IsCredential(m.Name) || m.Value.IsSecret() || m.Value.Kind() == document.KindObject:
		secret, ok := ho.Secret(m.Name)
		if !ok {
			return 0, nil // which was reported
		}
		to.SetSecretHeader(SecretHeader{m.Name, secret})
		if value, _ = secret.Literal(); IsHeaderValue(value) {
			return utf8.RuneCountInString(value), nil
		}
	case m.Value.Kind() != document.KindString:
		return 0, fmt.Errorf("must be a string, not %s", m.Value.Kind())
	case IsHeaderValue(value):
		return to.SetHeader(m.Name, value)
	}
	return 0, errors.New("must not contain line breaks or control characters")
}

// isToken reports whether s is a header name (RFC 9110, section 5.6.2; what clients of NATS take, see its ADR-4, is hardly
// more).
func isToken(s string) bool {
	const characters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return s != "" && strings.Trim(s, characters) == ""
}

// IsHeaderValue reports whether s can be a header value (RFC 9110, section 5.5): no control character but the tab.
func IsHeaderValue(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}
