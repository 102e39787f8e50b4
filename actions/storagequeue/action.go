package storagequeue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// headerRequestID names the request in the service's logs.
const headerRequestID = "X-Ms-Client-Request-Id"

// action is a compiled message and where it goes.
type action struct {
	client   *Client
	account  account
	queue    string
	token    document.Secret
	content  payload.Content
	encoding string
	options  azqueue.EnqueueMessageOptions
}

var _ scheduler.SecretDestination = (*action)(nil)

// Target implements [scheduler.Action]: the account, see Limits in the package's comment.
func (a *action) Target() string { return a.account.target }

// Recipients implements [scheduler.SecretDestination].
func (a *action) Recipients() []scheduler.Recipient {
	return []scheduler.Recipient{{Address: cmp.Or(a.account.endpoint, a.account.target)}} // it may not be known
}

// Invoke implements [scheduler.Action].
func (a *action) Invoke(ctx context.Context, at scheduler.Attempt) scheduler.Result {
	return a.attempt(ctx, at).By(typeQueue)
}

func (a *action) attempt(ctx context.Context, at scheduler.Attempt) scheduler.Result {
	start := time.Now()
	if a.account.broken != "" {
		return a.unsent(actions.Unready(errors.New("the account " + a.account.broken))) // the configuration may be fixed before the retry
	}
	message, err := a.content.Render(at)
	if err != nil {
		return a.unsent(actions.Invalid(err))
	}
	text, bad := encode(message.Body, a.encoding)
	if bad != nil {
		bad.Reason = "the message " + bad.Reason
		return a.unsent(bad)
	}
	secret, err := at.Reveal(a.token)
	if err != nil {
		return a.unsent(actions.Unready(err))
	}
	to, err := a.client.open(access{a.account.endpoint, a.queue, secret})
	if err != nil {
		return a.unsent(actions.Invalid(err))
	}
	for _, form := range to.token.hidden {
		at.Hide(form)
	}
	x := exchange{action: a, token: to.token, start: start, timeout: at.Timeout}
	id := http.Header{headerRequestID: {payload.Identify(at).RequestID}}
	send := policy.WithHTTPHeader(policy.WithCaptureResponse(ctx, &x.raw), id)
	x.answer, x.err = to.client.EnqueueMessage(send, text, &a.options)
	return x.result(ctx)
}

// unsent is the result of an attempt that has sent nothing.
func (a *action) unsent(f *actions.Failure) scheduler.Result {
	return f.Result("Nothing sent to queue '" + a.queue + "' of account '" + a.account.name + "': " + f.Reason)
}

// exchange is one attempt and its outcome.
type exchange struct {
	*action

	token   token
	start   time.Time
	timeout time.Duration

	raw    *http.Response // nil: no answer
	answer azqueue.EnqueueMessagesResponse
	err    error
}

// result returns the outcome of the attempt.
func (x *exchange) result(ctx context.Context) scheduler.Result {
	switch {
	case x.err == nil && len(x.answer.Messages) > 0 && x.answer.Messages[0].MessageID != nil:
		return scheduler.Result{Status: http.StatusCreated, Summary: x.receipt()}
	case x.raw == nil:
		f := actions.Unanswered(x.err, x.reason(ctx))
		return f.Result("Request to account '" + x.account.name + "' at '" + x.account.host + "' failed: " + f.Reason)
	case x.raw.StatusCode == http.StatusCreated:
		return x.created(ctx)
	}
	return x.refused()
}

// receipt describes the message in the queue, without the pop receipt, which permits to change and delete it.
func (x *exchange) receipt() string {
	m := x.answer.Messages[0]
	b := append(make([]byte, 0, 256), "Message '"...)
	b = append(b, netreason.Cut(*m.MessageID, 64)...)
	b = append(b, "' put into queue '"+x.queue+"' of account '"+x.account.name+"'"...)
	if m.InsertionTime != nil {
		b = m.InsertionTime.UTC().AppendFormat(append(b, " at "...), time.RFC3339)
	}
	if m.TimeNextVisible != nil && x.options.VisibilityTimeout != nil {
		b = m.TimeNextVisible.UTC().AppendFormat(append(b, ", visible from "...), time.RFC3339)
	}
	switch expires := m.ExpirationTime; {
	case expires == nil:
	case expires.Year() >= 9999:
		b = append(b, ", never expires"...)
	default:
		b = expires.UTC().AppendFormat(append(b, ", expires "...), time.RFC3339)
	}
	if x.answer.RequestID != nil {
		b = append(b, ", request "+netreason.Cut(*x.answer.RequestID, 64)...)
	}
	return string(b)
}

// created judges a success status whose response describes no message.
func (x *exchange) created(ctx context.Context) scheduler.Result {
	if body, err := runtime.Payload(x.raw); err == nil {
		return x.failed(actions.Answered(http.StatusCreated, "'Created' (status 201) is not the answer of a queue"), body)
	}
	text := "Message put into queue '" + x.queue + "' of account '" + x.account.name + "' (the answer broke off: " + x.reason(ctx) + ")"
	return scheduler.Result{Status: http.StatusCreated, Summary: text}
}

// refused returns the result of a response that is not a success.
func (x *exchange) refused() scheduler.Result {
	body, _ := runtime.Payload(x.raw) // possibly truncated
	r := readRefusal(x.raw, body)
	text := "'" + r.code + "' (status " + strconv.Itoa(r.status) + ")"
	if r.text != "" {
		text += " " + r.text
	}
	if hint := x.hint(r); hint != "" {
		text += " Hint: " + hint
	}
	f := actions.Answered(r.status, text)
	f.Final = f.Final && r.status != http.StatusConflict // what conflicts passes, as queues being deleted do
	// These concern the queue alone.
	f.SkipCircuit = r.status == http.StatusNotImplemented || r.status == http.StatusInsufficientStorage
	f.RetryAfter = egress.RetryAfter(x.raw.Header)
	return x.failed(f, body)
}

// failed returns the result of a response with a body that is a failure.
func (x *exchange) failed(f *actions.Failure, body []byte) scheduler.Result {
	result := f.Result("Response from account '" + x.account.name + "': " + f.Reason)
	result.Response = netreason.Cut(string(body), scheduler.MaxResponse)
	return result
}

// maxRefusal is the length in bytes at which the words of a service are cut.
const maxRefusal = 1024

// refusal is the error response of a service.
type refusal struct {
	status int
	code   string // the service's, or the text of the status
	text   string // one line, with the details of the answer; "" for none
}

// errorBody is the body of a refusal: <Error><Code/><Message/> and details.
type errorBody struct {
	Code    string `xml:"Code"`
	Message string `xml:"Message"`
	Details []struct {
		XMLName xml.Name `xml:""`
		Text    string   `xml:",chardata"`
	} `xml:",any"`
}

// readRefusal reads an answer. It need not be a storage service's.
func readRefusal(resp *http.Response, body []byte) refusal {
	r := refusal{status: resp.StatusCode, code: resp.Header.Get("X-Ms-Error-Code")}
	var e errorBody
	if xml.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &e) == nil {
		r.code = cmp.Or(r.code, e.Code)
		r.text = e.Message
		for _, detail := range e.Details {
			r.text += " " + detail.XMLName.Local + ": " + detail.Text
		}
	}
	r.code = netreason.Line(cmp.Or(r.code, http.StatusText(resp.StatusCode)), 64)
	r.text = netreason.Line(r.text, maxRefusal)
	return r
}

// The codes that the SDK has no name for.
const (
	codeNoAuthentication queueerror.Code = "NoAuthenticationInformation"
	codeRequiresHTTPS    queueerror.Code = "AccountRequiresHttps"
)

// hints say what to do about a refusal, where that is the same for every job.
var hints = map[queueerror.Code]string{
	queueerror.AuthorizationProtocolMismatch: "sasToken is signed for https alone (spr=https): " +
		"sign it for https and http, or use an https endpoint.",
	queueerror.AuthorizationPermissionMismatch:   "sasToken does not permit adding messages: sign it with permission a.",
	queueerror.AuthorizationResourceTypeMismatch: "sasToken is not for messages: sign it for objects (srt=o).",
	queueerror.AuthorizationServiceMismatch:      "sasToken is not for queues: sign it for them (ss=q).",
	queueerror.AuthorizationSourceIPMismatch:     "sasToken is signed for other addresses (sip) than the scheduler's.",
	queueerror.AuthorizationFailure:              "the account's network rules may not let the scheduler in.",
	codeRequiresHTTPS:                            "the account takes no http: use its https endpoint.",
	queueerror.QueueDisabled:                     "the administrator of the account has disabled the queue.",
}

// hint returns the fix for a refusal, "" if it is unknown.
func (x *exchange) hint(r refusal) string {
	code := queueerror.Code(r.code)
	switch {
	case code == queueerror.QueueNotFound:
		return "create queue '" + x.queue + "', or correct queueName: jobs do not create queues."
	case code == queueerror.AuthenticationFailed, code == codeNoAuthentication, code == queueerror.ResourceNotFound:
		return x.tokenHint()
	case code == queueerror.InvalidHeaderValue && strings.Contains(strings.ToLower(r.text), "version"):
		return "the service may be too old for this version of its interface; Azurite takes it with --skipApiVersionCheck."
	case r.status >= 300 && r.status <= 399:
		return "redirects are not followed: give the address of the queue service as storageAccount."
	}
	return hints[code]
}

// tokenHint says why a token may have been refused.
func (x *exchange) tokenHint() string {
	switch t := x.token; {
	case !t.signed:
		return "sasToken is not a shared access signature, as it has no sig."
	case t.expired(time.Now()) != nil:
		return "sasToken " + t.expired(time.Now()).Error() + "."
	case t.start.After(time.Now()):
		return "sasToken is not valid before " + t.start.Format(time.RFC3339) + "."
	}
	return "sasToken may be signed with an old key, for another account or for another queue."
}

// reason explains in a few words why the response is missing or incomplete. It omits the URL, which contains the
// token.
func (x *exchange) reason(ctx context.Context) string {
	text := netreason.Explain(ctx, x.err, x.timeout, time.Since(x.start))
	if dns, ok := errors.AsType[*net.DNSError](x.err); ok && dns.IsNotFound && ctx.Err() == nil {
		text += ". Hint: there may be no account of that name."
	}
	return text
}
