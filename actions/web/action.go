package web

import (
	"context"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"
	"unique"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
)

// action is a compiled request: the parts that all attempts share.
type action struct {
	request

	client      *Client
	target      unique.Handle[string]
	typed       bool     // the job says itself what kind of body it is
	contentType []string // of the body, unless typed; nil: none
}

var _ scheduler.SecretDestination = (*action)(nil)

// credentials returns the headers that only the first host receives.
func (a *action) credentials() (names []string) {
	for _, s := range a.secrets {
		names = append(names, s.Name)
	}
	if a.authorizes() {
		names = append(names, headerAuthorization)
	}
	if a.webhook != nil {
		names = append(names, webhookHeaders...)
	}
	return names
}

// newRequest returns a request without body and header.
func newRequest(ctx context.Context, method string, uri *url.URL, host string) *http.Request {
	r := http.Request{Method: method, URL: uri, Host: host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return r.WithContext(ctx)
}

// Target implements [scheduler.Action].
func (a *action) Target() string { return a.target.Value() }

// Recipients implements [scheduler.SecretDestination]: the request's host and the token server receive secrets.
// A path counts only for a token server, because it can name the tenant. The Host header counts, because several
// sites can share an address; so does a token's audience, because the request's host receives the token.
func (a *action) Recipients() []scheduler.Recipient {
	own := scheduler.Recipient{Address: site(&a.uri)}
	if a.host != "" && site(&url.URL{Scheme: a.uri.Scheme, Host: a.host}) != own.Address {
		own.Address += " as " + strings.ToLower(a.host)
	}
	all := []scheduler.Recipient{own}
	if o, ok := a.auth.(*oauth); ok {
		path := strings.TrimPrefix(o.endpoint.EscapedPath(), "/")
		server := scheduler.Recipient{Role: "token server", Address: site(o.endpoint) + "/" + path}
		for i := 0; i < len(o.form); i += 2 {
			server.Address += " for " + o.form[i] + " " + o.form[i+1]
		}
		all = append(all, server)
	}
	return all
}

// Invoke implements [scheduler.Action].
func (a *action) Invoke(ctx context.Context, at scheduler.Attempt) scheduler.Result {
	in := bodyReaders.Get().(*bodyReader)
	defer bodyReaders.Put(in)

	x := exchange{action: a, in: in, start: time.Now(), attempt: at, transport: a.client.transport}
	if req, err := x.request(ctx); err != nil {
		x.failBefore(ctx, err)
	} else {
		x.send(ctx, req)
	}
	return x.result()
}

// request returns the first request of the attempt. The error is a [failure],
// or ctx's.
func (x *exchange) request(ctx context.Context) (*http.Request, error) {
	m, err := x.action.body.Render(x.attempt)
	if err != nil {
		return nil, &failure{Failure: *actions.Invalid(err)}
	}
	x.body = m.Body
	req := newRequest(ctx, x.method, &x.uri, x.host)
	req.Header = x.attemptHeader(x.attempt)
	x.describe(req.Header, &m)
	if err := x.authorize(ctx, req.Header); err != nil {
		return nil, err
	}
	x.setBody(req)
	return req, nil
}

// setBody gives req the attempt's body.
func (x *exchange) setBody(req *http.Request) {
	body := x.body
	if body == "" {
		return
	}
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(strings.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(body)), nil
	}
}

// describe sets the headers that depend on the content.
func (x *exchange) describe(h http.Header, m *payload.Message) {
	switch {
	case x.typed:
	case m.ContentType != "":
		h[headerContentType] = []string{m.ContentType}
	case m.Body != x.action.body.Text():
		h[headerContentType] = contentTypeOf(m.Body)
	}
	for _, a := range m.Attributes {
		name, value := a.HTTPHeader()
		x.fill(h, name, value)
	}
	for _, f := range payload.FailureFields(x.attempt) {
		x.fill(h, f.Name, f.Value)
	}
}

// fill sets a header that the job leaves to the scheduler.
func (x *exchange) fill(h http.Header, name, value string) {
	if name = textproto.CanonicalMIMEHeaderKey(name); !x.gives(name) {
		h[name] = []string{value}
	}
}

// authorize sets the headers that are secret, and chooses the transport.
func (x *exchange) authorize(ctx context.Context, h http.Header) error {
	if err := x.revealTo(h, x.attempt); err != nil {
		return err
	}
	if x.webhook != nil {
		keys, err := x.webhook.keys(x.attempt)
		if err != nil {
			return err
		}
		x.keys = keys
		sign(h, x.attempt, x.start, x.body, keys)
	}
	if x.auth == nil {
		return nil
	}
	p, err := x.auth.authenticate(ctx, x.attempt, "")
	if err != nil {
		return err
	}
	if p.authorization != "" {
		h[headerAuthorization] = []string{p.authorization}
	}
	if p.transport != nil {
		x.transport = p.transport
	}
	x.token = p.token
	return nil
}

// attemptHeader returns the scheduler's headers, replaced and completed by the job's.
func (a *action) attemptHeader(at scheduler.Attempt) http.Header {
	id := payload.Identify(at)
	h := make(http.Header, len(a.header)+identityHeaders+3)
	values := make([]string, identityHeaders)
	for i, field := range [identityHeaders][2]string{
		{headerKey, at.Key},
		{headerTrace, id.Trace},
		{headerAttempt, id.Try},
		{headerRequestID, id.RequestID},
		{headerTag, id.Tag},
		{headerExpected, id.Expected},
		{headerJob, at.Job.Job},
	} {
		values[i] = field[1]
		h[field[0]] = values[i : i+1 : i+1]
	}
	if id.State != "" && !a.gives(headerTrace) {
		h[headerTraceState] = []string{id.State}
	}
	h[headerAgent], h[headerRegion], h[headerContentType] = a.client.agent, a.client.region, a.contentType // nil: none
	for i := 0; i < len(a.header); i += 2 {
		h[a.header[i]] = a.header[i+1 : i+2 : i+2]
	}
	return h
}
