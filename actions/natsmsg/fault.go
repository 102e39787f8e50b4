package natsmsg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/scheduler"
)

// The statuses of HTTP that stand for what NATS answers.
const (
	statusOK           = http.StatusOK
	statusCreated      = http.StatusCreated
	statusAccepted     = http.StatusAccepted
	statusBadRequest   = http.StatusBadRequest
	statusUnauthorized = http.StatusUnauthorized
	statusForbidden    = http.StatusForbidden
	statusNotFound     = http.StatusNotFound
	statusTooLarge     = http.StatusRequestEntityTooLarge
	statusInternal     = http.StatusInternalServerError
	statusBadGateway   = http.StatusBadGateway
	statusUnavailable  = http.StatusServiceUnavailable
)

// fault says why an attempt failed.
type fault struct {
	status int // 0: nobody has answered
	final  bool
	text   string
}

// finalError is one that no retry can help and that no server has answered.
type finalError struct{ error }

// statusError is an answer put in the words of this package.
type statusError struct {
	status int
	text   string
}

// Error returns the text.
func (e *statusError) Error() string { return e.text }

// judge says what an error is worth. elapsed is how long the attempt took.
func judge(err error, elapsed time.Duration) fault {
	if final, ok := errors.AsType[*finalError](err); ok {
		return fault{0, true, final.Error()}
	}
	if answer, ok := errors.AsType[*statusError](err); ok {
		return answered(answer.status, answer.text)
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return judgeStream(api)
	}
	if refused, ok := errors.AsType[*egress.RefusedError](err); ok {
		return fault{0, true, refused.Error()}
	}
	for _, known := range answers {
		if errors.Is(err, known.err) {
			text := known.text
			if text == "" {
				text = plain(err)
			}
			return answered(known.status, text)
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault{text: "timed out after " + elapsed.Round(time.Millisecond).String()}
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrDisconnected):
		return fault{text: errLost.Error()}
	}
	return fault{text: reason(err)}
}

// answers are errors of the NATS client that stand for an answer.
var answers = []struct {
	err    error
	status int
	text   string // "": the error's
}{
	{nats.ErrPermissionViolation, statusForbidden, ""},
	{nats.ErrNoResponders, statusUnavailable, "no responders: nobody is subscribed to the subject"},
	{nats.ErrMaxPayload, statusTooLarge, "the message is larger than the server takes"},
	{nats.ErrAuthorization, statusUnauthorized, "the server refuses the credentials"},
	{nats.ErrAuthExpired, statusUnauthorized, "the credentials have expired"},
	{nats.ErrAuthRevoked, statusUnauthorized, "the credentials were revoked"},
	{nats.ErrAccountAuthExpired, statusUnauthorized, "the account's credentials have expired"},
	{nats.ErrNkeysNotSupported, statusUnauthorized, "the server does not take a credentials file"},
	{nats.ErrBadSubject, statusBadRequest, ""},
	{nats.ErrBadHeaderMsg, statusBadRequest, ""},
	{nats.ErrHeadersNotSupported, statusBadRequest, ""},
	{jetstream.ErrInvalidJSAck, statusBadGateway, "who has answered is not a stream: another subscriber took the message for a request"},
	{errPoolFull, statusUnavailable, ""},
}

// answered is a failure with a status.
func answered(status int, text string) fault {
	return fault{status, scheduler.FinalStatus(status), text}
}

// Error codes of JetStream that its status does not tell enough about
// (nats-server, server/errors.json).
const (
	streamTooLarge     jetstream.ErrorCode = 10054 // message size exceeds maximum allowed
	streamHeaderLarge  jetstream.ErrorCode = 10097 // header size exceeds maximum allowed of 64k
	accountExceeded    jetstream.ErrorCode = 10002 // resource limits exceeded for account
	duplicateInProcess jetstream.ErrorCode = 10158 // duplicate message id is in process
)

// judgeStream says what a stream's refusal is worth.
func judgeStream(api *jetstream.APIError) fault {
	f := answered(api.Code, fmt.Sprintf("%s (JetStream error %d)", cut(api.Description), api.ErrorCode))
	if api.ErrorCode == streamTooLarge || api.ErrorCode == streamHeaderLarge {
		f.status = statusTooLarge
	}
	if api.ErrorCode == accountExceeded || api.ErrorCode == duplicateInProcess {
		f.final = false // it may be different soon
	}
	return f
}

// maxReason is the length in bytes of the longest reason recorded.
const maxReason = 256

// reason says in a few words why a connection could not be opened, or what
// else went wrong.
func reason(err error) string {
	var (
		dns *net.DNSError
		op  *net.OpError
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "name not found"
	case errors.As(err, &dns):
		return "name lookup: " + cut(dns.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &op) && op.Timeout():
		return fmt.Sprintf("no connection within %v", dialTimeout)
	case errors.As(err, &op): // without the addresses
		return cut(op.Op + ": " + op.Err.Error())
	case errors.Is(err, nats.ErrTimeout):
		return fmt.Sprintf("the server has not shaken hands within %v", handshakeTimeout)
	}
	return plain(err)
}

// plain returns the text of an error without the client's name.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "nats: ")
	return cut(strings.TrimPrefix(text, "permissions violation: "))
}

// cut shortens a text to maxReason bytes of valid UTF-8.
func cut(s string) string {
	if len(s) <= maxReason {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:maxReason], "")
}
