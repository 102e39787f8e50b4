package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/actions/netreason"
)

// maxMessageHeader is the length in bytes at which the headers in a message
// are cut.
const maxMessageHeader = 2048

// message returns the answer in the words of Azure Scheduler's history
// (its REST API 2016-03-01, Jobs - List Job History), with Carillon's remarks in
// between, and the excerpt of the body, which is its last part:
//
//	Http Action - Response from host 'example.com': 'OK' Response Headers: Date: …
//	 Body: …
//
// Both share one allocation.
func (x *exchange) message() (message, response string) {
	b := x.in.out[:0]
	b = append(b, "Http Action - Response from host '"...)
	b = append(b, x.sent.URL.Host...)
	b = append(b, '\'')
	b = x.appendRedirects(b)
	b = append(b, ": '"...)
	b = append(b, statusText(x.answer.StatusCode)...)
	b = append(b, '\'')
	if x.remark != "" {
		b = append(b, " ("...)
		b = append(b, x.remark...)
		b = append(b, ')')
	}
	b = append(b, " Response Headers: "...)
	b = appendHeader(b, x.answer.Header)
	b = append(b, " Body: "...)
	body := len(b)
	b = append(b, x.in.excerpt()...)
	x.in.out = b
	message = string(b)
	return message, message[body:]
}

func (x *exchange) appendRedirects(b []byte) []byte {
	switch x.followed {
	case 0:
		return b
	case 1:
		b = append(b, " after 1 redirect"...)
	default:
		b = append(b, " after "...)
		b = strconv.AppendInt(b, int64(x.followed), 10)
		b = append(b, " redirects"...)
	}
	if x.asGet {
		b = append(b, " as GET"...)
	}
	return b
}

// statusText is the reason phrase that goes with status, or the status itself.
func statusText(status int) string {
	return cmp.Or(http.StatusText(status), strconv.Itoa(status))
}

// appendHeader appends h, sorted by name, each as "name: value\r\n", and cuts
// it at maxMessageHeader bytes.
func appendHeader(b []byte, h http.Header) []byte {
	var buf [32]string
	names := buf[:0]
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	start := len(b)
	for _, name := range names {
		for _, value := range h[name] {
			b = append(b, name...)
			b = append(b, ": "...)
			b = append(b, strings.ToValidUTF8(value, "\uFFFD")...)
			b = append(b, "\r\n"...)
		}
	}
	if len(b)-start <= maxMessageHeader {
		return b
	}
	return append(b[:start+netreason.End(b[start:], maxMessageHeader)], "…\r\n"...)
}
