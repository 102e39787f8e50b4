package storagequeue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"

	"github.com/carillon-sched/carillon/actions/netreason"
)

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

// aboutQueue reports whether a refusal says nothing about the account as a whole, although its status might be taken for
// that.
func (r refusal) aboutQueue() bool {
	return r.status == http.StatusNotImplemented || r.status == http.StatusInsufficientStorage
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

// hint says what to do about a refusal, "" when that is not known.
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
