package natsmsg

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// mode is the way in which a message is sent, and the condition of its success.
type mode string

// The modes, in canonical spelling.
const (
	publish mode = "publish"
	stored  mode = "jetstream"
	request mode = "request"
)

// message is the valid definition of the message that an action sends.
type message struct {
	mode    mode
	subject string
	replyTo string // publish: reply subject; this process does not subscribe to it
	stream  string // jetstream: the stream that must take the message; "" is any
	ttl     string // jetstream: Nats-TTL, whole seconds; "": the stream's default
	header  header
	content payload.Content
}

// maxStreamName is the length in bytes of the longest stream name (nats-server,
// JSMaxNameLen).
const maxStreamName = 255

// read reads the message from mo, the member natsMessage of the action o.
func (m *message) read(o, mo *document.Object) {
	m.mode = publish
	if word, ok := mo.Enum("mode", string(publish), string(stored), string(request)); ok {
		m.mode = mode(word)
	}
	if mo.Require("subject") {
		m.subject = readSubject(mo, "subject")
	}
	m.replyTo = readSubject(mo, "replyTo")
	m.header = header{given: nats.Header{}, lower: map[string]bool{}}
	payload.ReadHeaders(mo, &m.header)
	m.readStream(mo)
	for _, only := range [...]struct {
		name string
		mode mode
	}{{"replyTo", publish}, {"expectStream", stored}, {"timeToLive", stored}} {
		if mo.Has(only.name) && m.mode != only.mode {
			mo.Problem(only.name, "goes with mode %s only", only.mode)
		}
	}
	m.content = payload.Read(o, mo, payload.Rules{
		Member:    "message",
		Envelopes: []payload.Envelope{payload.CloudEvents, payload.CloudEventsBinary},
	})
}

// readStream reads the settings of JetStream.
func (m *message) readStream(mo *document.Object) {
	if name, ok := mo.String("expectStream"); ok {
		m.stream = name
		if name == "" || len(name) > maxStreamName || !isPlain(name) {
			mo.Problem("expectStream", "%q is not the name of a stream: 1 to %d characters, without spaces and .*>/\\", name, maxStreamName)
		}
	}
	if d, ok := mo.Duration("timeToLive"); ok {
		if d.Approx() < time.Second {
			mo.Problem("timeToLive", "%s is shorter than a second, which is the least that JetStream keeps a message", d)
		}
		m.ttl = strconv.FormatInt(int64(d.Approx()/time.Second), 10)
	}
}

// isPlain reports whether all characters of s are valid in a stream name.
func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`.*>/\`, r) })
}

// Names of headers that the scheduler fills in. Nats-Msg-Id is JetStream's
// (jetstream.MsgIDHeader).
const (
	headerJob         = "Carillon-Job"
	headerOccurrence  = "Carillon-Occurrence"
	headerAttempt     = "Carillon-Attempt"
	headerTrace       = "traceparent"
	headerTraceState  = "tracestate"
	headerContentType = "content-type"
	eventDataType     = "datacontenttype"
)

// compose returns the message of an attempt. The job's headers take precedence. NATS header names are case-sensitive, so
// compose compares them itself. The error is an [actions.Failure].
func (m *message) compose(at scheduler.Attempt) (*nats.Msg, error) {
	rendered, err := m.content.Render(at)
	if err != nil {
		return nil, actions.Invalid(err)
	}
	id := payload.Identify(at)
	h, err := m.header.begin(at)
	if err != nil {
		return nil, actions.Unready(err)
	}
	add := func(name, value string) {
		if value != "" && !m.header.lower[strings.ToLower(name)] {
			h[name] = []string{value}
		}
	}
	add(jetstream.MsgIDHeader, at.Key)
	add(headerJob, at.Job.String())
	add(headerOccurrence, at.Occurrence)
	add(headerAttempt, id.Try)
	if !m.header.lower[headerTrace] { // else the state would belong to another trace
		add(headerTrace, id.Trace)
		add(headerTraceState, id.State)
	}
	for _, f := range payload.FailureFields(at) {
		add(f.Name, f.Value)
	}
	switch {
	case rendered.Attributes == nil && rendered.ContentType != "":
		add(headerContentType, rendered.ContentType)
	case rendered.Attributes != nil && rendered.ContentType != "":
		rendered.Attributes = append(rendered.Attributes, payload.Attribute{Name: eventDataType, Value: rendered.ContentType})
	}
	for _, attribute := range rendered.Attributes {
		add(attribute.HTTPHeader())
	}
	add(jetstream.ExpectedStreamHeader, m.stream)
	add(jetstream.MsgTTLHeader, m.ttl)
	return &nats.Msg{Subject: m.subject, Reply: m.replyTo, Header: h, Data: []byte(rendered.Body)}, nil
}

// header holds the headers of a job.
type header struct {
	given   nats.Header
	secrets []payload.SecretHeader
	lower   map[string]bool // the names of all in lower case
}

// CheckHeader implements [payload.Headers].
func (h *header) CheckHeader(m document.Member) error {
	lower := strings.ToLower(m.Name)
	switch {
	case lower == "nats-expected-stream":
		return errors.New("is set by the scheduler: use expectStream")
	case lower == "nats-ttl":
		return errors.New("is set by the scheduler: use timeToLive")
	case isServers(lower):
		return errors.New("is reserved for NATS")
	case h.lower[lower]:
		return errors.New("is given twice, in different letter case")
	}
	h.lower[lower] = true
	return nil
}

// SetHeader implements [payload.Headers].
func (h *header) SetHeader(name, value string) (int, error) {
	h.given[name] = []string{value}
	return utf8.RuneCountInString(value), nil
}

// SetSecretHeader implements [payload.Headers].
func (h *header) SetSecretHeader(s payload.SecretHeader) { h.secrets = append(h.secrets, s) }

// isServers reports whether NATS servers act on the header, named in lower case. Nats-Trace-Dest makes a server
// publish to any subject; others delete or delay messages. Nats-Msg-Id only identifies messages. Status and
// description are the first line of a header block.
func isServers(lower string) bool {
	if strings.EqualFold(lower, jetstream.MsgIDHeader) {
		return false
	}
	return strings.HasPrefix(lower, "nats-") || lower == "status" || lower == "description"
}

// begin returns the headers of an attempt that the job defines.
func (h *header) begin(at scheduler.Attempt) (nats.Header, error) {
	all := make(nats.Header, len(h.given)+len(h.secrets)+16)
	maps.Copy(all, h.given)
	for _, s := range h.secrets {
		text, err := s.Reveal(at)
		if err != nil {
			return nil, err
		}
		all[s.Name] = []string{text}
	}
	return all, nil
}
