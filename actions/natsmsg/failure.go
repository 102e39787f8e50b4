package natsmsg

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
)

// classify classifies an error.
func classify(err error) *actions.Failure {
	if known, ok := errors.AsType[*actions.Failure](err); ok {
		f := *known // attempts share an error of a connection
		return &f
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return judgeStream(api)
	}
	for _, known := range answers {
		if errors.Is(err, known.err) {
			return actions.Answered(known.status, cmp.Or(known.text, reason(err)))
		}
	}
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrDisconnected) {
		return actions.Unanswered(err, errLost.Error())
	}
	return actions.Unanswered(err, reason(err))
}

// ofPart is the failure of an attempt with a response about one stream or subject, or the job's credentials.
func ofPart(status int, text string) *actions.Failure {
	f := actions.Answered(status, text)
	f.SkipCircuit = true
	return f
}

// answers lists the errors of the NATS client that represent a response.
var answers = []struct {
	err    error
	status int
	text   string // "": the error's
}{
	{nats.ErrPermissionViolation, http.StatusForbidden, ""},
	{nats.ErrNoResponders, http.StatusServiceUnavailable, "no responders: no client is subscribed to the subject"},
	{nats.ErrMaxPayload, http.StatusRequestEntityTooLarge, "the message is larger than the server takes"},
	{nats.ErrAuthorization, http.StatusUnauthorized, "the server refuses the credentials"},
	{nats.ErrAuthExpired, http.StatusUnauthorized, "the credentials have expired"},
	{nats.ErrAuthRevoked, http.StatusUnauthorized, "the credentials were revoked"},
	{nats.ErrAccountAuthExpired, http.StatusUnauthorized, "the account's credentials have expired"},
	{nats.ErrNkeysNotSupported, http.StatusUnauthorized, "the server does not take a credentials file"},
	{nats.ErrBadSubject, http.StatusBadRequest, ""},
	{nats.ErrBadHeaderMsg, http.StatusBadRequest, ""},
	{nats.ErrHeadersNotSupported, http.StatusBadRequest, ""},
	{
		jetstream.ErrInvalidJSAck, http.StatusBadGateway,
		"who has answered is not a stream: another subscriber took the message for a request",
	},
}

// Error codes of JetStream whose status alone is ambiguous (nats-server, server/errors.json).
const (
	streamTooLarge     jetstream.ErrorCode = 10054 // message size exceeds maximum allowed
	streamHeaderLarge  jetstream.ErrorCode = 10097 // header size exceeds maximum allowed of 64k
	accountExceeded    jetstream.ErrorCode = 10002 // resource limits exceeded for account
	insufficient       jetstream.ErrorCode = 10023 // insufficient resources: of the server
	duplicateInProcess jetstream.ErrorCode = 10158 // duplicate message id is in process
)

// judgeStream classifies a stream's refusal.
func judgeStream(api *jetstream.APIError) *actions.Failure {
	f := actions.Answered(api.Code, fmt.Sprintf("%s (JetStream error %d)", netreason.Line(api.Description, netreason.Max), api.ErrorCode))
	if api.ErrorCode == streamTooLarge || api.ErrorCode == streamHeaderLarge {
		f.Status = http.StatusRequestEntityTooLarge
	}
	if api.ErrorCode == accountExceeded || api.ErrorCode == duplicateInProcess {
		f.Final = false // it may be different soon
	}
	f.SkipCircuit = api.ErrorCode != insufficient // only this stream
	return f
}

// limits are the timeouts that reasons mention.
var limits = netreason.Limits{Dial: dialTimeout, TLS: handshakeTimeout}

// reason says in a few words what went wrong, without the client's name.
func reason(err error) string {
	op, ok := errors.AsType[*net.OpError](err)
	if errors.Is(err, nats.ErrTimeout) || ok && op.Op == "read" && op.Timeout() {
		return fmt.Sprintf("the server has not shaken hands within %v", handshakeTimeout)
	}
	text := strings.TrimPrefix(limits.Reason(err), "nats: ")
	return strings.TrimPrefix(text, "permissions violation: ")
}

// Names of headers of answers.
const (
	headerStatus      = "Status" // of the first line, NATS/1.0 503 …
	headerDescription = "Description"
	headerRetryAfter  = "Retry-After" // seconds, as HTTP has it
)

// judgeReply looks for an error in the headers of a response: the headers of a micro service, or a Status of 400 or
// above. An error code that is not an HTTP status counts as 500. nil means that the response has none.
func judgeReply(h nats.Header) *actions.Failure {
	code, text := h.Get(micro.ErrorCodeHeader), h.Get(micro.ErrorHeader)
	if code == "" && text == "" {
		code, text = h.Get(headerStatus), h.Get(headerDescription)
		if n, _ := strconv.Atoi(code); n < http.StatusBadRequest {
			return nil
		}
	}
	status := http.StatusInternalServerError
	if n, err := strconv.Atoi(code); err == nil && n >= http.StatusBadRequest && n <= 599 {
		status = n
	}
	f := actions.Answered(status, netreason.Line(code+" "+text, netreason.Max))
	if s, err := strconv.Atoi(h.Get(headerRetryAfter)); err == nil && s > 0 && s <= int(maxRetryAfter/time.Second) {
		f.RetryAfter = time.Duration(s) * time.Second
	}
	return f
}

// maxRetryAfter limits the pause that a response can request.
const maxRetryAfter = 366 * 24 * time.Hour

// excerpt returns the beginning of an answer, at most [scheduler.MaxResponse]
// bytes of valid UTF-8.
func excerpt(data []byte) string {
	return netreason.Cut(string(data[:min(len(data), scheduler.MaxResponse+utf8.UTFMax)]), scheduler.MaxResponse)
}
