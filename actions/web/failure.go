package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/scheduler"
)

// failure is why an attempt has no answer.
type failure struct {
	what       string // what failed, such as "Token request to host 'x'"; empty: the request itself
	why        string
	final      bool // a retry cannot help
	blameless  bool // it is not the target's; see [scheduler.Result]
	retryAfter time.Duration
}

// Error implements error.
func (f *failure) Error() string { return f.what + " failed: " + f.why }

// unready returns the failure of what must be known before a request can be
// sent, such as a secret. A retry may help: what is shared may be set.
func unready(err error) error { return &failure{why: err.Error()} }

// failBefore is fail for what goes before a request, such as asking for a
// token, which the target is not to blame for.
func (x *exchange) failBefore(ctx context.Context, err error) {
	x.fail(ctx, err)
	x.failure.blameless = true
}

// fail records why there is no answer. ctx is the attempt's context.
func (x *exchange) fail(ctx context.Context, err error) {
	refused := egress.IsRefused(err)
	f := failure{why: x.reason(ctx, err), final: refused, blameless: refused}
	if known, ok := errors.AsType[*failure](err); ok {
		f = *known // which others may be told, too
	}
	f.what = cmp.Or(f.what, "Request to host '"+x.host()+"'")
	x.failure = &f
}

// retryAfter returns how long an answer asks to wait, 0 when it does not or has
// no right to.
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	return egress.RetryAfter(resp.Header)
}

// result tells how the attempt ended. It is final when a status says that a
// retry cannot help, unless the job takes that status for a success.
func (x *exchange) result() scheduler.Result {
	if f := x.failure; f != nil {
		return scheduler.Result{
			Failed: true, Final: f.final, Blameless: f.blameless, RetryAfter: f.retryAfter,
			Message: "Http Action - " + f.Error(),
		}
	}
	message, response := x.message()
	success := x.success.Has(x.answer.StatusCode)
	result := scheduler.Result{
		Failed:   x.remark != "" || !success,
		Final:    !success && scheduler.FinalStatus(x.answer.StatusCode),
		Status:   x.answer.StatusCode,
		Message:  message,
		Response: response,
	}
	if result.Failed {
		result.RetryAfter = retryAfter(x.answer)
		result.Blameless = result.Status == http.StatusNotImplemented // of a method
	}
	return result
}
