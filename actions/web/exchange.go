package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
)

// exchange is one attempt under way: its request, redirects, and answer.
type exchange struct {
	*action

	in      *bodyReader
	start   time.Time
	attempt scheduler.Attempt

	transport http.RoundTripper // of the next request
	body      string            // request body
	keys      [][]byte          // keys that sign it; nil: unsigned
	token     string            // it was sent with this one; empty: with none that could be renewed

	sent     *http.Request // the last one
	followed int           // redirects
	asGet    bool          // a redirect turned the request into a GET
	answer   *http.Response
	remark   string   // why the attempt failed, where the status does not say it
	failure  *failure // why no response arrived
}

// send sends req, whose context is ctx, follows redirects, and reads the response.
func (x *exchange) send(ctx context.Context, req *http.Request) {
	for {
		x.sent = req
		resp, err := x.client.roundTrip(x.transport, req)
		if err != nil {
			x.fail(ctx, err)
			return
		}
		if resp.Body == nil { // allowed to transports of others
			resp.Body = http.NoBody
		}
		next, refused := x.redirect(ctx, resp)
		if next == nil && resp.StatusCode == http.StatusUnauthorized && x.token != "" && !x.success.Has(resp.StatusCode) {
			if next, err = x.renew(ctx); err != nil {
				_ = resp.Body.Close()
				x.failBefore(ctx, err)
				return
			}
		}
		if next == nil {
			x.take(ctx, resp)
			if refused != "" {
				x.remark = refused
			}
			return
		}
		_ = x.in.read(resp.Body, scheduler.MaxResponse) // an error would come again with the next request if it matters
		_ = resp.Body.Close()
		req = next
	}
}

// reason explains err.
func (x *exchange) reason(ctx context.Context, err error) string {
	return netreason.Explain(ctx, err, x.attempt.Timeout, time.Since(x.start))
}

// renew returns the last request with a new token, at most once per attempt, or nil.
func (x *exchange) renew(ctx context.Context) (*http.Request, error) {
	stale := x.token
	x.token = ""
	p, err := x.auth.authenticate(ctx, x.attempt, stale)
	if err != nil || p.token == stale {
		return nil, err
	}
	next := newRequest(ctx, x.sent.Method, x.sent.URL, x.sent.Host)
	next.Header = maps.Clone(x.sent.Header)
	next.Header[headerAuthorization] = []string{p.authorization}
	if x.sent.Body != nil {
		x.setBody(next)
	}
	return next, nil
}

// take reads and judges the final response.
func (x *exchange) take(ctx context.Context, resp *http.Response) {
	defer resp.Body.Close()
	x.answer = resp
	x.tellHeaders(resp)
	limit := x.client.config.MaxBody + 1
	if resp.ContentLength >= limit {
		limit = scheduler.MaxResponse + 1 // for the record
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		limit = 0 // unsolicited, without a body, and not bounded by the context
	}
	err := x.in.search(resp.Body, limit, x.contains, x.attempt.Veiled)
	switch {
	case err != nil:
		x.remark = fmt.Sprintf("the body broke off after %d bytes: %s", x.in.total, x.reason(ctx, err))
	case resp.ContentLength > x.client.config.MaxBody && x.sent.Method != http.MethodHead:
		x.remark = fmt.Sprintf("the body has %d bytes; the limit is %d", resp.ContentLength, x.client.config.MaxBody)
	case x.in.total > x.client.config.MaxBody:
		x.remark = fmt.Sprintf("the body has more than %d bytes, the limit", x.client.config.MaxBody)
	case !x.success.Has(resp.StatusCode):
		if x.custom {
			x.remark = fmt.Sprintf("%d is not among the statuses of success", resp.StatusCode)
		}
	case !x.in.found:
		x.remark = fmt.Sprintf("the body does not contain %q", x.contains)
	}
}

// failure is why an attempt has no answer.
type failure struct {
	actions.Failure

	what string // what failed, such as "Token request to host 'x'"; empty: the request itself
}

// Error implements error.
func (f *failure) Error() string { return f.what + " failed: " + f.Reason }

// unready returns the failure of a prerequisite, such as a secret. A retry may help, because shared secrets can
// change.
func unready(err error) error { return &failure{Failure: *actions.Unready(err)} }

// failBefore is fail for steps before the request, such as getting a token. They do not count against the
// target.
func (x *exchange) failBefore(ctx context.Context, err error) {
	x.fail(ctx, err)
	x.failure.SkipCircuit = true
}

// fail records why no response arrived. ctx is the attempt's context.
func (x *exchange) fail(ctx context.Context, err error) {
	f := failure{Failure: *actions.Unanswered(err, x.reason(ctx, err))}
	if known, ok := errors.AsType[*failure](err); ok {
		f = *known // waiters share the original
	}
	host := x.uri.Host
	if x.sent != nil {
		host = x.sent.URL.Host
	}
	f.what = cmp.Or(f.what, "Request to host '"+host+"'")
	x.failure = &f
}

// retryAfter returns the pause that a response with status 429 or 503 requests; 0: none.
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	return egress.RetryAfter(resp.Header)
}

// result returns the outcome of the attempt. A failure is final if its status rules out that a retry helps,
// unless the job counts that status as a success.
func (x *exchange) result() scheduler.Result {
	if f := x.failure; f != nil {
		return f.Result(f.Error()).By(typeHTTP)
	}
	success := x.success.Has(x.answer.StatusCode)
	result := scheduler.Result{
		Failed:  x.remark != "" || !success,
		Final:   !success && scheduler.FinalStatus(x.answer.StatusCode),
		Status:  x.answer.StatusCode,
		Summary: x.summary(),
	}
	result.Message, result.Headers, result.Response = x.message()
	if result.Failed {
		result.RetryAfter = retryAfter(x.answer)
		result.SkipCircuit = result.Status == http.StatusNotImplemented // of a method
	}
	return result
}
