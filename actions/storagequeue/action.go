package storagequeue

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
)

// headerRequestID names the request in the service's logs.
const headerRequestID = "X-Ms-Client-Request-Id"

// action is a compiled message.
type action struct {
	post

	client *Client
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
