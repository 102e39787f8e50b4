package web

import "net/http"

// toldHeaders are the headers of an answer that are told to who tries a job out: what the body is, where to go on, why the
// request was refused, and what to name when asking the target's people.
var toldHeaders = []string{
	"Content-Type", "Content-Length", "Location", "Retry-After", "Www-Authenticate", "Allow", "Server", "Date",
	"X-Request-Id", "X-Correlation-Id", "X-Ms-Request-Id", "Traceparent", "Webhook-Allowed-Rate",
}

// tellHeaders tells of the answer's headers, where somebody wants to know.
func (x *exchange) tellHeaders(resp *http.Response) {
	if x.attempt.Heard == nil {
		return
	}
	for _, name := range toldHeaders {
		for _, value := range resp.Header.Values(name) {
			x.attempt.Heard(name, value)
		}
	}
}
