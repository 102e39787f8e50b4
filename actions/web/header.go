package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// refusedHeaders frame the message or belong to the connection (RFC 9110,
// section 7.6.1). net/http sets them itself.
var refusedHeaders = map[string]bool{
	"Connection": true, "Content-Length": true, "Expect": true,
	"Keep-Alive": true, "Proxy-Connection": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// readHeaders reads request.headers, an object of strings.
func (r *request) readHeaders(o *document.Object) { payload.ReadHeaders(o, r) }

// CheckHeader implements [payload.Headers].
func (r *request) CheckHeader(m document.Member) error {
	name := textproto.CanonicalMIMEHeaderKey(m.Name)
	switch {
	case refusedHeaders[name]:
		return errors.New("is set by the scheduler and cannot be given")
	case r.gives(name):
		return errors.New("is given twice, in different letter case")
	case name == headerHost && m.Value.Kind() == document.KindObject && !m.Value.IsSecret():
		return fmt.Errorf("must be a string, not %s", m.Value.Kind())
	}
	return nil
}

// SetHeader implements [payload.Headers].
func (r *request) SetHeader(name, value string) (int, error) {
	name = textproto.CanonicalMIMEHeaderKey(name)
	if name == headerHost {
		return 0, r.setHost(value)
	}
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header[name] = []string{value}
	return utf8.RuneCountInString(value), nil
}

// SetSecretHeader implements [payload.Headers].
func (r *request) SetSecretHeader(h payload.SecretHeader) {
	h.Name = textproto.CanonicalMIMEHeaderKey(h.Name)
	r.secrets = append(r.secrets, h)
}

// gives reports whether the job gives the header of that canonical name itself.
func (r *request) gives(name string) bool {
	_, plain := r.header[name]
	return plain || name == headerHost && r.host != "" ||
		slices.ContainsFunc(r.secrets, func(s payload.SecretHeader) bool { return s.Name == name })
}

func (r *request) setHost(value string) error {
	u, err := url.Parse("http://" + value)
	if err != nil || u.Host != value || u.Hostname() == "" {
		return errors.New("is not a host name with an optional port") // it may be a URL with a password
	}
	r.host = value
	return nil
}

// The values of the header Content-Type that all requests share.
var (
	typeJSON = []string{"application/json"}
	typeText = []string{"text/plain; charset=utf-8"}
)

// setContentType says what kind of body it is.
func setContentType(h http.Header, body string) {
	switch {
	case body == "":
		delete(h, headerContentType)
	case mayBeJSON(body) && json.Valid([]byte(body)):
		h[headerContentType] = typeJSON
	default:
		h[headerContentType] = typeText
	}
}

// mayBeJSON looks at the first character alone: to find out that a text is none costs package json an error.
func mayBeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`{["-0123456789tfn`, text[0]) >= 0
}

// The headers that the scheduler fills in, in canonical spelling.
const (
	headerKey         = "Idempotency-Key"
	headerTrace       = "Traceparent"
	headerTraceState  = "Tracestate"
	headerAttempt     = "X-Carillon-Attempt"
	headerRequestID   = "X-Ms-Client-Request-Id"
	headerTag         = "X-Ms-Execution-Tag"
	headerRegion      = "X-Ms-Scheduler-Execution-Region"
	headerExpected    = "X-Ms-Scheduler-Expected-Execution-Time"
	headerJob         = scheduler.JobHeader
	headerAgent       = "User-Agent"
	headerContentType = "Content-Type"
	headerHost        = "Host"

	headerAuthorization = "Authorization"
	headerCookie        = "Cookie"

	identityHeaders = 7 // those that differ from attempt to attempt
)

// revealTo sets the headers that are secrets.
func (a *action) revealTo(h http.Header, at scheduler.Attempt) error {
	for _, s := range a.secrets {
		text, err := s.Reveal(at)
		if err != nil {
			return unready(err)
		}
		hideParts(at, s.Name, text)
		h[s.Name] = []string{text}
	}
	return nil
}

// hideParts hides what of a header's value is a secret by itself: a target may
// show that without the rest.
func hideParts(at scheduler.Attempt, name, text string) {
	switch name {
	case headerAuthorization, "Proxy-Authorization":
		scheme, credentials, _ := strings.Cut(text, " ")
		at.Hide(credentials)
		if pair, err := base64.StdEncoding.DecodeString(credentials); err == nil && strings.EqualFold(scheme, "Basic") {
			_, password, _ := strings.Cut(string(pair), ":")
			at.Hide(password)
		}
	case headerCookie:
		for pair := range strings.SplitSeq(text, ";") {
			_, value, _ := strings.Cut(pair, "=")
			at.Hide(strings.TrimSpace(value))
		}
	}
}
