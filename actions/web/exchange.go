package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

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
	body      string            // what is sent
	keys      [][]byte          // it is signed with these; nil: not at all
	token     string            // it was sent with this one; empty: with none that could be renewed

	sent     *http.Request // the last one
	followed int           // redirects
	asGet    bool          // a redirect turned the request into a GET
	answer   *http.Response
	remark   string   // why the attempt failed, where the status does not say it
	failure  *failure // why there is no answer
}

// send sends req, whose context is ctx, follows redirects, and takes in the answer.
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
		x.discard(resp)
		req = next
	}
}

// reason explains err.
func (x *exchange) reason(ctx context.Context, err error) string {
	return netreason.Explain(ctx, err, x.attempt.Timeout, time.Since(x.start))
}

// host is whom the last request went to, or the first goes to.
func (x *exchange) host() string {
	if x.sent == nil {
		return x.uri.Host
	}
	return x.sent.URL.Host
}

// renew returns the last request with another token, the one time that an
// attempt may ask for one; nil when there is no other.
func (x *exchange) renew(ctx context.Context) (*http.Request, error) {
	stale := x.token
	x.token = ""
	p, err := x.auth.authenticate(ctx, x.attempt, stale)
	if err != nil || p.token == stale {
		return nil, err
	}
	next := x.template.WithContext(ctx)
	next.Method, next.URL, next.Host = x.sent.Method, x.sent.URL, x.sent.Host
	next.Header = maps.Clone(x.sent.Header)
	next.Header[headerAuthorization] = []string{p.authorization}
	if x.sent.Body != nil {
		x.setBody(next)
	}
	return next, nil
}

// discard drops the answer to a redirected request.
func (x *exchange) discard(resp *http.Response) {
	// An error would come again with the next request if it matters.
	_ = x.in.read(resp.Body, scheduler.MaxResponse, nil)
	_ = resp.Body.Close()
}

// take takes in the final answer and judges it.
func (x *exchange) take(ctx context.Context, resp *http.Response) {
	defer resp.Body.Close()
	x.answer = resp
	x.tellHeaders(resp)
	limit := x.client.config.MaxBody + 1
	if resp.ContentLength >= limit {
		limit = scheduler.MaxResponse + 1 // for the record
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		limit = 0 // not asked for, not a body, and not under the context's control
	}
	err := x.in.readVeiled(resp.Body, limit, x.contains, x.attempt.Veiled)
	switch {
	case err != nil:
		x.remark = fmt.Sprintf("the body broke off after %d bytes: %s", x.in.total, x.reason(ctx, err))
	case resp.ContentLength > x.client.config.MaxBody && x.sent.Method != http.MethodHead:
		x.remark = fmt.Sprintf("the body has %d bytes, at most %d are taken in", resp.ContentLength, x.client.config.MaxBody)
	case x.in.total > x.client.config.MaxBody:
		x.remark = fmt.Sprintf("the body has more than the %d bytes that are taken in", x.client.config.MaxBody)
	case !x.success.Has(resp.StatusCode):
		if x.custom {
			x.remark = fmt.Sprintf("%d is not among the statuses of success", resp.StatusCode)
		}
	case !x.in.found:
		x.remark = fmt.Sprintf("the body does not contain %q", x.contains)
	}
}
