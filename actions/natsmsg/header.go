package natsmsg

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// header is what a job gives as headers.
type header struct {
	given   nats.Header
	secrets []secretHeader
	lower   map[string]bool // the names of all in lower case
}

// secretHeader is a header whose value is written and never shown.
type secretHeader struct {
	name  string
	value document.Secret
}

// readHeader reads the member headers of o, an object of strings. Those named
// like credentials are secrets, and any may be a shared one.
func readHeader(o *document.Object) header {
	if !o.Has("headers") {
		return header{}
	}
	h := header{given: nats.Header{}, lower: map[string]bool{}}
	payload.ReadHeaders(o, h.read)
	return h
}

// read adds the header m of ho, and returns how many characters its value has,
// as far as that is known.
func (h *header) read(ho *document.Object, m document.Member) (int, error) {
	lower, value := strings.ToLower(m.Name), m.Value.Text()
	switch {
	case !isToken(m.Name):
		return 0, errors.New("is not a header name: letters, digits and !#$%&'*+-.^_`|~ are allowed")
	case lower == "nats-expected-stream":
		return 0, errors.New("is set by the scheduler: use expectStream")
	case lower == "nats-ttl":
		return 0, errors.New("is set by the scheduler: use timeToLive")
	case isServers(lower):
		return 0, errors.New("tells NATS what to do with the message, and cannot be given")
	case h.lower[lower]:
		return 0, errors.New("is given twice, in different letter case")
	}
	h.lower[lower] = true
	switch {
	case document.IsCredential(m.Name) || m.Value.IsSecret() || m.Value.Kind() == document.KindObject:
		return h.readSecret(ho, m.Name)
	case m.Value.Kind() != document.KindString:
		return 0, fmt.Errorf("must be a string, not %s", m.Value.Kind())
	case strings.ContainsFunc(value, isControl):
		return 0, errControl
	}
	h.given[m.Name] = []string{value}
	return utf8.RuneCountInString(value), nil
}

var errControl = errors.New("must not contain line breaks or control characters")

// readSecret adds a header whose value is a secret.
func (h *header) readSecret(ho *document.Object, name string) (int, error) {
	s, ok := ho.Secret(name)
	if !ok {
		return 0, nil // which was reported
	}
	h.secrets = append(h.secrets, secretHeader{name, s})
	text, _ := s.Literal()
	if strings.ContainsFunc(text, isControl) {
		return 0, errControl
	}
	return utf8.RuneCountInString(text), nil
}

// isServers reports whether the header of that name, in lower case, means
// something to the server. One of them, Nats-Trace-Dest, makes it publish to
// any subject; others delete messages or delay them. Nats-Msg-Id only tells
// messages apart, and status and description are the first line of a header.
func isServers(lower string) bool {
	if strings.EqualFold(lower, jetstream.MsgIDHeader) {
		return false
	}
	return strings.HasPrefix(lower, "nats-") || lower == "status" || lower == "description"
}

// isToken reports whether s is a header name (RFC 9110, section 5.6.2; what
// clients of NATS take, see its ADR-4, is hardly more).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// isControl reports whether r cannot stand in a header value.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// begin begins the headers of an attempt with those that the job gives.
func (h *header) begin(at scheduler.Attempt) (headers, error) {
	all := make(nats.Header, len(h.given)+len(h.secrets)+16)
	maps.Copy(all, h.given)
	for _, s := range h.secrets {
		text, err := at.Reveal(s.value)
		if err != nil {
			return headers{}, err
		}
		if strings.ContainsFunc(text, isControl) {
			return headers{}, fmt.Errorf("the secret for header %s has line breaks or control characters", s.name)
		}
		all[s.name] = []string{text}
	}
	return headers{*h, all}, nil
}

// headers are those of an attempt, as they are put together.
type headers struct {
	job    header
	header nats.Header
}

// add adds a header, unless it is empty or the job gives it itself: what the
// job gives wins. NATS tells names apart by case, so that is seen to here.
func (h headers) add(name, value string) {
	if value == "" || h.job.lower[strings.ToLower(name)] {
		return
	}
	h.header[name] = []string{value}
}
