package web

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// action is a compiled request. What does not differ from attempt to attempt
// is computed once, here.
type action struct {
	request

	client      *Client
	template    *http.Request // copied for each attempt; has no body and no header
	target      string
	credentials []string // names of headers that stay with the first host
}

var _ scheduler.Action = (*action)(nil)

// compile prepares r for running.
func compile(c *Client, r request) *action {
	h := make(http.Header, len(r.header)+3)
	h[headerAgent] = []string{c.agent}
	if c.region != "" {
		h[headerRegion] = []string{c.region}
	}
	maps.Copy(h, r.header)
	setContentType(h, r.body)
	r.header = h
	a := &action{
		request:     r,
		client:      c,
		target:      hostPort(r.uri),
		credentials: credentialHeaders(h),
	}
	a.template = &http.Request{
		Method:     r.method,
		URL:        r.uri,
		Host:       r.host,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
	}
	return a
}

// Target implements [scheduler.Action].
func (a *action) Target() string { return a.target }

// Invoke implements [scheduler.Action].
func (a *action) Invoke(ctx context.Context, at scheduler.Attempt) scheduler.Result {
	start := time.Now()
	if deadline, ok := ctx.Deadline(); at.Timeout > 0 && (!ok || deadline.After(start.Add(at.Timeout))) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, at.Timeout)
		defer cancel()
	}
	in := intakes.Get().(*intake)
	defer intakes.Put(in)

	x := exchange{action: a, in: in, start: start, timeout: at.Timeout}
	x.send(ctx, a.newRequest(ctx, at))
	result := x.result()
	result.Duration = time.Since(start)
	return result
}

// newRequest returns the request of the attempt at.
func (a *action) newRequest(ctx context.Context, at scheduler.Attempt) *http.Request {
	req := a.template.WithContext(ctx)
	req.Header = a.attemptHeader(at)
	a.setBody(req)
	return req
}

// setBody gives req the job's body.
func (a *action) setBody(req *http.Request) {
	if a.body == "" {
		return
	}
	req.ContentLength = int64(len(a.body))
	req.Body = io.NopCloser(strings.NewReader(a.body))
	req.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(a.body)), nil
	}
}

// attemptHeader returns the job's headers and those that the job leaves to the
// scheduler.
func (a *action) attemptHeader(at scheduler.Attempt) http.Header {
	id := identify(at)
	h := make(http.Header, len(a.header)+identityHeaders)
	values := make([]string, identityHeaders)
	for i, field := range [identityHeaders][2]string{
		{headerKey, at.Key},
		{headerTrace, id.trace},
		{headerAttempt, id.try},
		{headerRequestID, id.requestID},
		{headerTag, id.tag},
		{headerExpected, id.expected},
		{headerJob, at.Job.Job},
	} {
		values[i] = field[1]
		h[field[0]] = values[i : i+1 : i+1]
	}
	maps.Copy(h, a.header) // what the job gives wins
	return h
}
