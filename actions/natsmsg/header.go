package natsmsg

import (
	"errors"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// header holds the headers of a job.
type header struct {
	given   nats.Header
	secrets []payload.SecretHeader
	lower   map[string]bool // the names of all in lower case
}

// readHeader reads the member headers of o, an object of strings.
func readHeader(o *document.Object) header {
	h := header{given: nats.Header{}, lower: map[string]bool{}}
	payload.ReadHeaders(o, &h)
	return h
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
		return errors.New("tells NATS what to do with the message, and cannot be given")
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

// begin begins the headers of an attempt with those that the job gives.
func (h *header) begin(at scheduler.Attempt) (headers, error) {
	all := make(nats.Header, len(h.given)+len(h.secrets)+16)
	maps.Copy(all, h.given)
	for _, s := range h.secrets {
		text, err := s.Reveal(at)
		if err != nil {
			return headers{}, err
		}
		all[s.Name] = []string{text}
	}
	return headers{*h, all}, nil
}

// headers collects the headers of an attempt.
type headers struct {
	job    header
	header nats.Header
}

// add adds a header unless its value is empty or the job sets it. NATS header names are case-sensitive, so add
// compares them itself.
func (h headers) add(name, value string) {
	if value == "" || h.job.lower[strings.ToLower(name)] {
		return
	}
	h.header[name] = []string{value}
}

// addTrace adds the trace context. A job that gives its own traceparent gets no
// state that belongs to another.
func (h headers) addTrace(id payload.Identity) {
	if !h.job.lower[headerTrace] {
		h.add(headerTrace, id.Trace)
		h.add(headerTraceState, id.State)
	}
}
