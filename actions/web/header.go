package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"unicode/utf8"

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
func (r *request) readHeaders(o *document.Object) {
	v, ok := o.Value("headers")
	if !ok {
		return
	}
	ho := o.Reader().Object(v, o.Path("headers"))
	r.header = make(http.Header, len(v.Members()))
	count, size := 0, 0
	for _, m := range v.Members() {
		if m.Value.Kind() == document.KindNull {
			continue // absent
		}
		count++
		size += utf8.RuneCountInString(m.Name) + utf8.RuneCountInString(m.Value.Text())
		if err := r.addHeader(m); err != nil {
			ho.Problem(m.Name, "%v", err)
		}
	}
	if count > maxHeaders {
		ho.Problem("", "has %d headers, at most %d are allowed", count, maxHeaders)
	}
	if size > maxHeaderSize {
		ho.Problem("", "names and values are %d characters long together, at most %d are allowed", size, maxHeaderSize)
	}
}

func (r *request) addHeader(m document.Member) error {
	name, value := textproto.CanonicalMIMEHeaderKey(m.Name), m.Value.Text()
	_, repeated := r.header[name]
	switch {
	case !isToken(m.Name):
		return errors.New("is not a header name: letters, digits and !#$%&'*+-.^_`|~ are allowed")
	case m.Value.Kind() != document.KindString:
		return fmt.Errorf("must be a string, not %s", m.Value.Kind())
	case refusedHeaders[name]:
		return errors.New("is set by the scheduler and cannot be given")
	case !isFieldValue(value):
		return errors.New("must not contain line breaks or control characters")
	case repeated || name == headerHost && r.host != "":
		return errors.New("is given twice, in different letter case")
	case name == headerHost:
		return r.setHost(value)
	}
	r.header[name] = []string{value}
	return nil
}

func (r *request) setHost(value string) error {
	u, err := url.Parse("http://" + value)
	if err != nil || u.Host != value || u.Hostname() == "" {
		return fmt.Errorf("%q is not a host name with an optional port", value)
	}
	r.host = value
	return nil
}

// setContentType gives a body without Content-Type one.
func setContentType(h http.Header, body string) {
	if _, given := h[headerContentType]; given || body == "" {
		return
	}
	kind := "text/plain; charset=utf-8"
	if json.Valid([]byte(body)) {
		kind = "application/json"
	}
	h[headerContentType] = []string{kind}
}

// isToken reports whether s is a header name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// isFieldValue reports whether s can be a header value (RFC 9110, section
// 5.5): no control character but the tab.
func isFieldValue(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// credentialHeaders returns those of h that stay with the host they were given
// for. The idempotency key is none: whoever does the work must know it.
func credentialHeaders(h http.Header) []string {
	var names []string
	for name := range h {
		if name != headerKey && name != "X-Idempotency-Key" && isCredential(name) {
			names = append(names, name)
		}
	}
	return names
}

// isCredential reports whether the header of that canonical name holds what
// another host must not see.
func isCredential(name string) bool {
	switch name {
	case "Authorization", "Proxy-Authorization", "Www-Authenticate", "Cookie", "Cookie2":
		return true
	}
	name = strings.ToLower(name)
	for _, end := range []string{"key", "token", "secret", "password", "signature"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
