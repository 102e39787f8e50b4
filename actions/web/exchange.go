package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// exchange is one attempt under way: its request, redirects, and answer.
type exchange struct {
	*action

	in      *intake
	start   time.Time
	timeout time.Duration

	sent     *http.Request // the last one
	followed int           // redirects
	asGet    bool          // a redirect turned the request into a GET
	answer   *http.Response
	remark   string // why the attempt failed, where the status does not say it
	failure  string // why there is no answer
}

// send sends req, whose context is ctx, follows redirects, and takes in the answer.
func (x *exchange) send(ctx context.Context, req *http.Request) {
	for {
		x.sent = req
		resp, err := x.client.transport.RoundTrip(req)
		if err != nil {
			x.failure = x.reason(ctx, err)
			return
		}
		if resp.Body == nil { // allowed to transports of others
			resp.Body = http.NoBody
		}
		next, refused := x.redirect(ctx, resp)
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
	return reason(ctx, err, x.timeout, time.Since(x.start))
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
	limit := x.client.maxBody
	if len(x.contains) == 0 && resp.ContentLength > limit {
		limit = min(limit, scheduler.MaxResponse+1) // the connection is lost anyway
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		limit = 0 // not asked for, not a body, and not under the context's control
	}
	err := x.in.read(resp.Body, limit, x.contains)
	switch {
	case err != nil:
		x.remark = fmt.Sprintf("the body broke off after %d bytes: %s", x.in.total, x.reason(ctx, err))
	case !x.success.has(resp.StatusCode):
		if x.custom {
			x.remark = fmt.Sprintf("%d is not among the statuses of success", resp.StatusCode)
		}
	case !x.in.found && x.in.ended:
		x.remark = fmt.Sprintf("the body does not contain %q", x.contains)
	case !x.in.found:
		x.remark = fmt.Sprintf("the first %d bytes of the body do not contain %q", x.in.total, x.contains)
	}
}

// result tells how the attempt ended. No failure is final: whether a retry can
// help is the retry policy's to say, whatever the status.
func (x *exchange) result() scheduler.Result {
	if x.answer == nil {
		return scheduler.Result{Failed: true, Message: "Http Action - Request to host '" + x.sent.URL.Host + "' failed: " + x.failure}
	}
	message, response := x.message()
	return scheduler.Result{
		Failed:   x.remark != "" || !x.success.has(x.answer.StatusCode),
		Status:   x.answer.StatusCode,
		Message:  message,
		Response: response,
	}
}
