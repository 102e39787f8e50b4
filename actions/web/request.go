package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The limits of a request, in characters unless noted (Azure Scheduler Limits, Defaults, and Error Codes). The last
// three are Carillon's.
const (
	maxURI         = 2048
	maxRequestBody = 8192

	maxRedirects     = 20
	defaultRedirects = 10
	maxContains      = 1024
)

// methods are the request methods, in canonical spelling. Jobs may write them
// in any letter case.
var methods = []string{
	http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch,
	http.MethodDelete, http.MethodHead, http.MethodOptions,
}

// request is the member request of an action, read and found valid.
type request struct {
	uri       url.URL
	method    string
	header    []string               // canonical names, each with its value; without Host and secrets
	secrets   []payload.SecretHeader // those whose values are secrets
	host      string                 // the job's Host header; empty: the uri's host
	body      payload.Content
	auth      authentication // nil: none
	webhook   webhook        // nil: requests are not signed
	success   scheduler.StatusSet
	custom    bool   // success is the job's own, not the default
	contains  []byte // request.success.bodyContains; empty: anything will do
	redirects int    // most redirects to follow
}

// read reads the member request of the action o and reports every problem; it returns false when there was one.
// secure requires https.
func (r *request) read(c *Client, o *document.Object, secure bool) bool {
	return payload.ReadMember(o, member, func(ro *document.Object) {
		r.readTarget(ro, secure)
		payload.ReadHeaders(ro, r)
		r.body = payload.Read(o, ro, payload.Rules{
			Member: "body", MaxSize: maxRequestBody, Region: c.config.Region,
			Envelopes: []payload.Envelope{payload.CloudEvents, payload.CloudEventsBinary},
		})
		kind, _, _ := mime.ParseMediaType(strings.Join(r.plain(headerContentType), ""))
		if !ro.Reader().Stored && strings.HasSuffix(kind, "json") && r.body.BreaksJSON() {
			ro.Warn("body", "makes invalid JSON, at the latest of a text with quotation marks: write values as {{json .Failure.Reason}}")
		}
		r.readSuccess(ro)
		r.readRedirects(ro)
		r.readAuthentication(c, ro)
		r.readWebhook(ro)
	})
}

func (r *request) readTarget(o *document.Object, secure bool) {
	if text, ok := o.String("uri"); ok {
		u, err := parseURI(text, secure)
		if err != nil {
			o.Problem("uri", "%v", err)
		} else {
			r.uri = *u
		}
	}
	r.method, _ = o.Enum("method", methods...)
	o.Require("uri")
	o.Require("method")
}

func (r *request) readRedirects(o *document.Object) {
	r.redirects = defaultRedirects
	if n, ok := o.Int("redirects", 0, maxRedirects); ok {
		r.redirects = int(n)
	}
}

// readSuccess reads what makes an answer a success. The default is any 2xx.
func (r *request) readSuccess(o *document.Object) {
	so, ok := o.Object("success")
	if ok {
		defer so.Done()
		r.success, r.custom = scheduler.ReadStatuses(so, "status")
		if v, _ := so.Value("status"); r.custom && len(v.Items()) == 0 {
			so.Problem("status", "must name at least one status")
		}
		r.readContains(so)
	}
	if !r.custom {
		r.success.Add(http.StatusOK, 299)
	}
}

func (r *request) readContains(o *document.Object) {
	text, ok := o.String("bodyContains")
	if !ok || text == "" {
		return
	}
	r.contains = []byte(text)
	if n := utf8.RuneCountInString(text); n > maxContains {
		o.Problem("bodyContains", "is %d characters long, at most %d are allowed", n, maxContains)
	}
	if r.method == http.MethodHead {
		o.Problem("bodyContains", "does not go with HEAD, whose answer has no body")
	}
}

// parseURI reads request.uri: absolute, http or https, with a host and without a user. secure requires https.
func parseURI(text string, secure bool) (*url.URL, error) {
	if n := utf8.RuneCountInString(text); n > maxURI {
		return nil, fmt.Errorf("is %d characters long, at most %d are allowed", n, maxURI)
	}
	if strings.ContainsFunc(text, isBlank) {
		return nil, errors.New("must not contain spaces or control characters; a space is written %20")
	}
	u, err := egress.ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("is not a URI: %w", err)
	}
	if err := checkURI(u); err != nil {
		return nil, err
	}
	if secure && u.Scheme != "https" {
		return nil, fmt.Errorf("must begin with https:// for the action type %s", typeHTTPS)
	}
	return u, nil
}

// isBlank reports whether c would break a request line.
func isBlank(c rune) bool { return c <= ' ' || c == 0x7f }

// checkURI checks that requests to u are possible, also for redirects. The error shows nothing of it.
func checkURI(u *url.URL) error {
	switch {
	case !u.IsAbs():
		return errors.New("must be absolute, such as https://example.com/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must begin with http:// or https://")
	case u.Hostname() == "":
		return errors.New("has no host")
	case u.User != nil:
		return errors.New("must not hold a user name or password; use an Authorization header")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return errors.New("has a port that is not in 1-65535")
		}
	}
	return nil
}

// site returns scheme://host in lower case, with the port unless it goes without
// saying.
func site(u *url.URL) string {
	host := hostPort(u)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(host, port) {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
}

// hostPort returns host:port in lower case, with the port made explicit.
func hostPort(u *url.URL) string {
	return strings.ToLower(egress.Address(u))
}

// refusedHeaders frame the message or belong to the connection (RFC 9110,
// section 7.6.1). net/http sets them itself.
var refusedHeaders = map[string]bool{
	"Connection": true, "Content-Length": true, "Expect": true,
	"Keep-Alive": true, "Proxy-Connection": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

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
	r.header = append(r.header, name, value)
	return utf8.RuneCountInString(value), nil
}

// SetSecretHeader implements [payload.Headers].
func (r *request) SetSecretHeader(h payload.SecretHeader) {
	h.Name = textproto.CanonicalMIMEHeaderKey(h.Name)
	r.secrets = append(r.secrets, h)
}

// plain returns the value of a header that is no secret; nil: none.
func (r *request) plain(name string) []string {
	for i := 0; i < len(r.header); i += 2 {
		if r.header[i] == name {
			return r.header[i+1 : i+2]
		}
	}
	return nil
}

// gives reports whether the job gives the header of that canonical name itself.
func (r *request) gives(name string) bool {
	return r.plain(name) != nil || name == headerHost && r.host != "" ||
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

// contentTypeOf returns the content type of a body; nil: none.
func contentTypeOf(body string) []string {
	switch {
	case body == "":
		return nil
	case mayBeJSON(body) && json.Valid([]byte(body)):
		return typeJSON
	}
	return typeText
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

	identityHeaders = 7 // headers that differ between attempts
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

// hideParts hides the secret parts of a header's value: a target may repeat a part without the rest.
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
