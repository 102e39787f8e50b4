package servicebus

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
)

// failure is a classified error. Its reason is the service's description, if there was a response.
type failure struct {
	actions.Failure

	title      string // of a response, in the service's words: a condition of AMQP, or a status
	link       bool   // the link is of no use any more
	connection bool   // the connection neither
}

// answered reports whether the failure is a response of the service.
func (f failure) answered() bool { return f.Status != 0 }

// closed reports whether the service has closed the link, and the link alone.
func (f failure) closed() bool { return f.answered() && f.link && !f.connection }

// meanings maps the known conditions of the service to statuses (AMQP errors in Azure Service Bus, and the SDKs'
// tables). An unknown condition is a transient failure of the service.
var meanings = map[string]int{
	"amqp:decode-error":                      http.StatusBadRequest,
	"amqp:invalid-field":                     http.StatusBadRequest,
	"amqp:not-allowed":                       http.StatusBadRequest,
	"amqp:not-found":                         http.StatusNotFound,
	"amqp:not-implemented":                   http.StatusNotImplemented,
	"amqp:precondition-failed":               http.StatusPreconditionFailed,
	"amqp:resource-deleted":                  http.StatusGone,
	"amqp:resource-limit-exceeded":           http.StatusInsufficientStorage,
	"amqp:resource-locked":                   http.StatusLocked,
	"amqp:unauthorized-access":               http.StatusUnauthorized,
	"amqp:connection:forced":                 http.StatusServiceUnavailable,
	"amqp:link:detach-forced":                http.StatusServiceUnavailable,
	"amqp:link:message-size-exceeded":        http.StatusRequestEntityTooLarge,
	"amqp:link:transfer-limit-exceeded":      http.StatusTooManyRequests,
	"com.microsoft:argument-error":           http.StatusBadRequest,
	"com.microsoft:argument-out-of-range":    http.StatusBadRequest,
	"com.microsoft:auth-failed":              http.StatusUnauthorized,
	"com.microsoft:entity-disabled":          http.StatusConflict,
	"com.microsoft:operation-cancelled":      http.StatusServiceUnavailable,
	"com.microsoft:partition-not-owned":      http.StatusServiceUnavailable,
	"com.microsoft:publisher-revoked":        http.StatusForbidden,
	"com.microsoft:server-busy":              http.StatusServiceUnavailable,
	"com.microsoft:timeout":                  http.StatusRequestTimeout,
	"com.microsoft:session-cannot-be-locked": http.StatusConflict,
}

// rpcError describes the SDK's internal error type for a response to an authorization request.
type rpcError interface {
	error
	RPCCode() int
}

// classify classifies an error of the SDK or of this package.
func classify(err error) failure {
	if errors.Is(err, azservicebus.ErrMessageTooLarge) {
		return condition(string(amqp.ErrCondMessageSizeExceeded), "")
	}
	if e, ok := errors.AsType[*azservicebus.Error](err); ok {
		return judgeCode(e)
	}
	if answer, ok := errors.AsType[rpcError](err); ok {
		return refusal(answer.RPCCode(), answer.Error())
	}
	if e, ok := errors.AsType[*amqp.Error](err); ok {
		f := condition(string(e.Condition), e.Description)
		link, _ := errors.AsType[*amqp.LinkError](err)
		f.link = link != nil || f.Status == http.StatusNotFound || f.Status == http.StatusGone
		return f
	}
	f := failure{Failure: *actions.Unanswered(err, reason(err)), link: true, connection: true}
	f.SkipCircuit = f.SkipCircuit || errors.Is(err, errBadKey)
	return f
}

// judgeCode classifies an SDK error that hides its cause.
func judgeCode(e *azservicebus.Error) failure {
	text := strings.TrimPrefix(e.Error(), "("+string(e.Code)+"): ")
	var f failure
	switch m := conditionPattern.FindStringSubmatch(text); {
	case m != nil:
		f = condition(m[1], m[2])
	case e.Code == azservicebus.CodeUnauthorizedAccess:
		f = refusal(http.StatusUnauthorized, text)
	case e.Code == azservicebus.CodeNotFound:
		f = refusal(http.StatusNotFound, text)
	default:
		f.Reason = reason(errors.New(text))
	}
	f.link = e.Code != azservicebus.CodeTimeout
	f.connection = e.Code == azservicebus.CodeConnectionLost
	return f
}

// conditionPattern finds what go-amqp's errors print.
var conditionPattern = regexp.MustCompile(`(?s)\*Error\{Condition: ([^,]*), Description: (.*), Info: `)

// condition judges an error with a condition of AMQP.
func condition(name, text string) failure {
	status := cmp.Or(meanings[name], http.StatusInternalServerError)
	f := response(status, name, text)
	// Disabled and locked entities can become available; unimplemented operations cannot.
	f.Final = f.Final && status != http.StatusConflict && status != http.StatusLocked || status == http.StatusNotImplemented
	return f
}

// refusal judges the answer to a request for authorization.
func refusal(status int, text string) failure {
	if _, description, ok := strings.Cut(text, "and description: "); ok {
		text = description
	}
	f := response(status, cmp.Or(http.StatusText(status), strconv.Itoa(status)), text)
	f.link = true
	return f
}

// response is the failure in a response of the service.
func response(status int, title, text string) failure {
	f := failure{Failure: *actions.Answered(status, text), title: title}
	f.SkipCircuit = aboutEntity(status)
	if m := waitPattern.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		f.RetryAfter = time.Duration(n) * time.Second
	}
	return f
}

// waitPattern finds the seconds that a busy service requests, as in "Please wait 10 seconds and try again".
var waitPattern = regexp.MustCompile(`(?i)\bwait (\d{1,4}) seconds?\b`)

// aboutEntity reports whether a status is about one queue or topic, or one
// message, and says nothing about the namespace.
func aboutEntity(status int) bool {
	return slices.Contains([]int{
		http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusLocked,
		http.StatusNotImplemented, http.StatusInsufficientStorage,
	}, status)
}

// failed returns the result of a failed attempt.
func (a *action) failed(ctx context.Context, err error, timeout, elapsed time.Duration) scheduler.Result {
	if i, ok := errors.AsType[*interruption](err); ok {
		return a.unsent(&actions.Failure{Reason: netreason.Ended(ctx, i.stage, timeout, elapsed), SkipCircuit: i.waited})
	}
	f := classify(err)
	if !f.answered() {
		return a.unsent(&f.Failure)
	}
	text := "Response from namespace '" + a.namespace.name + "': '" + f.title + "'"
	if hint := a.hint(f); hint != "" {
		text += " (" + hint + ")"
	}
	if f.Reason != "" {
		text += " " + netreason.Line(f.Reason, maxDescription)
	}
	if f.Final {
		f.RetryAfter = 0 // nothing that is waited for
	}
	return f.Result(text)
}

// maxDescription limits the bytes of a recorded description.
const maxDescription = 512

// hint says in the job's terms what f means, where the service's own words
// may not do.
func (a *action) hint(f failure) string {
	place := a.noun + " '" + a.entity + "'"
	switch {
	case f.Status == http.StatusNotFound || f.Status == http.StatusGone:
		return "the " + place + " does not exist"
	case f.Status == http.StatusUnauthorized && !a.authentication.given():
		return "the job gives no sasKey"
	case f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden:
		return "the key '" + a.authentication.name + "' is wrong or may not send to the " + place
	case f.Status == http.StatusRequestEntityTooLarge:
		return "the message is larger than the " + place + " takes"
	case f.Status == http.StatusInsufficientStorage:
		return "the " + place + " is full"
	case f.title == "com.microsoft:entity-disabled":
		return "the " + place + " is disabled"
	case f.title == "amqp:not-allowed" && a.properties.sessionID == nil && strings.Contains(strings.ToLower(f.Reason), "session"):
		return "the " + place + " needs a sessionId in brokeredMessageProperties"
	}
	return ""
}

// interruption is the error of an attempt that its context ended.
type interruption struct {
	stage  string // the interrupted step
	waited bool   // for others of this process: it has not reached for the namespace
}

// Error implements error.
func (i *interruption) Error() string { return "interrupted " + i.stage }

// reason explains in a few words why no response arrived.
func reason(err error) string {
	if lost, ok := errors.AsType[*lostError](err); ok {
		return lost.prefix() + netreason.Reason(lost.cause)
	}
	return netreason.Reason(err)
}

// lostError is an error of the network connection, which the SDK hides.
type lostError struct {
	sent  bool // a message may have got through
	cause error
}

// Error implements error.
func (e *lostError) Error() string { return e.prefix() + e.cause.Error() }

// Unwrap returns the cause.
func (e *lostError) Unwrap() error { return e.cause }

func (e *lostError) prefix() string {
	if e.sent {
		return "no acknowledgement, the message may have arrived: "
	}
	return ""
}
