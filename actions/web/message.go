package web

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
)

// maxMessageHeader is the length in bytes at which the headers in a message
// are cut.
const maxMessageHeader = 2048

// message returns the answer in the words of Azure Scheduler's history
// (its REST API 2016-03-01, Jobs - List Job History), with Carillon's remarks in
// between, and two parts of it, the headers and the excerpt of the body:
//
//	Http Action - Response from host 'example.com': 'OK' Response Headers: Date: …
//	 Body: …
//
// All share one allocation.
func (x *exchange) message() (message, headers, response string) {
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
	header := len(b)
	b = appendHeader(b, x.answer.Header)
	headed := len(b)
	b = append(b, " Body: "...)
	body := len(b)
	b = append(b, x.in.excerpt()...)
	x.in.out = b
	message = string(b)
	return message, message[header:headed], message[body:]
}

// summary describes the status, the responding host if it is another one than requested, and the problem.
func (x *exchange) summary() string {
	text := statusText(x.answer.StatusCode)
	if x.followed > 0 {
		text = string(x.appendRedirects([]byte(text + " from host '" + x.sent.URL.Host + "'")))
	}
	if x.remark != "" {
		text += " (" + x.remark + ")"
	}
	return text
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

// statusText is the reason phrase of the status, or the status itself.
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

// bodyReader reads a response body: it stores the beginning, searches for a text and limits the size. It is pooled.
type bodyReader struct {
	head   [scheduler.MaxResponse + utf8.UTFMax]byte // the beginning, and whether it is cut inside a rune
	kept   int                                       // bytes in head
	total  int64                                     // bytes read
	found  bool                                      // the wanted text was seen
	window [8 << 10]byte                             // the last bytes read
	out    []byte                                    // where the message is put together
}

var bodyReaders = sync.Pool{New: func() any { return new(bodyReader) }}

// search reads as read does, and looks for want where no secret is shown.
func (in *bodyReader) search(body io.Reader, limit int64, want []byte, secrets redaction) error {
	if in.found = len(want) == 0; in.found {
		return in.read(body, limit)
	}
	search := &redactedSearch{want: want}
	if secrets != nil {
		if _, reach := secrets(""); reach > 0 {
			search.veil = secrets
		}
	}
	err := in.read(io.TeeReader(body, search), limit)
	search.decide(true)
	in.found = search.found
	return err
}

// read reads body to its end, or up to limit bytes. The error is the body's
// own, never [io.EOF].
func (in *bodyReader) read(body io.Reader, limit int64) error {
	in.kept, in.total = 0, 0
	for in.total < limit {
		n, err := body.Read(in.window[:min(int64(len(in.window)), limit-in.total)])
		in.kept += copy(in.head[in.kept:], in.window[:n])
		in.total += int64(n)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// excerpt returns the beginning of the body, at most [scheduler.MaxResponse]
// bytes of valid UTF-8.
func (in *bodyReader) excerpt() []byte {
	b := in.head[:in.kept]
	if !utf8.Valid(b[:netreason.End(b, scheduler.MaxResponse)]) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return b[:netreason.End(b, scheduler.MaxResponse)]
}

// toldHeaders are the response headers that a test run shows: the type of the body, the next location, the
// reason of a refusal, and the ids that the target's operators ask for.
var toldHeaders = []string{
	"Content-Type", "Content-Length", "Location", "Retry-After", "Www-Authenticate", "Allow", "Server", "Date",
	"X-Request-Id", "X-Correlation-Id", "X-Ms-Request-Id", "Traceparent", "Webhook-Allowed-Rate",
}

// tellHeaders records the response headers if the attempt requests them.
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

// redaction finds secrets in a text, and their maximum length; see [scheduler.Attempt] Veiled.
type redaction func(text string) (spans [][2]int, reach int)

// veiledChunk is the number of bytes of a body that are searched together, in addition to the length of a secret.
const veiledChunk = 32 << 10

// redactedSearch searches a body for a text, but not in the parts that show a secret. Otherwise a user who can
// write the text but not read the secret could probe it.
type redactedSearch struct {
	want  []byte
	veil  redaction // nil: no secrets
	held  []byte    // bytes that are not searched yet
	next  int       // the length of held at which it is
	found bool
}

// Write adds a part of the body.
func (s *redactedSearch) Write(part []byte) (int, error) {
	if !s.found {
		s.held = append(s.held, part...)
	}
	if len(s.held) >= s.next {
		s.decide(false)
	}
	return len(part), nil
}

// decide searches the buffered bytes. It can match a partial secret at the end only once no more bytes of it can
// follow, so it holds these bytes until the body ends.
func (s *redactedSearch) decide(ended bool) {
	if s.found {
		return
	}
	var spans [][2]int
	reach := 0
	if s.veil != nil {
		spans, reach = s.veil(string(s.held))
	}
	sure := len(s.held)
	if !ended {
		sure = max(0, sure-reach)
	}
	for from := 0; ; {
		i := bytes.Index(s.held[from:sure], s.want)
		if i < 0 {
			break
		}
		i += from
		if !slices.ContainsFunc(spans, func(span [2]int) bool { return span[0] < i+len(s.want) && i < span[1] }) {
			s.found = true
			return
		}
		from = i + 1
	}
	keep := max(0, sure-len(s.want)+1)
	for _, span := range spans {
		if span[0] < keep && keep < span[1] {
			keep = span[1] // nothing that begins in a secret counts
		}
	}
	s.held = append(s.held[:0], s.held[keep:]...)
	s.next = len(s.held) + max(veiledChunk, reach)
}
