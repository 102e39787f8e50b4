package storagequeue

import (
	"io"
	"net/http"

	"github.com/carillon-sched/carillon/actions/egress"
)

// maxAnswer is how many bytes of an answer's body are read; the service's have less than 1 KiB.
const maxAnswer = 64 << 10

// transport is what the SDK sends requests by. It follows no redirect and bounds the answer. Its own RoundTripper speaks
// HTTP/1.1 alone, as the service does.
type transport struct {
	http.RoundTripper

	route egress.Route // checks URLs; the zero route beside a transport of others
}

// newTransport returns the transport for a Config without one.
func newTransport(route egress.Route) transport { return transport{route.Transport(nil), route} }

// Do implements the SDK's Transporter. The SDK reads the body of every answer to its end, before the request's context is
// looked at again.
func (t transport) Do(req *http.Request) (*http.Response, error) {
	req, err := t.route.Admit(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.RoundTrip(req)
	switch {
	case err != nil || resp.Body == nil:
	case resp.StatusCode == http.StatusSwitchingProtocols: // not asked for, not a body, and not under the context's control
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	default:
		resp.Body = bounded{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// bounded is the beginning of a body.
type bounded struct {
	io.Reader
	io.Closer
}
