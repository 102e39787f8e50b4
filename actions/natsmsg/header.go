package natsmsg

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// The limits of the headers that a job gives; those of HTTP actions.
const (
	maxHeaders    = 50
	maxHeaderSize = 4096 // characters of all names and values together
)

// header is what a job gives as headers.
type header struct {
	given nats.Header
	lower map[string]bool // their names in lower case
}

// readHeader reads the member headers of o, an object of strings.
func readHeader(o *document.Object) header {
	v, ok := o.Value("headers")
	if !ok {
		return header{}
	}
	ho := o.Reader().Object(v, o.Path("headers"))
	h := header{make(nats.Header, len(v.Members())), make(map[string]bool, len(v.Members()))}
	count, size := 0, 0
	for _, m := range v.Members() {
		if m.Value.Kind() == document.KindNull {
			continue // absent
		}
		count++
		size += utf8.RuneCountInString(m.Name) + utf8.RuneCountInString(m.Value.Text())
		if err := h.read(m); err != nil {
			ho.Problem(m.Name, "%v", err)
		}
	}
	if count > maxHeaders {
		ho.Problem("", "has %d headers, at most %d are allowed", count, maxHeaders)
	}
	if size > maxHeaderSize {
		ho.Problem("", "names and values are %d characters long together, at most %d are allowed", size, maxHeaderSize)
	}
	return h
}

// read adds one header.
func (h header) read(m document.Member) error {
	lower, value := strings.ToLower(m.Name), m.Value.Text()
	switch {
	case !isToken(m.Name):
		return errors.New("is not a header name: letters, digits and !#$%&'*+-.^_`|~ are allowed")
	case m.Value.Kind() != document.KindString:
		return fmt.Errorf("must be a string, not %s", m.Value.Kind())
	case lower == "nats-expected-stream":
		return errors.New("is set by the scheduler: use expectStream")
	case lower == "nats-ttl":
		return errors.New("is set by the scheduler: use timeToLive")
	case isServers(lower):
		return errors.New("tells NATS what to do with the message, and cannot be given")
	case strings.ContainsFunc(value, isControl):
		return errors.New("must not contain line breaks or control characters")
	case h.lower[lower]:
		return errors.New("is given twice, in different letter case")
	}
	h.lower[lower] = true
	h.given[m.Name] = []string{value}
	return nil
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
func (h header) begin() headers {
	all := make(nats.Header, len(h.given)+16)
	maps.Copy(all, h.given)
	return headers{h, all}
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
