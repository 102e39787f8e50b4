package storagequeue

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
)

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
		return x.done(x.receipt())
	case x.raw == nil:
		f := actions.Unanswered(x.err, x.reason(ctx))
		return f.Result("Request to account '" + x.account.name + "' at '" + x.account.host + "' failed: " + f.Reason)
	case x.raw.StatusCode == http.StatusCreated:
		return x.created(ctx)
	}
	return x.refused()
}

// done is the result of an attempt whose message is in the queue.
func (x *exchange) done(text string) scheduler.Result {
	return scheduler.Result{Status: http.StatusCreated, Summary: text}
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
	return x.done("Message put into queue '" + x.queue + "' of account '" + x.account.name +
		"' (the answer broke off: " + x.reason(ctx) + ")")
}

// refused returns the result of a response that is not a success.
func (x *exchange) refused() scheduler.Result {
	body, _ := runtime.Payload(x.raw) // as much as came
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
	f.Blameless = r.aboutQueue()
	f.RetryAfter = egress.RetryAfter(x.raw.Header)
	return x.failed(f, body)
}

// failed returns the result of a response with a body that is a failure.
func (x *exchange) failed(f *actions.Failure, body []byte) scheduler.Result {
	result := f.Result("Response from account '" + x.account.name + "': " + f.Reason)
	result.Response = netreason.Cut(string(body), scheduler.MaxResponse)
	return result
}
