package egress

import (
	"cmp"
	"crypto/tls"
	"io"
	"net/http"
)

// maxAnswer is the default of Transporter.Answers. The bodies of Azure's services have a few KiB.
const maxAnswer = 64 << 10

// Transporter sends the requests of an SDK of Azure. It follows no redirect and limits the size of responses.
type Transporter struct {
	http.RoundTripper

	Route   Route // checks URLs
	Answers int64 // limits the bytes of a response. Default: 64 KiB
}

// Transporter returns a transporter with the route's [Route.Transport].
func (r Route) Transporter(config *tls.Config) Transporter {
	return Transporter{RoundTripper: r.Transport(config), Route: r}
}

// Do implements the SDK's Transporter. The SDK reads the body of every answer to its end, before the request's context is
// looked at again.
func (t Transporter) Do(req *http.Request) (*http.Response, error) {
	req, err := t.Route.Admit(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.RoundTrip(req)
	switch {
	case err != nil || resp.Body == nil:
	case resp.StatusCode == http.StatusSwitchingProtocols: // unsolicited, without a body, and not bounded by the context
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	default:
		resp.Body = bounded{io.LimitReader(resp.Body, cmp.Or(t.Answers, maxAnswer)), resp.Body}
	}
	return resp, err
}

// bounded is the beginning of a body.
type bounded struct {
	io.Reader
	io.Closer
}
